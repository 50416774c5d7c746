// Package agent is process 1 of a sandbox: it builds the file system, gives up
// what commands must not have, starts them, and leaves nothing of them behind.
//
// A program that imports it can be the agent itself: a start with Name as
// argument 0 never reaches main. cmd/toolwarrant-agent is the same in a few
// megabytes, since a sandbox waits for the start of its agent.
//
// Threat model: the agent trusts its parent (package wire) and is attacked by
// what it starts. It is root inside of its user namespace, so that commands
// run as another user where the parent has one to give, and without any right
// where it has not; in both cases they are started from one thread that has
// given up everything first (no new privileges, no capability to be had,
// Landlock, seccomp), while the others keep what it takes to end and clean
// up. The agent holds no descriptor of the host (but of mounts that commands
// have anyway), cannot be traced, and nothing that a command does to itself,
// to its own processes or to the scratch space changes how the agent sees it:
// process 1 is told of every end by the kernel.
package agent

// Name is argument 0 of a start that is an agent.
const Name = "toolwarrant-agent"

// The ways to start an agent, as argument 1; none is the conversation on
// descriptor 3.
const (
	// Stream is the conversation over standard input and output, for runtimes that
	// pass no descriptor.
	Stream = "stream"
	// Launch starts other agents, as it is told on descriptor 3.
	Launch = "launch"
	// AskVersion writes wire.Version to standard output.
	AskVersion = "version"
	// Hold does nothing until standard input ends: the namespaces that it was
	// started in exist so long.
	Hold = "hold"
)
