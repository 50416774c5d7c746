package runner

import "github.com/tetratelabs/wazero/experimental"

// memory gives an instance its linear memories, which it has at most limit
// bytes of, and remembers whether it wanted more. Each is a mapping of its
// own, reserved at once: growing copies nothing, the pages are zero because
// the system made them so, and free gives them back whole.
type memory struct {
	limit uint64
	used  uint64
	peak  int64
	hit   bool
	all   []*linear
}

// linear is one memory.
type linear struct {
	owner    *memory
	reserved []byte
	size     uint64
}

var _ experimental.MemoryAllocator = (*memory)(nil)

// Allocate reserves addresses for one memory. A module that starts with more
// than the limit gets a memory that cannot hold it; the runtime then panics,
// which run recovers.
func (m *memory) Allocate(_, most uint64) experimental.LinearMemory {
	l := &linear{owner: m}
	if space, err := reserve(min(most, m.limit)); err == nil {
		l.reserved = space
	}
	m.all = append(m.all, l)
	return l
}

// Reallocate grows to size bytes, or gives nil.
func (l *linear) Reallocate(size uint64) []byte {
	m := l.owner
	if size > uint64(len(l.reserved)) || size < l.size || m.used+size-l.size > m.limit {
		m.hit = true
		return nil
	}
	m.used += size - l.size
	m.peak = max(m.peak, int64(m.used))
	l.size = size
	return l.reserved[:size:size]
}

// Free does nothing yet: the instance may be closed in the middle of a call,
// and memory.free comes after it.
func (l *linear) Free() {}

// free gives everything back. No instance may be left.
func (m *memory) free() {
	for _, l := range m.all {
		release(l.reserved)
		l.reserved = nil
	}
	m.all = nil
}
