// Package process runs the JavaScript of tools in worker processes: this same
// program, started again, locked down before it reads anything
// (executor/confine), and killed when it does not keep its limits.
//
// It owns the pool of workers, the life of each, and the belief that the
// parent has in what they say: none. It decides nothing and serves no effect;
// every request of a worker goes to the worker.Broker of its call, which holds
// the decision.
//
// A worker is a second start of the program that imports this package, as
// os.Executable gives it. That start never reaches main: the init function of
// this package takes it over when the name of the program is the worker's.
// Nothing has to be installed or called for it, in a test or under go run
// either.
//
// Threat model: the code owns its worker. It may send anything, in any number,
// at any size, or nothing; it may allocate without bound, hang in native code
// or crash. The parent then has one worker less, the call has one failure with
// a stable code, and the next call has a fresh worker.
package process
