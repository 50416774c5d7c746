package process

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"

	"github.com/toolwarrant/toolwarrant/executor/worker"
	"github.com/toolwarrant/toolwarrant/fault"
)

// Memory of a call is what the heap of its worker grows by over the idle
// worker. Two things bound it. This watch looks every few milliseconds and
// ends a call whose live objects are beyond the limit: exact, except for what
// is allocated between two looks. The wall of the system (confine.Group),
// which the parent sets wallRoom above the limit, stops what comes faster, or
// from inside native code: it costs the worker its life.
const (
	watchEvery = 5 * time.Millisecond
	wallRoom   = 64 << 20
	// collectEvery bounds the collections that a call can force.
	collectEvery = 100 * time.Millisecond
	// untidy is how much garbage may stay behind a call.
	untidy = 32 << 20
)

const (
	heapObjects = "/memory/classes/heap/objects:bytes"
	totalMemory = "/memory/classes/total:bytes"
)

// memory measures the one call of a worker.
type memory struct {
	idle  int64 // bytes of heap objects between calls
	total int64 // bytes of everything then
	limit int64 // that the collector knows
}

func (m *memory) init() {
	runtime.GC()
	m.idle, m.total = read(heapObjects), read(totalMemory)
}

func read(name string) int64 {
	s := [1]metrics.Sample{{Name: name}}
	metrics.Read(s[:])
	return int64(s[0].Value.Uint64())
}

// watch ends the call with RESOURCE_LIMIT/memory when it holds more than
// limit bytes, 0 = no limit. The function that it gives ends the watch and
// says how much the heap had grown at most, as far as was seen.
func (m *memory) watch(limit int64, end context.CancelCauseFunc) (used func() int64) {
	if limit <= 0 {
		return func() int64 { return m.grown() }
	}
	if limit != m.limit {
		// The collector works harder when the limit is near.
		debug.SetMemoryLimit(m.total + limit)
		m.limit = limit
	}
	var mu sync.Mutex
	var most int64
	var collected time.Time
	var timer *time.Timer
	stopped := false
	look := func() {
		mu.Lock()
		defer mu.Unlock()
		if stopped {
			return
		}
		g := m.grown()
		if g > limit && time.Since(collected) >= collectEvery {
			runtime.GC()
			collected = time.Now()
			if g = m.grown(); g > limit {
				end(tooMuchMemory(limit))
				most = max(most, g)
				return
			}
		}
		most = max(most, min(g, limit))
		timer.Reset(watchEvery)
	}
	mu.Lock()
	timer = time.AfterFunc(watchEvery, look)
	mu.Unlock()
	return func() int64 {
		timer.Stop()
		mu.Lock()
		defer mu.Unlock()
		stopped = true
		return max(most, min(m.grown(), limit))
	}
}

func (m *memory) grown() int64 { return max(0, read(heapObjects)-m.idle) }

// settle takes the worker back to idle after a reply has left.
func (m *memory) settle() {
	if m.grown() > untidy {
		runtime.GC()
		m.idle = read(heapObjects)
	}
}

func tooMuchMemory(limit int64) *worker.Failure {
	return &worker.Failure{Code: string(fault.ResourceLimit), Reason: "memory",
		Message: fmt.Sprintf("the code needed more than %d bytes of memory", limit)}
}
