package server

import (
	"crypto/sha256"
	"math"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// listKey is the digest of all that the bytes of a list, or of a segment of
// one, follow from.
type listKey [sha256.Size]byte

// listMemory remembers encoded lists up to a number of bytes, and forgets first
// what was not asked for longest. A segment counts once, in however many lists
// it is. Safe for concurrent use.
type listMemory struct {
	mu       sync.Mutex
	limit    int
	bytes    int
	lists    *simplelru.LRU[listKey, *List]
	segments map[listKey]*inLists
}

// inLists is a segment and the number of remembered lists that it is in.
type inLists struct {
	*segment
	lists int
}

func newListMemory(limit int) *listMemory {
	m := &listMemory{limit: limit, segments: map[listKey]*inLists{}}
	lists, err := simplelru.NewLRU(math.MaxInt, func(_ listKey, l *List) { m.count(l, -1) })
	if err != nil { // only a size below one is an error
		panic(err)
	}
	m.lists = lists
	return m
}

// count adds a list to the segments that are in use, or takes it away.
func (m *listMemory) count(l *List, by int) {
	const own = 256 // of a list beside its segments, and each of those
	m.bytes += by * (own + 8*len(l.segments))
	for _, s := range l.segments {
		in, ok := m.segments[s.key]
		if !ok {
			in = &inLists{segment: s}
			m.segments[s.key] = in
			m.bytes += s.size()
		}
		if in.lists += by; in.lists == 0 {
			delete(m.segments, s.key)
			m.bytes -= s.size()
		}
	}
}

// list finds a list.
func (m *listMemory) list(k listKey) (*List, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.lists.Get(k)
}

// segment finds a segment of any list that is remembered.
func (m *listMemory) segment(k listKey) (*segment, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if in, ok := m.segments[k]; ok {
		return in.segment, true
	}
	return nil, false
}

// add remembers a list, unless it alone is larger than the limit.
func (m *listMemory) add(k listKey, l *List) {
	alone := 0
	for _, s := range l.segments {
		alone += s.size()
	}
	if alone > m.limit {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lists.Remove(k)
	m.lists.Add(k, l)
	m.count(l, 1)
	for m.bytes > m.limit && m.lists.Len() > 0 {
		m.lists.RemoveOldest()
	}
}
