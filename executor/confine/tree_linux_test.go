package confine

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/elastic/go-seccomp-bpf"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// TestTree compares the tree with a look at the groups in their order, for
// random policies over numbers up to those of a real machine.
func TestTree(t *testing.T) {
	const beyond = 0xabcdef // what a program that goes on comes to
	const denied = seccomp.ActionErrno | seccomp.Action(unix.EPERM)
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	longest := 0
	for range 300 {
		newest := random.IntN(480)
		numbers := map[string]int{}
		policy := seccomp.Policy{DefaultAction: seccomp.ActionErrno, Syscalls: []seccomp.SyscallGroup{
			{Action: seccomp.ActionAllow}, {Action: seccomp.ActionAllow}, {Action: actionENOSYS},
		}}
		want := make([]seccomp.Action, newest+1)
		for n := range want {
			name := fmt.Sprint("call", n)
			numbers[name] = n
			want[n] = denied
			in := random.IntN(16) // a bit for each group
			if in>>2&1 == 1 {
				policy.Syscalls[2].Names = append(policy.Syscalls[2].Names, name)
				want[n] = actionENOSYS
			}
			if in>>1&1 == 1 && random.IntN(6) == 0 {
				policy.Syscalls[1].NamesWithCondtions = append(policy.Syscalls[1].NamesWithCondtions, seccomp.NameWithConditions{Name: name})
				want[n] = goOn
			}
			if in&1 == 1 {
				policy.Syscalls[0].Names = append(policy.Syscalls[0].Names, name)
				want[n] = seccomp.ActionAllow
			}
		}
		program := newTree(policy, numbers, newest).program()
		longest = max(longest, len(program))
		program = append([]bpf.Instruction{bpf.LoadAbsolute{Off: numberAt, Size: 4}}, append(program, bpf.RetConstant{Val: beyond})...)
		vm, err := bpf.NewVM(program)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for n, answer := range want {
			if answer == goOn {
				answer = beyond
			}
			if got := simulate(t, vm, 0, uint32(n)); got != answer {
				t.Fatalf("seed %d, number %d of %d: %#x, want %#x", seed, n, newest, uint32(got), uint32(answer))
			}
		}
	}
	if longest < 400 {
		t.Errorf("the longest tree has %d instructions: too short to show that jumps reach", longest)
	}
}
