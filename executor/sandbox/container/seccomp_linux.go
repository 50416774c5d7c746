package container

import (
	"slices"

	"github.com/elastic/go-seccomp-bpf"
	"github.com/opencontainers/runtime-spec/specs-go"
)

// preparing are the system calls that the agent makes beyond those of
// commands, while it prepares the sandbox and when it starts and ends them.
var preparing = []string{
	"mount", "umount2", "open_tree", "move_mount", "mount_setattr", "fsopen", "fsconfig", "fsmount", "fspick", "pivot_root",
	"capget", "capset", "prctl", "seccomp", "landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self",
	"sethostname", "setuid", "setgid", "setgroups", "setresuid", "setresgid", "setsid", "kill", "tgkill", "clone", "wait4", "waitid",
	"socket", "bind", "listen", "accept4", "getsockname", "setsockopt", "sendmsg", "recvmsg", "sendto", "recvfrom",
	"prlimit64", "setrlimit", "chown", "fchown", "fchownat", "mkdirat", "unlinkat", "symlinkat", "openat2", "statx", "execve", "execveat", "pidfd_open", "pidfd_send_signal",
}

// outerFilter is the filter of the whole container, in the form of a runtime:
// the calls of commands and those of the agent. It is wider than the filter
// that the agent puts on each command, which has the same rules and no
// exceptions.
func outerFilter(commands seccomp.Policy) *specs.LinuxSeccomp {
	none := uint(1)
	out := &specs.LinuxSeccomp{DefaultAction: specs.ActErrno, DefaultErrnoRet: &none, Syscalls: []specs.LinuxSyscall{{Names: preparing, Action: specs.ActAllow}}}
	for _, g := range commands.Syscalls {
		action, errno := outerAction(g.Action)
		names := slices.DeleteFunc(slices.Clone(g.Names), own)
		if len(names) > 0 {
			out.Syscalls = append(out.Syscalls, specs.LinuxSyscall{Names: names, Action: action, ErrnoRet: errno})
		}
		for _, c := range g.NamesWithCondtions {
			if own(c.Name) {
				continue
			}
			rule := specs.LinuxSyscall{Names: []string{c.Name}, Action: action, ErrnoRet: errno}
			if args, ok := outerArgs(c.Conditions); ok {
				rule.Args = args
			} else if action != specs.ActAllow {
				continue
			}
			out.Syscalls = append(out.Syscalls, rule)
		}
	}
	return out
}

func own(name string) bool { return slices.Contains(preparing, name) }

func outerAction(a seccomp.Action) (specs.LinuxSeccompAction, *uint) {
	if a == seccomp.ActionAllow {
		return specs.ActAllow, nil
	}
	errno := uint(a & 0xffff) // the data of an action that is an error
	if a&^0xffff != seccomp.ActionErrno || errno == 0 {
		errno = 1
	}
	return specs.ActErrno, &errno
}

// outerArgs translates conditions that all must hold. A runtime takes two on
// one argument for alternatives, so that bits of one argument are made one
// condition; false is for what cannot be said.
func outerArgs(all []seccomp.Condition) ([]specs.LinuxSeccompArg, bool) {
	byArg := map[uint32]*specs.LinuxSeccompArg{}
	var order []uint32
	for _, c := range all {
		have := byArg[c.Argument]
		var a specs.LinuxSeccompArg
		switch c.Operation {
		case seccomp.BitsSet:
			a = specs.LinuxSeccompArg{Op: specs.OpMaskedEqual, Value: c.Value, ValueTwo: c.Value}
		case seccomp.BitsNotSet:
			a = specs.LinuxSeccompArg{Op: specs.OpMaskedEqual, Value: c.Value}
		case seccomp.Equal:
			a = specs.LinuxSeccompArg{Op: specs.OpEqualTo, Value: c.Value}
		case seccomp.NotEqual:
			a = specs.LinuxSeccompArg{Op: specs.OpNotEqual, Value: c.Value}
		case seccomp.LessOrEqual:
			a = specs.LinuxSeccompArg{Op: specs.OpLessEqual, Value: c.Value}
		default:
			return nil, false
		}
		a.Index = uint(c.Argument)
		switch {
		case have == nil:
			byArg[c.Argument] = &a
			order = append(order, c.Argument)
		case have.Op == specs.OpMaskedEqual && a.Op == specs.OpMaskedEqual:
			have.Value |= a.Value
			have.ValueTwo |= a.ValueTwo
		default:
			return nil, false
		}
	}
	args := make([]specs.LinuxSeccompArg, len(order))
	for i, n := range order {
		args[i] = *byArg[n]
	}
	return args, true
}
