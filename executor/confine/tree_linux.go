package confine

import (
	"math"
	"slices"

	"github.com/elastic/go-seccomp-bpf"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// goOn is the answer for calls whose arguments have to be looked at, which is
// done after the tree.
const goOn = seccomp.Action(^uint32(0))

// A tree answers by the number of a call alone. It is a list of runs of numbers
// with one answer.
type tree []run

type run struct {
	from   int // up to the next run
	answer seccomp.Action
}

// newTree takes from policy what it says without conditions, for the numbers 0
// to newest. Where a call is in several groups, the first one counts, except
// that what depends on arguments is left to what follows.
func newTree(policy seccomp.Policy, numbers map[string]int, newest int) tree {
	answers := slices.Repeat([]seccomp.Action{policy.DefaultAction | seccomp.Action(unix.EPERM)}, newest+1)
	for _, group := range slices.Backward(policy.Syscalls) {
		for _, name := range group.Names {
			if n := numbers[name]; answers[n] != goOn || group.Action == seccomp.ActionAllow {
				answers[n] = group.Action
			}
		}
		for _, c := range group.NamesWithCondtions {
			answers[numbers[c.Name]] = goOn
		}
	}
	var t tree
	for n, answer := range answers {
		if len(t) == 0 || t[len(t)-1].answer != answer {
			t = append(t, run{n, answer})
		}
	}
	return t
}

// program expects the number of the call to be loaded. It ends in an answer, or
// goes on behind itself.
func (t tree) program() []bpf.Instruction { return t.before(0) }

// before is the program of t, where so many instructions come between it and the
// end of the whole.
func (t tree) before(end int) []bpf.Instruction {
	if len(t) == 1 {
		if t[0].answer == goOn {
			return []bpf.Instruction{bpf.Jump{Skip: uint32(end)}}
		}
		return []bpf.Instruction{bpf.RetConstant{Val: uint32(t[0].answer)}}
	}
	half := len(t) / 2
	upper := t[half:].before(end)
	lower := t[:half].before(end + len(upper))
	from := uint32(t[half].from)
	choice := []bpf.Instruction{bpf.JumpIf{Cond: bpf.JumpGreaterOrEqual, Val: from, SkipTrue: uint8(len(lower))}}
	if len(lower) > math.MaxUint8 { // further than a choice can jump
		choice = []bpf.Instruction{bpf.JumpIf{Cond: bpf.JumpLessThan, Val: from, SkipTrue: 1}, bpf.Jump{Skip: uint32(len(lower))}}
	}
	return slices.Concat(choice, lower, upper)
}
