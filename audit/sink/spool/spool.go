// Package spool keeps the lines of an audit sink on disk until its
// destination has them: they survive a destination that is dead and a process
// that is, and are sent in order when both are back.
//
// A spool is a folder per process slot: segments of numbered, checksummed
// lines, and one small file that says how far the destination is and what it
// will not get. It is bounded. What does not fit is counted by reason, and the
// count is an event of the log (Reports). Lines are the masked lines of the
// chain and are sent byte for byte, at least once each: after a crash, some
// are sent again; their seq tells.
//
// Of best effort, Write returns when the line is in the file, which is synced
// once a second; what a crash kept from it is taken from the log. Required, it
// returns when the destination has it, and at once with the reason while the
// destination is known to be down; the sender goes on trying meanwhile, so
// that it recovers by itself, also without traffic.
package spool

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/internal/tick"
)

// Options say how a spool works. The zero value has the defaults.
type Options struct {
	Required bool          // Write waits for the destination
	MaxBytes int64         // of lines that wait, with their record heads; 0 = 64 MiB
	Timeout  time.Duration // of one attempt to send; 0 = 5 s
	Backoff  time.Duration // first pause after a failure, doubled each time up to MaxBackoff; 0 = 200 ms
	// MaxBackoff bounds the pause; 0 = 30 s, or 3 s if Required.
	MaxBackoff time.Duration
	Batch      int // most lines of one attempt; 0 = 500
	// Log is the file of the log. What a process that ended in the middle had
	// in it and not in its spool is taken from there. "" = it is not looked at.
	Log string
	// Notify is told, once each, of a failure, of the recovery (nil) and of
	// damage. It must not block.
	Notify func(error)

	tellEvery time.Duration // between two reports of a loss that goes on
}

const (
	slotMax     = 64
	lockName    = "lock"
	batchBytes  = 1 << 20
	closeWait   = 3 * time.Second // for what is left, at the end of the process
	orphanEvery = 10 * time.Second
	settleEvery = time.Second
	gatherFor   = 50 * time.Millisecond
	flushEvery  = time.Second
)

// Sink is an audit.Spooler in front of another audit.Sink. Safe for
// concurrent use.
type Sink struct {
	o      Options
	root   string
	slot   int
	lock   *flock.Flock
	target audit.Sink
	store  *store

	mu      sync.Mutex
	changed chan struct{} // closed and replaced when something below, or the store, changes
	down    error         // of the last attempt
	late    error         // a Write gave up while the destination was behind
	refused uint64        // number after the last batch of which it refused a line
	closing bool

	offers []offer   // the last Reports, under the lock of the store
	told   time.Time // when a loss was last reported, under that lock as well

	wake   chan struct{}
	ctx    context.Context // until the end of sending
	cancel context.CancelFunc
	done   chan struct{}
}

var _ audit.Spooler = (*Sink)(nil)

// Open opens the first spool under root that no living process uses, with
// what is left in it, and begins to send to target. The folders get mode
// 0700, files 0600. Close ends it and closes target.
func Open(root string, target audit.Sink, o Options) (*Sink, error) {
	setDefault(&o.MaxBytes, 64<<20)
	setDefault(&o.Timeout, 5*time.Second)
	setDefault(&o.Backoff, 200*time.Millisecond)
	setDefault(&o.Batch, 500)
	setDefault(&o.tellEvery, time.Minute)
	if o.Required {
		setDefault(&o.MaxBackoff, 3*time.Second)
	}
	setDefault(&o.MaxBackoff, 30*time.Second)
	if o.Notify == nil {
		o.Notify = func(error) {}
	}
	s := &Sink{o: o, root: root, target: target, changed: make(chan struct{}), wake: make(chan struct{}, 1), done: make(chan struct{})}
	for s.slot = 0; s.lock == nil; s.slot++ {
		if s.slot == slotMax {
			return nil, fmt.Errorf("%d processes use the spool %s already", slotMax, root)
		}
		if err := os.MkdirAll(s.dir(s.slot), dirPerm); err != nil {
			return nil, err
		}
		lock, ok, err := take(s.dir(s.slot))
		if err != nil {
			return nil, err
		}
		if ok {
			s.lock = lock
			break
		}
	}
	var err error
	if s.store, err = openStore(s.dir(s.slot), o.MaxBytes); err != nil {
		_ = s.lock.Unlock()
		return nil, err
	}
	if err := s.store.resume(o.Log, o.Required); err != nil {
		return nil, errors.Join(err, s.store.close(), s.lock.Unlock())
	}
	for _, d := range s.store.damages {
		o.Notify(d)
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	go s.run()
	go s.flush()
	return s, nil
}

func setDefault[T comparable](v *T, def T) {
	var zero T
	if *v == zero {
		*v = def
	}
}

func (s *Sink) dir(slot int) string { return filepath.Join(s.root, strconv.Itoa(slot)) }

func take(dir string) (*flock.Flock, bool, error) {
	l := flock.New(filepath.Join(dir, lockName), flock.SetPermissions(filePerm))
	ok, err := l.TryLock()
	return l, ok, err
}

// Write keeps the lines; see the package for when it returns. A required one
// is synced to the spool, so that a power cut loses none that the chain has.
func (s *Sink) Write(ctx context.Context, lines [][]byte, durable bool) error {
	s.mu.Lock()
	if s.closing {
		s.mu.Unlock()
		return os.ErrClosed
	}
	s.mu.Unlock()
	from := s.store.end()
	err := s.store.append(lines, durable && s.o.Required)
	s.kick()
	if !s.o.Required {
		return nil // what was not kept is counted here
	}
	if err != nil {
		return err
	}
	return s.await(ctx, from, s.store.end())
}

// flush bounds what a power cut takes from a spool of best effort.
func (s *Sink) flush() {
	for range tick.Every(s.ctx, flushEvery) {
		s.store.flush()
	}
}

func (s *Sink) kick() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// await waits until the destination has the records before n, from on.
func (s *Sink) await(ctx context.Context, from, n uint64) error {
	for {
		s.mu.Lock()
		changed, err, refused := s.changed, s.unready(), s.refused > from
		s.mu.Unlock()
		switch {
		case refused:
			return errors.New("the destination refused a line for good")
		case s.store.sent() >= n:
			return nil
		case err != nil:
			return err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			s.mu.Lock()
			defer s.mu.Unlock()
			// The next caller need not wait as long to learn the same.
			s.late = fmt.Errorf("the destination takes lines too slowly: %w", ctx.Err())
			return s.late
		}
	}
}

// unready is Ready under the lock.
func (s *Sink) unready() error {
	if s.down != nil {
		return s.down
	}
	return s.late
}

// Ready implements audit.Spooler.
func (s *Sink) Ready() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.unready()
}

// Close sends what is left as long as the destination takes it, for at most
// three seconds; what is left then stays in the spool for the next process.
func (s *Sink) Close() error {
	s.mu.Lock()
	if s.closing {
		s.mu.Unlock()
		return nil
	}
	s.closing = true
	s.mu.Unlock()
	s.kick()
	select {
	case <-s.done:
	case <-time.After(closeWait):
	}
	s.cancel()
	select {
	case <-s.done:
	case <-time.After(s.o.Timeout):
		// A target that never returns keeps its goroutine, not the process.
	}
	return errors.Join(s.target.Close(), s.store.close(), s.lock.Unlock())
}
