package audit

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolwarrant/toolwarrant/fault"
)

// SinkOption adds a place that gets the lines of this process after they are
// in the file, in the order of the chain.
type SinkOption struct {
	Name string // for messages
	Sink Sink
	// Required: a failure refuses the calls of the batch with
	// AUDIT_UNAVAILABLE, reason "sink". Otherwise the sink gets its lines
	// from a bounded queue of its own and never delays a call; what does not
	// fit is counted, and the count is recorded.
	Required bool
}

const (
	// sinkQueue is how many batches wait for a best-effort sink.
	sinkQueue = 256
	// keepWait is how long a commit lets a best-effort Spooler take the lines
	// into its spool, so that a process that is killed has them there. One
	// that needs longer is not waited for again until its queue is empty.
	keepWait = 20 * time.Millisecond
)

// sinks are the additional places of a writer.
type sinks struct {
	must []SinkOption
	best []*bestEffort
}

// bestEffort feeds one sink from a queue.
type bestEffort struct {
	SinkOption
	queue chan sinkBatch
	lost  atomic.Int64 // lines that the sink did not get
	told  int64        // of them, how many the chain says; the reporter's
	slow  bool         // it let a commit wait in vain; the committer's
	done  chan struct{}
}

type sinkBatch struct {
	lines [][]byte
	sync  bool
	taken chan struct{} // closed when the sink has them; nil = nobody waits
}

func startSinks(options []SinkOption) *sinks {
	s := &sinks{}
	for _, o := range options {
		if o.Required {
			s.must = append(s.must, o)
			continue
		}
		b := &bestEffort{SinkOption: o, queue: make(chan sinkBatch, sinkQueue), done: make(chan struct{})}
		s.best = append(s.best, b)
		go b.run()
	}
	return s
}

func (s *sinks) required() bool { return len(s.must) > 0 }
func (s *sinks) none() bool     { return len(s.must) == 0 && len(s.best) == 0 }

// ready is nil unless a required sink is known to be down.
func (s *sinks) ready() error {
	for _, o := range s.must {
		if k, ok := o.Sink.(Spooler); ok {
			if err := k.Ready(); err != nil {
				return refusedBy(o.Name, err)
			}
		}
	}
	return nil
}

func refusedBy(name string, err error) error {
	return fault.New(fault.AuditUnavailable, ReasonSink,
		"the required audit sink %q did not take the record; repair it, calls go on by themselves then", name).Because(err)
}

// deliver hands a batch to every sink and gives the failure of a required
// one. Only the committer calls it.
func (s *sinks) deliver(ctx context.Context, lines [][]byte, durable bool) error {
	if len(lines) == 0 {
		return s.ready()
	}
	for _, b := range s.best {
		b.offer(lines, durable)
	}
	var wg sync.WaitGroup
	errs := make([]error, len(s.must))
	for i, o := range s.must {
		wg.Go(func() { errs[i] = writeSink(ctx, o.Sink, lines, durable) })
	}
	wg.Wait()
	for i, err := range errs {
		if err != nil {
			return refusedBy(s.must[i].Name, err)
		}
	}
	return nil
}

// writeSink keeps a sink that panics, or that does not return, from taking
// the log with it.
func writeSink(ctx context.Context, s Sink, lines [][]byte, durable bool) error {
	result := make(chan error, 1)
	go func() {
		defer func() {
			if r := recover(); r != nil {
				result <- fmt.Errorf("sink panicked: %v", r)
			}
		}()
		result <- s.Write(ctx, lines, durable)
	}()
	select {
	case err := <-result:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// offer puts a batch into the queue, or counts it. Only a Spooler is given a
// moment to take it, and only while it answers in time.
func (b *bestEffort) offer(lines [][]byte, durable bool) {
	batch := sinkBatch{lines: lines, sync: durable}
	if _, keeps := b.Sink.(Spooler); keeps && (!b.slow || len(b.queue) == 0) {
		batch.taken = make(chan struct{})
	}
	select {
	case b.queue <- batch:
	default:
		b.lost.Add(int64(len(lines)))
		return
	}
	if batch.taken == nil {
		return
	}
	timer := time.NewTimer(keepWait)
	defer timer.Stop()
	select {
	case <-batch.taken:
		b.slow = false
	case <-timer.C:
		b.slow = true
	}
}

func (b *bestEffort) run() {
	defer close(b.done)
	for batch := range b.queue {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		if err := writeSink(ctx, b.Sink, batch.lines, batch.sync); err != nil {
			b.lost.Add(int64(len(batch.lines)))
		}
		cancel()
		if batch.taken != nil {
			close(batch.taken)
		}
	}
}

// close ends all sinks and gives the first error. A best-effort sink may
// finish its queue until ctx ends.
func (s *sinks) close(ctx context.Context) (err error) {
	for _, b := range s.best {
		close(b.queue)
	}
	for _, b := range s.best {
		select {
		case <-b.done:
		case <-ctx.Done():
		}
	}
	// All at once: each may take its time to deliver what it still has.
	all := s.all()
	errs := make([]error, len(all))
	var wg sync.WaitGroup
	for i, o := range all {
		wg.Go(func() { errs[i] = o.Sink.Close() })
	}
	wg.Wait()
	for _, e := range errs {
		if err == nil {
			err = e
		}
	}
	return err
}

func (s *sinks) all() []SinkOption {
	var all []SinkOption
	for _, b := range s.best {
		all = append(all, b.SinkOption)
	}
	return append(all, s.must...)
}

// LostLines says how many lines each best-effort sink did not get. They are
// in the file all the same. Safe for concurrent use.
func (w *Writer) LostLines() map[string]int64 {
	out := map[string]int64{}
	for _, b := range w.sinks.best {
		out[b.Name] += b.lost.Load()
	}
	return out
}
