package js

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/dop251/goja"
	"github.com/dop251/goja/parser"

	"github.com/toolwarrant/toolwarrant/executor/worker"
	"github.com/toolwarrant/toolwarrant/fault"
)

// maxCallStack is the depth of JavaScript calls.
const maxCallStack = 1000

// A session is one call: one virtual machine, owned by the goroutine that
// runs it. Other goroutines use stop, abandon and reply only.
type session struct {
	rt     *Runtime
	ctx    context.Context
	cancel context.CancelFunc
	call   worker.Call
	broker worker.Broker

	vm     *goja.Runtime
	native intrinsics
	timers timerQueue
	prog   *program
	start  callee        // gives the program's function; set once all is built
	enter  goja.Callable // calls entry inside the virtual machine
	entry  func()
	joins  int                 // nesting of Array.prototype.join
	noted  targetNote          // see noteTarget
	nested int                 // nesting of calls that re-enter the engine
	spent  *worker.BrokerReply // that the operations of the call are used up
	params *goja.Object        // class URLSearchParams, once it is made
	kit    *goja.Object        // functions of lib/promises.js, once they are loaded
	protos struct{ response, headers *goja.Object }

	used    atomic.Int64 // statements charged
	stopped atomic.Pointer[worker.Failure]

	mu        sync.Mutex
	ended     bool // the goroutine is through
	abandoned bool // Run has answered without it
	logs      console
}

func newSession(r *Runtime) *session { return &session{rt: r, vm: goja.New()} }

// begin gives the session its call.
func (s *session) begin(ctx context.Context, cancel context.CancelFunc, call worker.Call, broker worker.Broker) {
	s.ctx, s.cancel, s.call, s.broker = ctx, cancel, call, broker
	s.logs.init(call.Limits, s.rt.opts.MaxLogTotal)
}

// stop ends the call for a reason; the first reason stands. It is safe from
// any goroutine.
func (s *session) stop(f *worker.Failure) {
	if s.stopped.CompareAndSwap(nil, f) {
		s.cancel()
		s.vm.Interrupt(f.Reason)
	}
}

// abandon marks that nobody waits any more. It reports false when the
// goroutine ended at the last moment.
func (s *session) abandon() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.abandoned = !s.ended
	return s.abandoned
}

// finish marks the end of the goroutine and reports whether it was abandoned.
func (s *session) finish() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	return s.abandoned
}

// reply assembles the answer. It is safe from any goroutine.
func (s *session) reply(result []byte, f *worker.Failure) worker.Reply {
	used := s.used.Load()
	s.mu.Lock()
	logs, emitted := s.logs.take()
	s.mu.Unlock()
	rep := worker.Reply{Failure: f, Logs: logs, Usage: worker.Usage{Statements: &used, LogLines: emitted}}
	if f == nil {
		rep.Result = result
	}
	return rep
}

// run is the whole call. Nothing panics out of it.
func (s *session) run() (rep worker.Reply) {
	var result []byte
	var failure *worker.Failure
	func() {
		defer func() {
			if x := recover(); x != nil {
				failure = s.panicked(x)
			}
		}()
		result, failure = s.execute()
	}()
	if f := s.stopped.Load(); f != nil {
		result, failure = nil, f
	} else if failure != nil && s.ctx.Err() != nil {
		// What failed, failed because the call was over.
		failure = causeOf(s.ctx)
	}
	return s.reply(result, failure)
}

// panicked names what came out of the engine as a Go panic.
func (s *session) panicked(x any) *worker.Failure {
	switch x := x.(type) {
	case *goja.InterruptedError:
		return s.uncatchable(x)
	case *goja.StackOverflowError:
		return s.uncatchable(x)
	case *goja.Exception:
		return s.thrown(x.Value(), x.Stack())
	case goja.Value:
		return s.thrown(x, nil)
	}
	return &worker.Failure{Code: string(fault.RuntimeError), Reason: "engine-panic",
		Message: "the JavaScript engine failed on this code: " + clip(fmt.Sprint(x), 200)}
}

func (s *session) execute() ([]byte, *worker.Failure) {
	if s.start == nil { // it was not prepared
		prog, failure := s.rt.compile(s.call.Program, s.call.Statics)
		if failure == nil {
			failure = s.build(prog)
		}
		if failure != nil {
			return nil, failure
		}
	}
	var promise *goja.Promise
	if f := s.guardedCall(func() {
		v, err := s.body()
		if err != nil {
			panic(err)
		}
		promise, _ = v.Export().(*goja.Promise)
	}); f != nil {
		return nil, f
	}
	if promise == nil {
		return nil, &worker.Failure{Code: string(fault.RuntimeError), Reason: "no-promise", Message: "the program did not start as an async function"}
	}
	return s.settle(promise)
}

// build makes all that the program finds. No code of it runs.
func (s *session) build(prog *program) *worker.Failure {
	s.prog = prog
	s.vm.SetParserOptions(parser.WithDisableSourceMaps, s.noParser())
	s.vm.SetMaxCallStackSize(maxCallStack)
	return s.guardedCall(func() {
		s.install()
		wrapper, err := s.vm.RunProgram(prog.code)
		if err != nil {
			panic(err)
		}
		s.start, _ = s.callable(wrapper)
	})
}

// settle turns the event loop until the program's promise is settled.
func (s *session) settle(promise *goja.Promise) ([]byte, *worker.Failure) {
	for {
		if f := s.stopped.Load(); f != nil {
			return nil, f
		}
		switch promise.State() {
		case goja.PromiseStateFulfilled:
			return s.convert(promise.Result())
		case goja.PromiseStateRejected:
			return nil, s.thrown(promise.Result(), nil)
		}
		callback, args, ok := s.timers.next(s.ctx)
		if !ok {
			if f := s.stopped.Load(); f != nil {
				return nil, f
			}
			if s.ctx.Err() != nil {
				return nil, causeOf(s.ctx)
			}
			return nil, &worker.Failure{Code: string(fault.JSError), Reason: "never-settles", Name: "Error",
				Message: "the code awaits a promise that nothing can settle any more"}
		}
		if f := s.guardedCall(func() {
			callback(goja.Undefined(), args...)
		}); f != nil {
			return nil, f
		}
	}
}

// guardedCall enters the virtual machine: f may touch values of the program,
// and whatever it throws comes back as the failure. The microtasks that are
// due run before it returns.
func (s *session) guardedCall(f func()) *worker.Failure {
	if s.enter == nil {
		s.enter, _ = goja.AssertFunction(s.vm.ToValue(func(goja.FunctionCall) goja.Value {
			f := s.entry
			s.entry = nil
			f()
			return goja.Undefined()
		}))
	}
	s.entry = f
	_, err := s.enter(goja.Undefined())
	if stop := s.stopped.Load(); stop != nil {
		return stop
	}
	if err == nil {
		return nil
	}
	return s.fromError(err)
}

// fromError names an error that the engine returned.
func (s *session) fromError(err error) *worker.Failure {
	switch e := err.(type) {
	case *goja.Exception:
		return s.thrown(e.Value(), e.Stack())
	case *goja.InterruptedError, *goja.StackOverflowError:
		return s.uncatchable(e)
	}
	return &worker.Failure{Code: string(fault.RuntimeError), Reason: "engine-error", Message: clip(err.Error(), maxMessage)}
}

func (s *session) uncatchable(err error) *worker.Failure {
	if f := s.stopped.Load(); f != nil {
		return f
	}
	if _, ok := err.(*goja.StackOverflowError); ok {
		return stackFailure()
	}
	return interrupted("interrupted", "the call was interrupted")
}

func stackFailure() *worker.Failure {
	return &worker.Failure{Code: string(fault.ResourceLimit), Reason: "stack",
		Message: fmt.Sprintf("the calls nest deeper than %d; look for a recursion without an end", maxCallStack)}
}

// do asks the broker for one effect. After the end of the call, and for an
// abandoned one, nothing is asked any more.
func (s *session) do(op worker.Op, args []byte) worker.BrokerReply {
	if s.ctx.Err() != nil {
		return worker.BrokerReply{Failure: interrupted("cancelled", "the call has ended")}
	}
	if s.broker == nil {
		return worker.BrokerReply{Failure: &worker.Failure{Code: string(fault.Security), Reason: "not-granted", Message: "this call has no broker"}}
	}
	if s.spent != nil {
		return *s.spent
	}
	rep := s.broker.Do(s.ctx, worker.BrokerRequest{Op: op, Args: args})
	if rep.Failure != nil && rep.Failure.Code == string(fault.ResourceLimit) {
		s.spent = &rep // nothing will be served any more; asking on would be a flood
	}
	return rep
}
