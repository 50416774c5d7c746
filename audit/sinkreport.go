package audit

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/toolwarrant/toolwarrant/fault"
)

// Spooler is a Sink that keeps what it took until its destination has it,
// such as a spool on disk (package audit/sink/spool). Its methods are safe
// for concurrent use and return at once, save Write and Close.
//
// A required Spooler's Write returns when the destination has the lines; one
// of best effort when they are kept.
type Spooler interface {
	Sink
	// Ready is nil, or why lines do not reach the destination now.
	Ready() error
	// Status says how far the destination is behind.
	Status() SpoolStatus
	// Reports gives the events that tell what became of lines that will not
	// reach the destination, as far as they are due.
	Reports(now time.Time) []Event
	// Reported says that the first n events of Reports are in the chain.
	Reported(n int)
}

// SpoolStatus is how far the destination of a Spooler is behind.
type SpoolStatus struct {
	Waiting int64     // records that the destination does not have yet
	Oldest  time.Time // time of the oldest of them, zero if there is none
	Lost    int64     // records that it will not get, ever since the spool was made
}

// Behind is the age of the oldest record that waits, 0 where none does.
func (s SpoolStatus) Behind(now time.Time) time.Duration {
	if s.Oldest.IsZero() {
		return 0
	}
	return max(0, now.Sub(s.Oldest))
}

// SinkStatus is how one sink does.
type SinkStatus struct {
	Name     string
	Required bool
	SpoolStatus
	Err error // why lines do not reach it now; nil = they do, or nobody knows
}

// Sinks says how each sink does, those of best effort first. Safe for
// concurrent use.
func (w *Writer) Sinks() []SinkStatus {
	var out []SinkStatus
	for _, b := range w.sinks.best {
		st := statusOf(b.SinkOption)
		st.Lost += b.lost.Load()
		out = append(out, st)
	}
	for _, o := range w.sinks.must {
		out = append(out, statusOf(o))
	}
	return out
}

func statusOf(o SinkOption) SinkStatus {
	st := SinkStatus{Name: o.Name, Required: o.Required}
	if k, ok := o.Sink.(Spooler); ok {
		st.SpoolStatus, st.Err = k.Status(), k.Ready()
	}
	return st
}

// reportEvery is how often it is looked for something to put on record about
// the sinks.
const reportEvery = time.Second

// watch calls a function from time to time, and once more at its end. It is
// how what sinks lost comes into the log.
type watch struct {
	once       sync.Once
	stop, done chan struct{}
}

func (v *watch) begin(report func(last bool)) {
	v.stop, v.done = make(chan struct{}), make(chan struct{})
	go func() {
		defer close(v.done)
		tick := time.NewTicker(reportEvery)
		defer tick.Stop()
		for {
			select {
			case <-v.stop:
				report(true)
				return
			case <-tick.C:
				report(false)
			}
		}
	}()
}

// end waits for the last report, or for ctx. A second end does nothing.
func (v *watch) end(ctx context.Context) {
	v.once.Do(func() {
		close(v.stop)
		select {
		case <-v.done:
		case <-ctx.Done():
		}
	})
}

// reportSinks writes one event for each loss that the chain does not tell
// yet. What cannot be written now is tried again, unless it is the last time.
func (w *Writer) reportSinks(last bool) {
	for _, o := range w.sinks.all() {
		k, ok := o.Sink.(Spooler)
		if !ok {
			continue
		}
		n := 0
		for _, e := range k.Reports(w.now()) {
			if !w.tell(o.Name, e) {
				break
			}
			n++
		}
		if n > 0 {
			k.Reported(n)
		}
	}
	for _, b := range w.sinks.best {
		// An event adds to a queue that is full; so it waits for its end,
		// as long as there is time for that.
		if n := b.lost.Load() - b.told; n > 0 && (last || len(b.queue) == 0) {
			if w.tell(b.Name, Event{Kind: "sink.lost", Detail: map[string]any{"reason": "queue", "lines": n}}) {
				b.told += n
			}
		}
	}
}

// tell writes an event about a sink and reports whether the file has it.
func (w *Writer) tell(sink string, e Event) bool {
	e.Detail["sink"] = sink
	err := w.Event(context.Background(), e, nil)
	return err == nil || InLog(err)
}

// InLog reports whether a record whose method failed with err is in the log
// all the same, and a required sink alone does not have it yet. A call must
// not go on then; who starts up may, and refuses calls until the sink is back.
func InLog(err error) bool {
	var f *fault.Error
	return errors.As(err, &f) && f.Code == fault.AuditUnavailable && f.Reason == ReasonSink
}
