// Package microvm is the back ends that run commands in a virtual machine: a
// kernel of its own behind the sandbox's root, process tree and limits.
//
// "firecracker" needs Firecracker, KVM and a kernel image that the operator
// names. "qemu" emulates the processor in software: it needs no KVM, is slow
// (seconds to boot), and is used by its name only. Both start the monitor
// with as few rights as this system lets them give it (package confine), hand
// it kernel and first root as sealed memory, give the machine no network
// device, and speak to the agent inside over one stream of bytes.
//
// Threat model: the command is hostile, and may take over the kernel of its
// machine. Then everything that comes over the stream is hostile too; what it
// can claim is bounded and none of it is trusted for a limit: memory,
// processors and time are the machine's, kept from outside. A fault of the
// monitor itself leaves an attacker in an unprivileged process of the host
// without network or capabilities.
//
// What is not there is refused: folders of the host are copied into the
// machine when it starts and so are never writable, and there is no network
// of the host.
package microvm

import (
	"time"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
)

// The IDs of the back ends.
const (
	Firecracker = "firecracker"
	QEMU        = "qemu"
)

// Options are what an operator says about virtual machines.
type Options struct {
	// Kernel is the path of the image that machines boot: an uncompressed
	// vmlinux for Firecracker, with vsock and virtio-mmio built in; a bzImage
	// for QEMU, with a 8250 serial port built in. Both need user namespaces,
	// control groups (v2: memory, pids) and an initramfs.
	Kernel string
	// Monitor is the path of the monitor. "" = the one in PATH.
	Monitor string
	// Agent is the path of toolwarrant-agent, a static program. "" = the file
	// of that name beside this program.
	Agent string
	// Image is the folder with the root for a Spec without Image. "" = such
	// a Spec is refused: a machine has none of the host's programs.
	Image string
	// BootTimeout bounds the start of a machine. 0 = 10 s, for QEMU 60 s.
	BootTimeout time.Duration
	// Folder is where sockets of Firecracker are. "" = os.TempDir().
	Folder string
}

// NewFirecracker makes the back end "firecracker".
func NewFirecracker(o Options) sandbox.Factory { return newFactory(Firecracker, 100, o) }

// NewQEMU makes the back end "qemu".
func NewQEMU(o Options) sandbox.Factory { return newFactory(QEMU, -1, o) }
