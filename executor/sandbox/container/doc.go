// Package container is the back ends that let a container runtime make the
// sandbox: runc (ID container) and the engine podman. Each is driven by its
// command line, from a configuration in the form of the OCI runtime
// specification that is made here; no code of a runtime is in this program.
//
// The first process of a container is the agent (package sandbox/agent), as in
// the process back end, so that limits, network, reset and the ends of commands
// are the same. What a container adds are files of its own (package
// sandbox/image).
//
// # Priorities
//
// A sandbox is preferred by what an attacker has to break, not by what it is
// named after: microVM 100 (a machine), wasm 75 (an interpreter; for modules
// only), container 50, process 40. A process that is not confined must be
// asked for by name. Container is little above process: both are namespaces,
// capabilities, Landlock, seccomp and control groups of one kernel, and what
// runc adds is a filter over the agent as well and a second, independent maker
// of the namespaces. podman (45) makes the same and takes five times as long.
//
// There is no docker: it cannot give one container user ids of its own, nor
// pass it a descriptor. There is no gVisor: its kernel refuses what the agent
// asks of one, a scratch space with a bound of files and a route of its own.
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
