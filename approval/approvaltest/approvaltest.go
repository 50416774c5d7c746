// Package approvaltest helps tests of what stands on package approval: a
// store in memory, a fixed keyring, sample values, and Run, the contract that
// every approval.Store has to pass. Only tests import it.
package approvaltest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/toolwarrant/toolwarrant/approval"
	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/keyring"
)

// Memory is an approval.Store for one process. The zero value is ready.
type Memory struct {
	mu      sync.Mutex
	entries map[string]approval.Pending
	one     sync.Mutex
}

var _ approval.Store = (*Memory)(nil)

// Create stores p.
func (m *Memory) Create(ctx context.Context, p approval.Pending) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.entries[p.ID]; ok {
		return fmt.Errorf("%s exists: %w", p.ID, approval.ErrConflict)
	}
	if m.entries == nil {
		m.entries = map[string]approval.Pending{}
	}
	m.entries[p.ID] = p
	return ctx.Err()
}

// Get gives the entry.
func (m *Memory) Get(ctx context.Context, id string) (approval.Pending, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p, ok := m.entries[id]
	if !ok {
		return p, approval.NotFound(id)
	}
	return p, ctx.Err()
}

// List gives all entries, oldest first.
func (m *Memory) List(ctx context.Context) ([]approval.Pending, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []approval.Pending
	for _, p := range m.entries {
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b approval.Pending) int {
		if c := a.CreatedAt.Compare(b.CreatedAt); c != 0 {
			return c
		}
		return strings.Compare(a.ID, b.ID)
	})
	return all, ctx.Err()
}

// Transition moves id from one state to another.
func (m *Memory) Transition(ctx context.Context, id string, from, to approval.State, change func(*approval.Pending)) (approval.Pending, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p, ok := m.entries[id]
	switch {
	case !ok:
		return p, approval.NotFound(id)
	case p.State != from:
		return p, fmt.Errorf("%s is %s: %w", id, p.State, approval.ErrConflict)
	}
	if change != nil {
		change(&p)
	}
	p.ID, p.State = id, to
	m.entries[id] = p
	return p, ctx.Err()
}

// Exclusively runs f alone.
func (m *Memory) Exclusively(ctx context.Context, f func(context.Context) error) error {
	m.one.Lock()
	defer m.one.Unlock()
	return f(ctx)
}

// Delete removes an entry.
func (m *Memory) Delete(ctx context.Context, id string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.entries, id)
	return ctx.Err()
}

// Keys is a keyring with fixed keys. The first id is the current one.
type Keys []string

var _ keyring.Keyring = Keys(nil)

// Current gives the key of the first id.
func (k Keys) Current(p keyring.Purpose) (keyring.Key, error) {
	if len(k) == 0 {
		return keyring.Key{}, fmt.Errorf("no key")
	}
	return key(p, k[0]), nil
}

// Lookup gives the key of one of the ids.
func (k Keys) Lookup(p keyring.Purpose, id string) (keyring.Key, bool, error) {
	return key(p, id), slices.Contains(k, id), nil
}

func key(p keyring.Purpose, id string) keyring.Key {
	b := make([]byte, 32)
	copy(b, id+string(p))
	return keyring.Key{ID: id, Bytes: b}
}

// Clock is a clock that tests move. Safe for concurrent use.
type Clock struct {
	mu sync.Mutex
	t  time.Time
}

// NewClock starts at a fixed moment.
func NewClock() *Clock { return &Clock{t: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)} }

// Now is the clock's time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

// Add moves the clock.
func (c *Clock) Add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}

// Binding is a sample of a whole binding, before it is asked.
func Binding() approval.Binding {
	return approval.Binding{
		CallID: "call-1", ToolID: "tool-1", SpecDigest: "sha256:aa", ParamsDigest: "hmac-sha256:k:bb",
		DecisionDigest: "sha256:cc",
		Principal: decision.Principal{
			Subject: "alice", Method: "oidc", ClientID: "agent", Groups: []string{"dev", "ops"}, Scopes: []string{"call"},
		},
	}
}
