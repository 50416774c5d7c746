package allow

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
)

// Entries that one Log keeps. The two kinds have a bound each, so that a flood
// of refused names cannot push out what was reached.
const (
	MaxAllowed = 1000
	MaxRefused = 1000
)

// record is one entry while it may still change.
type record struct {
	began   time.Time
	in, out atomic.Int64

	mu    sync.Mutex
	entry sandbox.Connection
	logs  []*Log
}

// moved adds bytes to the record and to the sums of the logs that have it.
func (r *record) moved(in, out int64) {
	r.in.Add(in)
	r.out.Add(out)
	r.mu.Lock()
	logs := r.logs
	r.mu.Unlock()
	for _, l := range logs {
		l.in.Add(in)
		l.out.Add(out)
	}
}

// end closes the record; the first reason stays.
func (r *record) end(reason string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.entry.Reason == "" {
		r.entry.Reason = reason
	}
	if !r.began.IsZero() && r.entry.Duration == 0 {
		r.entry.Duration = time.Since(r.began)
	}
}

// refuse takes an allowance back, after a look at what is sent.
func (r *record) refuse(reason string) {
	r.mu.Lock()
	r.entry.Allowed = false
	r.mu.Unlock()
	r.end(reason)
}

func (r *record) snapshot() sandbox.Connection {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.entry
	c.In, c.Out = r.in.Load(), r.out.Load()
	if c.Duration == 0 && !r.began.IsZero() {
		c.Duration = time.Since(r.began)
	}
	return c
}

// A Log is what a sandbox asks for from one moment on: that of Proxy.Log, until
// Close. It is safe for concurrent use.
type Log struct {
	proxy   *Proxy
	in, out atomic.Int64

	mu      sync.Mutex
	records []*record
	kept    [2]int // refused, allowed
	missed  int
	refused map[refusal]bool
}

// A refusal that is repeated is one entry: resolvers ask several times.
type refusal struct {
	host, reason string
	port         int
}

// Log begins a ledger. What began before it is not in it.
func (p *Proxy) Log() *Log {
	l := &Log{proxy: p, refused: map[refusal]bool{}}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.logs[l] = true
	return l
}

// Close ends the ledger; it can still be read.
func (l *Log) Close() {
	l.proxy.mu.Lock()
	defer l.proxy.mu.Unlock()
	delete(l.proxy.logs, l)
}

// Connections gives the entries in the order of their decisions, as they are
// now, and the number of those that did not fit. A refusal that came again is
// one entry.
func (l *Log) Connections() (list []sandbox.Connection, missed int) {
	l.mu.Lock()
	records, missed := slices.Clone(l.records), l.missed
	l.mu.Unlock()
	for _, r := range records {
		list = append(list, r.snapshot())
	}
	return list, missed
}

// Bytes are those that the connections brought to the sandbox and took from
// it, also of those that did not fit.
func (l *Log) Bytes() (in, out int64) { return l.in.Load(), l.out.Load() }

func (l *Log) add(r *record, c sandbox.Connection) {
	l.mu.Lock()
	defer l.mu.Unlock()
	kind, limit := 1, MaxAllowed
	if !c.Allowed {
		kind, limit = 0, MaxRefused
		key := refusal{c.Host, c.Reason, c.Port}
		if l.refused[key] {
			return
		}
		if l.kept[0] < limit {
			l.refused[key] = true
		}
	}
	if l.kept[kind] == limit {
		l.missed++
		return
	}
	l.kept[kind]++
	l.records = append(l.records, r)
}

// note puts a decision into every ledger that is open.
func (p *Proxy) note(r *record) {
	p.mu.Lock()
	logs := make([]*Log, 0, len(p.logs))
	for l := range p.logs {
		logs = append(logs, l)
	}
	p.mu.Unlock()
	r.mu.Lock()
	r.logs = logs
	c := r.entry
	r.mu.Unlock()
	for _, l := range logs {
		l.add(r, c)
	}
}
