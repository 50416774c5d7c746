// Package confine takes from a process whatever it does not need: on Linux by
// namespaces, Landlock, seccomp and resource limits, elsewhere by what the
// system has. It knows nothing of tools or policies.
//
// It has two halves. The parent prepares a command (Levels, Attach) and later
// bounds its memory (Group.LimitMemory). The child, which is this same
// program, locks itself (Lock) before it reads anything. What is then in force
// is reported, not assumed: Lock tries what must fail and gives up where it
// does not fail.
//
// It may import executor/worker for the form of the report, and nothing else
// of toolwarrant.
package confine

import "os/exec"

// A Level is one way to start a confined process. The parent tries them from
// the strongest on and keeps the first with which a process really starts:
// kernels, containers and security modules forbid some in ways that only a
// try shows.
type Level struct {
	Name    string // such as "namespaces+nobody"
	Prepare func(*exec.Cmd)
}
