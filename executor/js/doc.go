// Package js runs the JavaScript of tools on goja, inside this process.
//
// It owns: turning the body of an async function into a compiled program whose
// statements are counted, the globals that the body may use, the limits that
// can be held without a process of its own (statements, wall clock, stack,
// output, log), and the translation of every way to end into a worker.Reply.
// It decides nothing. Whatever touches the world goes to the worker.Broker as
// a message; the class gate, the address guard and the path rules live there.
//
// It may import executor/mask, executor/worker, fault and third parties. The
// executor, and later a worker process, import it.
//
// Threat model: the code is hostile. It may not end the process by a Go panic,
// stop the host's own functions from working by changing prototypes, forge a
// helper failure, reach the counter, or leave the wrapper it is compiled into.
// What a goroutine cannot do is bound memory, or end native code of the
// engine: a call that hangs there is abandoned after a grace period (Run still
// returns, its broker is closed to it) and too many abandoned calls make the
// runtime refuse work. Those two need a process that can be killed; guards on
// the built-ins that allocate in bulk only give nicer errors earlier.
package js

//go:generate go test -run TestCompatibilityPage . -update
