package spool

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"time"

	"github.com/toolwarrant/toolwarrant/audit/sink"
)

// longestLater bounds what a destination may say about when to come back.
const longestLater = time.Minute

// Settler is a destination that does not say when it has a line, and so may
// have to send some again. It is called once a second while nothing waits.
type Settler interface {
	Settle(ctx context.Context) error
}

// run sends what waits, in order, until Close.
func (s *Sink) run() {
	defer close(s.done)
	limit, fails := s.o.Batch, 0
	orphans := time.Time{}
	for s.ctx.Err() == nil {
		b, err := s.store.read(limit, batchBytes)
		var refused int64
		if err == nil && len(b.lines) > 0 {
			refused, err = s.send(b.lines)
		}
		var big *sink.TooLarge
		if errors.As(err, &big) {
			if len(b.lines) > 1 {
				limit = len(b.lines) / 2
				continue
			}
			refused, err = 1, nil
		}
		if err != nil {
			fails++
			s.failed(err)
			if s.closes() || !s.pause(fails, err) {
				return
			}
			continue
		}
		fails = 0
		idle := len(b.lines) == 0
		s.advance(b, refused)
		limit = min(limit*2, s.o.Batch)
		if !idle {
			if !s.o.Required && len(b.lines) < limit/2 {
				s.gather()
			}
			continue
		}
		if s.closes() {
			return
		}
		if time.Since(orphans) > orphanEvery {
			orphans = time.Now()
			if err := s.adopt(); err != nil {
				s.failed(err)
				fails++
				if !s.pause(fails, err) {
					return
				}
				continue
			}
		}
		s.idle()
	}
}

// send makes one attempt. It gives how many lines the destination refused.
func (s *Sink) send(lines [][]byte) (refused int64, err error) {
	err = s.attempt(func(ctx context.Context) error { return s.target.Write(ctx, lines, true) })
	var r *sink.Refused
	if errors.As(err, &r) {
		s.o.Notify(err)
		return min(r.Lines, int64(len(lines))), nil
	}
	return 0, err
}

// attempt bounds f in time, whether it looks at its context or not. A second
// one does not begin before the first has returned.
func (s *Sink) attempt(f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(s.ctx, s.o.Timeout)
	defer cancel()
	result := make(chan error, 1)
	go func() {
		defer func() {
			if r := recover(); r != nil {
				result <- fmt.Errorf("the sink panicked: %v", r)
			}
		}()
		result <- f(ctx)
	}()
	select {
	case err := <-result:
		return err
	case <-ctx.Done():
	}
	grace := time.NewTimer(time.Second)
	defer grace.Stop()
	select {
	case err := <-result:
		return err
	case <-grace.C:
	}
	s.failed(fmt.Errorf("the destination does not answer: %w", ctx.Err()))
	select {
	case err := <-result: // it may have taken them after all
		return err
	case <-s.ctx.Done():
		return s.ctx.Err()
	}
}

// failed makes the failure known to who waits.
func (s *Sink) failed(err error) {
	if s.ctx.Err() != nil {
		return
	}
	s.mu.Lock()
	news := s.down == nil
	s.down = err
	s.signal()
	s.mu.Unlock()
	if news {
		s.o.Notify(err)
	}
}

// advance makes known that a batch is dealt with.
func (s *Sink) advance(b batch, refused int64) {
	moved := len(b.lines) > 0 || len(b.damages) > 0
	if refused > 0 {
		s.mu.Lock()
		s.refused = b.next
		s.mu.Unlock()
	}
	if moved || b.to != s.store.at {
		s.store.done(b, refused)
	}
	for _, d := range b.damages {
		s.o.Notify(d)
	}
	if !moved {
		return
	}
	behind := s.store.sent() < s.store.end()
	s.mu.Lock()
	up := s.down != nil
	s.down = nil
	if !behind {
		s.late = nil
	}
	s.signal()
	s.mu.Unlock()
	if up {
		s.o.Notify(nil)
	}
}

// signal wakes who waits; the caller holds mu.
func (s *Sink) signal() {
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *Sink) closes() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closing
}

// pause waits before the next attempt: twice as long after each failure, the
// half of it at random, so that many processes do not come back at once. It
// is false when the sink ends meanwhile.
func (s *Sink) pause(fails int, err error) bool {
	d := s.o.MaxBackoff
	if fails < 20 {
		d = min(d, s.o.Backoff<<(fails-1))
	}
	d = d/2 + rand.N(d/2+1)
	var later *sink.Later
	if errors.As(err, &later) {
		d = max(d, min(later.After, longestLater))
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
			return true
		case <-s.ctx.Done():
			return false
		case <-s.wake: // more to send is no reason to try sooner
			if s.closes() {
				return false
			}
		}
	}
}

// gather lets lines come together, so that a destination that nobody waits
// for gets a few large batches and not one for each commit.
func (s *Sink) gather() {
	timer := time.NewTimer(gatherFor)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
			return
		case <-s.ctx.Done():
			return
		case <-s.wake:
			if s.closes() {
				return
			}
		}
	}
}

// idle waits for something to do.
func (s *Sink) idle() {
	timer := time.NewTimer(settleEvery)
	defer timer.Stop()
	select {
	case <-s.wake:
		return
	case <-s.ctx.Done():
		return
	case <-timer.C:
	}
	if t, ok := s.target.(Settler); ok {
		if err := s.attempt(t.Settle); err != nil {
			s.failed(err)
			return
		}
	}
	// A destination that failed is up again, as far as anybody knows, when
	// nothing is left to send.
	s.mu.Lock()
	up := s.down != nil
	s.down = nil
	if up {
		s.signal()
	}
	s.mu.Unlock()
	if up {
		s.o.Notify(nil)
	}
}

// adopt sends what dead processes left in the spools beside this one.
func (s *Sink) adopt() error {
	for slot := range slotMax {
		dir := s.dir(slot)
		if _, err := os.Stat(dir); err != nil {
			return nil // slots are made in order
		}
		if slot == s.slot {
			continue
		}
		lock, ok, err := take(dir)
		if err != nil || !ok {
			continue
		}
		err = s.drain(dir)
		_ = lock.Unlock()
		if err != nil {
			return err
		}
	}
	return nil
}

// drain sends all of another spool. What it lost and nobody told becomes a
// loss of this one.
func (s *Sink) drain(dir string) error {
	other, err := openStore(dir, s.o.MaxBytes)
	if err != nil {
		return err
	}
	defer other.close()
	if err := other.resume(s.o.Log, s.o.Required); err != nil {
		return err
	}
	for {
		b, err := other.read(s.o.Batch, batchBytes)
		if err != nil {
			return err
		}
		var refused int64
		if len(b.lines) > 0 {
			if refused, err = s.send(b.lines); err != nil {
				return err
			}
		}
		if b.next > other.sent() || len(b.damages) > 0 {
			other.done(b, refused)
		}
		if len(b.lines) == 0 {
			s.inherit(other)
			return nil
		}
		if s.ctx.Err() != nil || s.closes() {
			return nil
		}
	}
}

// inherit takes over what another spool has to tell.
func (s *Sink) inherit(other *store) {
	s.store.mu.Lock()
	defer s.store.mu.Unlock()
	for _, reason := range reasons {
		if n := other.st.Lost[reason] - other.st.Told[reason]; n > 0 {
			s.store.st.Lost[reason] += n
			other.st.Told[reason] += n
		}
	}
	s.store.damages = append(s.store.damages, other.damages...)
	for _, d := range other.damages {
		s.o.Notify(d)
	}
	_ = s.store.st.write(s.store.f)
}
