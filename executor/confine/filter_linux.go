package confine

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"unsafe"

	"github.com/elastic/go-seccomp-bpf"
	"github.com/elastic/go-seccomp-bpf/arch"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// rules collects what a filter lets through, by names that not every
// architecture has; those that this one lacks are left out.
type rules struct {
	known  map[string]int
	allow  seccomp.SyscallGroup
	absent seccomp.SyscallGroup
}

// newRules fails on an architecture that the library does not know.
func newRules() (*rules, error) {
	info, err := arch.GetInfo("")
	if err != nil {
		return nil, err
	}
	return &rules{known: info.SyscallNames, allow: seccomp.SyscallGroup{Action: seccomp.ActionAllow}, absent: seccomp.SyscallGroup{Action: actionENOSYS}}, nil
}

// always lets calls through, whatever their arguments.
func (r *rules) always(names ...string) {
	for _, name := range names {
		if _, ok := r.known[name]; ok {
			r.allow.Names = append(r.allow.Names, name)
		}
	}
}

// when lets a call through if all conditions hold. Of several for one name,
// one is enough.
func (r *rules) when(name string, c ...seccomp.Condition) {
	if _, ok := r.known[name]; ok {
		r.allow.NamesWithCondtions = append(r.allow.NamesWithCondtions, seccomp.NameWithConditions{Name: name, Conditions: c})
	}
}

// missing makes calls fail as if the kernel did not have them, so that
// programs fall back to older ones.
func (r *rules) missing(names ...string) {
	for _, name := range names {
		if _, ok := r.known[name]; ok {
			r.absent.Names = append(r.absent.Names, name)
		}
	}
}

// policy is all of it; what no rule names fails with EPERM. The rules of one
// call with conditions are one group.
func (r *rules) policy() seccomp.Policy {
	p := seccomp.Policy{DefaultAction: seccomp.ActionErrno}
	for names := range slices.Chunk(r.allow.Names, mostNames) {
		p.Syscalls = append(p.Syscalls, seccomp.SyscallGroup{Action: seccomp.ActionAllow, Names: names})
	}
	byName := map[string]int{}
	for _, c := range r.allow.NamesWithCondtions {
		i, ok := byName[c.Name]
		if !ok {
			i = len(p.Syscalls)
			byName[c.Name] = i
			p.Syscalls = append(p.Syscalls, seccomp.SyscallGroup{Action: seccomp.ActionAllow})
		}
		p.Syscalls[i].NamesWithCondtions = append(p.Syscalls[i].NamesWithCondtions, c)
	}
	for names := range slices.Chunk(r.absent.Names, mostNames) {
		p.Syscalls = append(p.Syscalls, seccomp.SyscallGroup{Action: actionENOSYS, Names: names})
	}
	return p
}

// mostNames keeps a group so short that no jump in it is longer than an
// instruction can say.
const mostNames = 100

// Offsets in struct seccomp_data.
const (
	numberAt = 0
	archAt   = 4
)

// assemble makes the program of a policy. Calls of another architecture or of
// the x32 form end the process; calls that are newer than the list of known
// ones do not exist.
//
// What needs no look at arguments is answered first, by a search tree: the kernel
// reads the program once for each number that there is when it comes into force,
// and once for each call whose arguments matter.
//
// The library makes each group with conditions by itself, and they are put
// together here: where a condition does not hold, the program of the library goes on to
// compare the argument, and not the number of the call, with the numbers that
// follow. So every group begins by loading the number again.
func assemble(policy seccomp.Policy) ([]bpf.RawInstruction, error) {
	info, err := arch.GetInfo("")
	if err != nil {
		return nil, fmt.Errorf("no filter of system calls for this architecture: %w", err)
	}
	newest := 0
	for _, number := range info.SyscallNames {
		newest = max(newest, number)
	}
	program := []bpf.Instruction{
		bpf.LoadAbsolute{Off: archAt, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: uint32(info.ID), SkipTrue: 1},
		bpf.RetConstant{Val: uint32(seccomp.ActionKillProcess)},
		bpf.LoadAbsolute{Off: numberAt, Size: 4},
	}
	if info.ID == arch.X86_64.ID {
		program = append(program,
			bpf.JumpIf{Cond: bpf.JumpLessThan, Val: uint32(arch.X32.SeccompMask), SkipTrue: 1},
			bpf.RetConstant{Val: uint32(seccomp.ActionKillProcess)})
	}
	program = append(program,
		bpf.JumpIf{Cond: bpf.JumpLessOrEqual, Val: uint32(newest), SkipTrue: 1},
		bpf.RetConstant{Val: uint32(actionENOSYS)})
	program = append(program, newTree(policy, info.SyscallNames, newest).program()...)
	for _, group := range policy.Syscalls {
		if len(group.NamesWithCondtions) == 0 && group.Action == seccomp.ActionAllow {
			continue // the tree's
		}
		one := seccomp.Policy{DefaultAction: policy.DefaultAction, Syscalls: []seccomp.SyscallGroup{group}}
		part, err := one.Assemble()
		if err != nil {
			return nil, fmt.Errorf("the filter of system calls: %w", err)
		}
		begin := slices.IndexFunc(part, func(in bpf.Instruction) bool { return in == bpf.LoadAbsolute{Off: numberAt, Size: 4} })
		last, ok := part[len(part)-1].(bpf.RetConstant)
		if begin < 0 || len(part) > 250 || !ok || last.Val != uint32(policy.DefaultAction)|uint32(unix.EPERM) {
			return nil, errors.New("the filter of system calls: a group is not made as it was when this was written")
		}
		program = append(program, part[begin:len(part)-1]...) // without its default: on to the next group
	}
	return bpf.Assemble(append(program, bpf.RetConstant{Val: uint32(policy.DefaultAction) | uint32(unix.EPERM)}))
}

// load puts a program into force for all threads of this process.
func load(program []bpf.RawInstruction) error {
	raw := make([]unix.SockFilter, len(program))
	for i, in := range program {
		raw[i] = unix.SockFilter{Code: in.Op, Jt: in.Jt, Jf: in.Jf, K: in.K}
	}
	prog := unix.SockFprog{Len: uint16(len(raw)), Filter: &raw[0]}
	other, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&prog)))
	runtime.KeepAlive(raw)
	switch {
	case errno != 0:
		return errno
	case other != 0:
		return fmt.Errorf("thread %d has a filter of its own", other)
	}
	return nil
}

// equal and its like are conditions on argument n.
func equal(n uint32, v uint64) seccomp.Condition {
	return seccomp.Condition{Argument: n, Operation: seccomp.Equal, Value: v}
}

func notEqual(n uint32, v uint64) seccomp.Condition {
	return seccomp.Condition{Argument: n, Operation: seccomp.NotEqual, Value: v}
}

// noneOf holds when no bit of v is set.
func noneOf(n uint32, v uint64) seccomp.Condition {
	return seccomp.Condition{Argument: n, Operation: seccomp.BitsNotSet, Value: v}
}

// allOf holds when all bits of v are set.
func allOf(n uint32, v uint64) []seccomp.Condition {
	var c []seccomp.Condition
	for bit := uint64(1); bit != 0; bit <<= 1 {
		if v&bit != 0 {
			c = append(c, seccomp.Condition{Argument: n, Operation: seccomp.BitsSet, Value: bit})
		}
	}
	return c
}

func atLeast(n uint32, v uint64) seccomp.Condition {
	return seccomp.Condition{Argument: n, Operation: seccomp.GreaterOrEqual, Value: v}
}

func atMost(n uint32, v uint64) seccomp.Condition {
	return seccomp.Condition{Argument: n, Operation: seccomp.LessOrEqual, Value: v}
}
