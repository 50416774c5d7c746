package confine

import (
	"github.com/elastic/go-seccomp-bpf"
	"github.com/elastic/go-seccomp-bpf/arch"
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

// policy is all of it; what no rule names fails with EPERM.
func (r *rules) policy() seccomp.Policy {
	return seccomp.Policy{DefaultAction: seccomp.ActionErrno, Syscalls: []seccomp.SyscallGroup{r.allow, r.absent}}
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
