// Package container is the back ends that let a container runtime make the
// sandbox: runc (ID container), gVisor's runsc (gvisor), and the engines podman
// and docker. Each is driven by its command line, from a configuration in the
// form of the OCI runtime specification that is made here, or in the words of
// the engine; no code of a runtime is in this program.
//
// The first process of a container is the agent (package sandbox/agent), as in
// the process back end, so that limits, reset and the ends of commands are the
// same. What a container adds are files of its own (package sandbox/image).
//
// # Two ways to talk
//
// runc and podman pass a socket to the agent, which mounts the scratch space
// and the folders of a Spec itself, from descriptors. Nothing can be passed
// into gVisor, nor through the daemon of docker: there the conversation goes
// over the standard streams of the first process, and the runtime makes all
// mounts. It follows that with these two
//
//   - there is no AllowList: its listeners could not be passed out. Such a Spec
//     is refused, or with AllowPartial has no network at all;
//   - the scratch places are file systems apart, which share the disk of the
//     Spec: 12 parts of 16 are /scratch, 3 are /tmp, 1 is /dev/shm;
//   - no mount can be inside of a scratch place;
//   - ids are not mapped: commands are the owner of the first writable mount,
//     and else a user that nobody is. In gVisor, what belongs to root makes them
//     root without any right, for which file system writes are only partial;
//   - mounts are named by path, and compared afterwards with what was checked,
//     before anything runs: by the agent, or, for gVisor, at the process that
//     serves its files.
//
// # Priorities
//
// A sandbox is preferred by what an attacker has to break, not by what it is
// named after: microVM 100 (a machine), gvisor 80 (a kernel of its own, as a
// process without rights), wasm 75 (an interpreter; for modules only),
// container 50, podman 45, process 40, docker 30. Container is little above
// process: both are namespaces, capabilities, Landlock, seccomp and control
// groups of one kernel, and what runc adds is a filter over the agent as well
// and a second, independent maker of the namespaces. podman makes the same and
// takes five times as long. docker is below process: its commands have no user
// namespace around them, so that one user on the host is all that a way out of
// the other layers is held by.
//
// gVisor was tried as the version of 2022 with ptrace and that of 2026 with
// systrap. The old one shows commands the descriptors of the agent; its probe
// sees that, and reading is partial with it. docker was tried with an engine
// of version 20.10, as root.
//
// # Threat model
//
// The command is hostile; the runtime, the engine and the caller are trusted.
// The command owns nothing: its root is read-only, its ids belong to nobody on
// the host (those of an ordinary user are its own), it has no capability and
// cannot get one, and the agent's filter of system calls lies inside the one
// of the container. A runtime that fails half way leaves a container that the
// next start ends: bundles are in a folder that names its owner, and a
// container ends with the socket to its owner.
package container
