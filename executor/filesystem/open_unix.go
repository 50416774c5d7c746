//go:build unix

package filesystem

import "syscall"

// openFlags keep an opening from waiting for the other end of a named pipe
// that took the place of a file.
//
// A terminal that took it must not become the terminal of this process.
const openFlags = syscall.O_NONBLOCK | syscall.O_NOCTTY
