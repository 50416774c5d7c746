package process

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/toolwarrant/toolwarrant/executor/js"
	"github.com/toolwarrant/toolwarrant/executor/worker"
	"github.com/toolwarrant/toolwarrant/fault"
)

// Bounds of what one call of a worker may send. The broker counts operations
// by itself and answers beyond its limit; a worker that goes on is no worker.
const (
	maxRequests = worker.MaxOps + 100
	maxAtOnce   = 4 // one is what a worker sends; each may be as large as a frame
)

// killAfter is how long after its end a call may take to answer by itself. The
// worker answers at once when the engine can be interrupted.
const killAfter = 150 * time.Millisecond

// pollFor is how long each side polls for what comes next, the reply of a
// worker or its next call, where the last one came within that time and no
// other work waits for the processors. To be woken takes as long as a short
// call.
const pollFor = 300 * time.Microsecond

// poller is a stream that can poll.
type poller interface{ pollFor(time.Duration) }

// run makes one call of the worker. It reports whether the worker may serve
// another one.
func (p *proc) run(ctx context.Context, call worker.Call, broker worker.Broker, limit time.Duration) (_ worker.Reply, again bool) {
	p.calls++
	p.number++
	if err := p.group.LimitMemory(growthLimit(call.Limits.MaxMemoryBytes)); err != nil {
		select {
		case <-p.gone:
			return p.lost(nil, call.Limits.MaxMemoryBytes), false
		default:
		}
		return failed(fault.RuntimeError, "worker-limit", "the memory of a worker cannot be bounded: "+err.Error()), false
	}
	deadline := time.AfterFunc(limit+killAfter, func() { p.killAs(overtime(limit)) })
	defer deadline.Stop()
	stop := context.AfterFunc(ctx, func() {
		time.AfterFunc(js.Grace, func() {
			p.killAs(&worker.Failure{Code: string(fault.Interrupted), Reason: "cancelled", Message: "the call was cancelled"})
		})
		_ = p.conn.Send(worker.KindCancel, p.number, nil, nil)
	})
	// A cancellation on its way could reach the next call: that worker ends.
	defer func() { again = stop() && again }()

	args := call.Args
	call.Args, call.Spare = nil, p.spare
	if err := p.conn.Send(worker.KindCall, p.number, call, args); err != nil {
		if errors.Is(err, worker.ErrFrame) {
			return failed(fault.ResourceLimit, "source", "the code and its arguments are too large to be sent to a worker"), true
		}
		return p.lost(err, call.Limits.MaxMemoryBytes), false
	}
	s := &serving{proc: p, broker: broker}
	s.ctx, s.cancel = context.WithCancel(ctx)
	if near, ok := p.near.(poller); ok && p.quick && p.spare {
		near.pollFor(pollFor)
	}
	began := time.Now()
	reply, err := s.until(call.Limits)
	p.quick = time.Since(began) < pollFor
	idle := s.close()
	switch {
	case err == nil:
		return reply, idle && healthy(reply.Failure)
	case errors.Is(err, errProtocol):
		p.kill()
		return failed(fault.RuntimeError, "worker-protocol", "the worker that ran the code broke the protocol and was ended"), false
	}
	return p.lost(err, call.Limits.MaxMemoryBytes), false
}

func growthLimit(limit int64) int64 {
	if limit <= 0 {
		return 1 << 40
	}
	return limit + wallRoom
}

func overtime(limit time.Duration) *worker.Failure {
	return &worker.Failure{Code: string(fault.Timeout), Reason: "deadline",
		Message: "the call ran longer than its limit of " + limit.String()}
}

// healthy reports whether a worker may go on after a call that ended so: not
// after one that something of it may still run. That the broker found no sandbox
// for a command is nothing of the worker's.
func healthy(f *worker.Failure) bool {
	if f == nil {
		return true
	}
	switch fault.Code(f.Code) {
	case fault.RuntimeError:
		return strings.HasPrefix(f.Reason, sandboxReasons)
	case fault.Timeout, fault.Interrupted:
		return false
	case fault.ResourceLimit:
		return f.Reason != "memory"
	}
	return true
}

// sandboxReasons is how the reasons of package sandbox begin.
const sandboxReasons = "sandbox-"

// lost names the end of a worker that died during a call.
func (p *proc) lost(read error, limit int64) worker.Reply {
	if errors.Is(read, worker.ErrFrame) {
		p.kill()
		return failed(fault.RuntimeError, "worker-protocol", "the worker that ran the code broke the protocol and was ended")
	}
	ended := true // by itself
	select {
	case <-p.gone:
	case <-time.After(js.Grace): // it closed its stream and lives on
		ended = false
		p.kill()
		<-p.gone
	}
	if f := p.cause.Load(); f != nil {
		return worker.Reply{Failure: f}
	}
	said, grown := p.stderr.String(), peak(p.state)-p.idle
	switch {
	case strings.Contains(said, "stack exceeds"), strings.Contains(said, "stack overflow"):
		return failed(fault.ResourceLimit, "stack", "the code nests calls deeper than the engine can hold")
	case outOfMemory(said), ended && killed(p.state) && grown > limit/4, ended && crashed(p.state) && grown > limit/2:
		// A system short of memory kills earlier than the limit would; a kill
		// of a small process is somebody else's.
		return worker.Reply{Failure: tooMuchMemory(limit)}
	}
	return failed(fault.RuntimeError, "worker-died", "the worker that ran the code ended unexpectedly")
}

// crashed reports whether the Go runtime itself gave up, or the system ended
// the process.
func crashed(s *os.ProcessState) bool { return s.ExitCode() == 2 || s.ExitCode() == -1 }

// outOfMemory reads what the Go runtime says when the system gives no memory.
// Where it runs out inside the collector, it crashes without such words: then
// the size of the process at its end tells.
func outOfMemory(said string) bool {
	for _, words := range []string{"out of memory", "cannot allocate memory", "cannot map pages", "failed to create new OS thread", "pthread_create failed", "(errno: 12)"} {
		if strings.Contains(said, words) {
			return true
		}
	}
	return false
}

func failed(code fault.Code, reason, message string) worker.Reply {
	return worker.Reply{Failure: &worker.Failure{Code: string(code), Reason: reason, Message: message}}
}

var errProtocol = errors.New("process: the worker broke the protocol")

// serving answers the requests of one call.
type serving struct {
	*proc
	broker worker.Broker
	ctx    context.Context
	cancel context.CancelFunc
	wait   sync.WaitGroup
	slots  chan struct{}
}

// until reads frames until the reply.
func (s *serving) until(limits worker.Limits) (worker.Reply, error) {
	for n := 0; ; {
		f, err := s.conn.Receive()
		if err != nil {
			return worker.Reply{}, err
		}
		switch f.Kind {
		case worker.KindRequest:
			if n++; n > maxRequests || !s.request(f) {
				return worker.Reply{}, errProtocol
			}
		case worker.KindReply:
			var reply worker.Reply
			if f.ID != s.number || f.Decode(&reply) != nil || !absent(reply.Result) {
				return worker.Reply{}, errProtocol
			}
			reply.Result = f.Body
			return reply, credible(reply, limits)
		default:
			return worker.Reply{}, errProtocol
		}
	}
}

// request serves one request beside the reading. It reports false for one
// that no worker sends.
func (s *serving) request(f worker.Frame) bool {
	var req worker.BrokerRequest
	if f.Decode(&req) != nil || !absent(req.Args) {
		return false
	}
	req.Args = f.Body
	if s.slots == nil {
		s.slots = make(chan struct{}, maxAtOnce)
	}
	select {
	case s.slots <- struct{}{}:
	default:
		return false
	}
	s.wait.Go(func() {
		answer := s.broker.Do(s.ctx, req)
		result := answer.Result
		answer.Result = nil
		<-s.slots
		if s.ctx.Err() != nil {
			return
		}
		if err := s.conn.Send(worker.KindAnswer, f.ID, answer, result); err != nil {
			s.kill()
		}
	})
	return true
}

// absent reports whether a member whose value is the body of the frame is
// empty in the header.
func absent(v json.RawMessage) bool { return len(v) == 0 || string(v) == "null" }

// close ends what still runs for the call and reports whether all of it did
// within the grace.
func (s *serving) close() bool {
	s.cancel()
	if s.slots == nil {
		return true
	}
	done := make(chan struct{})
	go func() { s.wait.Wait(); close(done) }()
	select {
	case <-done:
		return true
	case <-time.After(js.Grace):
		return false
	}
}

// logSlack is what the mark of a cut line may add to it.
const logSlack = 256

// credible checks what no worker of this build would send: the record and the
// answer are made of it.
func credible(r worker.Reply, limits worker.Limits) error {
	bad := func(what string) error { return fmt.Errorf("%w: %s", errProtocol, what) }
	if r.Failure != nil && len(r.Result) > 0 || r.Failure == nil && len(r.Result) == 0 {
		return bad("result and failure")
	}
	if u := r.Usage; u.LogLines < int64(len(r.Logs)) || u.Statements != nil && *u.Statements < 0 || u.MemoryBytes != nil && *u.MemoryBytes < 0 {
		return bad("usage")
	}
	if limits.MaxLogLines > 0 && int64(len(r.Logs)) > limits.MaxLogLines {
		return bad("log lines")
	}
	for _, l := range r.Logs {
		switch l.Level {
		case "log", "info", "warn", "error", "debug":
		default:
			return bad("log level")
		}
		if limits.MaxLogBytes > 0 && int64(len(l.Text)) > limits.MaxLogBytes+logSlack {
			return bad("log line")
		}
	}
	if f := r.Failure; f != nil && (len(f.Message) > maxFailure || len(f.Reason) > maxFailure || f.Line < 0 || f.Column < 0) {
		return bad("failure")
	}
	return nil
}

// maxFailure bounds the texts of a failure.
const maxFailure = 16 << 10
