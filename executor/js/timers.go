package js

import (
	"container/heap"
	"context"
	"time"

	"github.com/dop251/goja"
)

const maxTimers = 1000

// timerQueue is the event loop's waiting room: due timers run in the order of
// their time, then of their making, on the goroutine that owns the call.
type timerQueue struct {
	items  timerHeap
	byID   map[int64]*timer
	lastID int64
	turn   time.Time // when the code that runs now began: one clock for all that it starts
}

type timer struct {
	at    time.Time
	id    int64
	fn    callee
	args  []goja.Value
	index int
}

func (q *timerQueue) add(fn callee, delay time.Duration, args []goja.Value) int64 {
	if q.byID == nil {
		q.byID = map[int64]*timer{}
	}
	if q.turn.IsZero() {
		q.turn = time.Now()
	}
	q.lastID++
	t := &timer{at: q.turn.Add(delay), id: q.lastID, fn: fn, args: args}
	heap.Push(&q.items, t)
	q.byID[t.id] = t
	return t.id
}

func (q *timerQueue) remove(id int64) {
	if t, ok := q.byID[id]; ok {
		heap.Remove(&q.items, t.index)
		delete(q.byID, id)
	}
}

// next waits for the first timer. It reports false when there is none or when
// ctx ends first.
func (q *timerQueue) next(ctx context.Context) (callee, []goja.Value, bool) {
	if len(q.items) == 0 {
		return nil, nil, false
	}
	if wait := time.Until(q.items[0].at); wait > 0 {
		clock := time.NewTimer(wait)
		defer clock.Stop()
		select {
		case <-clock.C:
		case <-ctx.Done():
			return nil, nil, false
		}
	}
	t := heap.Pop(&q.items).(*timer)
	delete(q.byID, t.id)
	q.turn = time.Now()
	return t.fn, t.args, true
}

func (s *session) setTimeout(call goja.FunctionCall) goja.Value {
	fn, ok := s.callable(call.Argument(0))
	if !ok {
		s.throwError("TypeError", "setTimeout needs a function; code in a string is not run")
	}
	if len(s.timers.items) >= maxTimers {
		s.throwError("RangeError", "too many timers wait at once")
	}
	ms := call.Argument(1).ToFloat()
	if !(ms >= 0) {
		ms = 0
	}
	delay := s.rt.opts.MaxTimeout
	if d := time.Duration(min(ms, 1e9)) * time.Millisecond; d < delay {
		delay = d
	}
	var args []goja.Value
	if len(call.Arguments) > 2 {
		args = append(args, call.Arguments[2:]...)
	}
	return s.vm.ToValue(s.timers.add(fn, delay, args))
}

func (s *session) clearTimeout(call goja.FunctionCall) goja.Value {
	s.timers.remove(call.Argument(0).ToInteger())
	return goja.Undefined()
}

type timerHeap []*timer

func (h timerHeap) Len() int { return len(h) }
func (h timerHeap) Less(i, j int) bool {
	if h[i].at.Equal(h[j].at) {
		return h[i].id < h[j].id
	}
	return h[i].at.Before(h[j].at)
}
func (h timerHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i]; h[i].index, h[j].index = i, j }
func (h *timerHeap) Push(x any)   { t := x.(*timer); t.index = len(*h); *h = append(*h, t) }
func (h *timerHeap) Pop() any {
	old := *h
	t := old[len(old)-1]
	*h = old[:len(old)-1]
	return t
}
