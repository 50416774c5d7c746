package process

import (
	"context"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"github.com/toolwarrant/toolwarrant/executor/confine"
	"github.com/toolwarrant/toolwarrant/executor/js"
	"github.com/toolwarrant/toolwarrant/executor/worker"
	"github.com/toolwarrant/toolwarrant/fault"
)

// workerName is the name (argument 0) by which a start of this program is a
// worker. The arguments are the namespaces of the parent.
const workerName = "toolwarrant-worker"

// Exit codes of a worker, for the parent's log.
const (
	exitParentGone = 0
	exitLock       = 70
	exitProtocol   = 71
)

// A worker never reaches main: the program that embeds this package may do
// anything there. What init needs of other packages has been initialised
// before it.
func init() {
	if len(os.Args) == 0 || os.Args[0] != workerName {
		return
	}
	go childMain(os.Args[1:])
	select {} // the main goroutine is bound to its thread while packages start
}

// maxNativeStack ends a recursion inside the engine before it is memory.
const maxNativeStack = 64 << 20

func childMain(spaces []string) {
	os.Clearenv()
	time.Local = time.UTC
	debug.SetMaxStack(maxNativeStack)
	// Little lives from one call to the next, so that a larger heap before
	// each collection is time won. The memory of a call is bounded apart.
	debug.SetGCPercent(400)
	runtime.GOMAXPROCS(1)
	stream, err := childStream()
	if err != nil {
		childExit(exitLock, "the stream to the parent: "+err.Error())
	}
	if hook := childHook; hook != nil {
		if spaces = hook(spaces, stream); spaces == nil {
			return
		}
	}
	js.Warm()
	iso, err := confine.Lock(childDescriptors, spaces)
	if err != nil {
		childExit(exitLock, "lock: "+err.Error())
	}
	c := &child{conn: worker.NewConn(stream), stream: stream, rt: js.New(js.Options{}), waiting: map[uint32]chan worker.BrokerReply{}}
	c.memory.init()
	if err := c.conn.Send(worker.KindHello, 0, worker.Hello{Build: worker.BuildID(), PID: os.Getpid(), Isolation: iso}, nil); err != nil {
		childExit(exitParentGone, "")
	}
	c.serve()
}

// childHook lets a test take a worker over: it gets the arguments and the
// stream, and gives the arguments to go on with, nil to do nothing more.
var childHook func(args []string, stream io.ReadWriter) []string

func childExit(code int, why string) {
	if why != "" {
		_, _ = os.Stderr.WriteString("toolwarrant worker: " + why + "\n")
	}
	os.Exit(code)
}

// child is the worker's side: one call at a time. The goroutine that reads a
// call also runs it, which spares a short one the switch to another; serve
// goes on in a new goroutine as soon as a frame may be needed meanwhile.
type child struct {
	conn    *worker.Conn
	stream  io.ReadWriter
	rt      *js.Runtime
	memory  memory
	replied time.Time // when the last call had its answer
	often   bool      // the last call came less than pollFor after that

	mu      sync.Mutex
	running bool
	reading bool // the goroutine that runs the call is the one to read on
	cancel  context.CancelCauseFunc
	next    uint32
	waiting map[uint32]chan worker.BrokerReply
}

// handOverAfter is how long a call may run before frames are read beside it:
// a cancellation waits so long at most.
const handOverAfter = time.Millisecond

func (c *child) serve() {
	for {
		f, err := c.conn.Receive()
		if err != nil {
			childExit(exitParentGone, "")
		}
		switch f.Kind {
		case worker.KindCall:
			var call worker.Call
			if err := f.Decode(&call); err != nil || !c.begin() {
				childExit(exitProtocol, "a call that cannot be taken")
			}
			call.Args = f.Body
			if !c.run(f.ID, call) {
				return
			}
		case worker.KindCancel:
			c.end(&worker.Failure{Code: string(fault.Interrupted), Reason: "cancelled", Message: "the call was cancelled"})
		case worker.KindAnswer:
			c.answer(f)
		default:
			childExit(exitProtocol, "a frame of an unknown kind")
		}
	}
}

// begin marks the worker busy.
func (c *child) begin() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	ok := !c.running
	c.running, c.reading = true, true
	return ok
}

// handOver lets another goroutine read what comes during a call.
func (c *child) handOver() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.reading {
		c.reading = false
		go c.serve()
	}
}

// end ends the call that runs, as f.
func (c *child) end(f *worker.Failure) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cancel != nil {
		c.cancel(f)
	}
}

// run makes one call and sends its reply. It reports whether the caller is
// still the one to read on.
func (c *child) run(id uint32, call worker.Call) (reading bool) {
	c.often = time.Since(c.replied) < pollFor
	hand := time.AfterFunc(handOverAfter, c.handOver)
	defer hand.Stop()
	ctx, cancel := context.WithCancelCause(context.Background())
	c.mu.Lock()
	c.cancel = cancel
	c.mu.Unlock()
	used := c.memory.watch(call.Limits.MaxMemoryBytes, cancel)
	reply, err := c.rt.Run(ctx, call, c)
	grown := used()
	cancel(nil)
	if err != nil {
		childExit(exitProtocol, err.Error())
	}
	reply.Usage.MemoryBytes = &grown
	c.mu.Lock()
	reading = c.reading
	c.running, c.reading, c.cancel = false, false, nil
	clear(c.waiting)
	c.mu.Unlock()
	result := reply.Result
	reply.Result = nil
	if err := c.conn.Send(worker.KindReply, id, reply, result); err != nil {
		childExit(exitProtocol, "the reply cannot be sent")
	}
	c.memory.settle()
	if reading { // there is no other one who could serve the next call meanwhile
		c.replied = time.Now()
		c.rt.Prepare(call)
		c.pollIf(call.Spare)
	}
	return reading
}

// pollIf makes the next read poll for a call, if calls come close together.
func (c *child) pollIf(spare bool) {
	if p, ok := c.stream.(poller); ok && spare && c.often {
		p.pollFor(pollFor)
	}
}

// Do asks the parent for one effect and waits for the answer.
func (c *child) Do(ctx context.Context, req worker.BrokerRequest) worker.BrokerReply {
	c.handOver()
	ch := make(chan worker.BrokerReply, 1)
	c.mu.Lock()
	c.next++
	id := c.next
	c.waiting[id] = ch
	c.mu.Unlock()
	args := req.Args
	req.Args = nil
	if err := c.conn.Send(worker.KindRequest, id, req, args); err != nil {
		return worker.BrokerReply{Failure: &worker.Failure{Code: string(fault.InvalidInput), Reason: "request-too-large", Message: "the arguments are too large to be sent"}}
	}
	select {
	case r := <-ch:
		return r
	case <-ctx.Done():
		return worker.BrokerReply{Failure: &worker.Failure{Code: string(fault.Interrupted), Reason: "cancelled", Message: "the call has ended"}}
	}
}

func (c *child) answer(f worker.Frame) {
	var r worker.BrokerReply
	if err := f.Decode(&r); err != nil {
		childExit(exitProtocol, "an answer that cannot be read")
	}
	r.Result = f.Body
	c.mu.Lock()
	ch := c.waiting[f.ID]
	delete(c.waiting, f.ID)
	c.mu.Unlock()
	if ch != nil {
		ch <- r
	}
}
