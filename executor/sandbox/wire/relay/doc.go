// Package relay carries the conversation of a parent and its agent (package
// wire) where no descriptors can be passed. On the host, the parent speaks to
// Host as it would to an agent; in the machine, the agent speaks to Guest as
// it would to a parent; between the two is a stream (package wire/stream).
// Both ends of the conversation stay as they are.
//
// Standard input, output and error of a command, which the parent sends as
// descriptors, are channels on the stream and pipes in the machine.
//
// Host trusts nothing that comes over the stream: texts are handed on to the
// parent, which trusts no agent, and bytes only into the descriptors that the
// parent gave for them.
package relay
