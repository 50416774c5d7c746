package server

import (
	"math"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// sized remembers values up to a number of bytes, and forgets first what was
// not asked for longest. Safe for concurrent use.
type sized[K comparable, V any] struct {
	mu    sync.Mutex
	limit int
	bytes int
	known *simplelru.LRU[K, weighed[V]]
}

type weighed[V any] struct {
	value V
	bytes int
}

func newSized[K comparable, V any](limit int) *sized[K, V] {
	s := &sized[K, V]{limit: limit}
	known, err := simplelru.NewLRU(math.MaxInt, func(_ K, v weighed[V]) { s.bytes -= v.bytes })
	if err != nil { // only a size below one is an error
		panic(err)
	}
	s.known = known
	return s
}

func (s *sized[K, V]) get(k K) (V, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, ok := s.known.Get(k)
	return v.value, ok
}

// add remembers a value that takes so many bytes. One that is larger than the
// limit is not remembered.
func (s *sized[K, V]) add(k K, v V, bytes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known.Remove(k)
	if bytes > s.limit {
		return
	}
	s.known.Add(k, weighed[V]{v, bytes})
	for s.bytes += bytes; s.bytes > s.limit; {
		s.known.RemoveOldest()
	}
}

// size is how many bytes the remembered values take.
func (s *sized[K, V]) size() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bytes
}
