// Package netns prepares the network namespace of a sandbox, from inside and
// before anything untrusted runs in it: the loopback device, and for an
// allow-list the routes and listeners that stand for the rest of the world.
//
// The namespace has no other device. Every address that a command may name is
// made local to the loopback device, so that a connection to it ends at a
// listener of this package, whose descriptor is with the parent outside: the
// socket stays in the namespace, who accepts does not. What no listener takes
// is refused by the kernel, and what no route covers is unreachable; nothing
// here filters, and nothing has to.
//
// The package is part of the agent that every sandbox starts, so it imports
// next to nothing. It decides nothing and trusts its caller.
package netns

// Server is the address of the name server, for TCP and UDP, at port 53.
const Server = "127.0.0.1"

// ResolvConf is the resolv.conf that leads to it. There is one try of two
// seconds: a local server that does not answer is gone.
const ResolvConf = "nameserver " + Server + "\noptions timeout:2 attempts:1\n"
