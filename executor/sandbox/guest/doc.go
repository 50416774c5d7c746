// Package guest is the first process of a virtual machine: it prepares the
// machine, starts the agent of a sandbox in namespaces as on any Linux, and
// carries the conversation of the agent over the one stream of bytes that the
// machine has with its host. Where the agent is given descriptors, the host
// has channels (package wire/stream).
//
// So a command in a virtual machine is confined twice: by the agent's
// namespaces and filters as everywhere, and by the machine. Package guest
// trusts the host entirely and the agent's commands not at all. When the
// stream ends, the machine ends.
package guest

// Program is the name under which the kernel starts the first process. The
// program is the one of the agent.
const Program = "/toolwarrant-guest"

// Image is where the root of the commands is, in the first root.
const Image = "/image"

// Mounts is the folder in the first root with the sources of mounts, called
// by their numbers.
const Mounts = "/mounts"

// StreamVariable tells the first process its stream to the host: the path of
// a serial device, or vsock:PORT to listen on. The kernel takes it from its
// command line into the environment of the first process.
const StreamVariable = "toolwarrant_stream"

// CommandUser is the user and group that commands are, as the agent sees it.
const CommandUser = 1000

// Port is that of the guest for vsock.
const Port = 1024

// The limits of all commands together, from the kernel's command line as well:
// bytes of memory, and processes with threads. 0 = no limit.
const (
	MemoryVariable    = "toolwarrant_memory"
	ProcessesVariable = "toolwarrant_processes"
)

// Hello is what the guest says first. The host says nothing before it: a
// serial device changes what comes before it was set up.
const Hello = "toolwarrant guest 1\n"
