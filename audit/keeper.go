package audit

import (
	"context"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gofrs/flock"

	"github.com/toolwarrant/toolwarrant/audit/checkpoint"
)

// Rotation says when the file that grows becomes a closed segment. The zero
// value is never.
type Rotation struct {
	Bytes int64         // once it is so long, 0 = never for its size
	After time.Duration // once its first record is so old, 0 = never for its age
}

const (
	// keepEvery is how often a keeper looks by itself.
	keepEvery = time.Minute
	// keepLock is held by the one process that compresses and removes.
	keepLock = ".segments.lock"
)

// keeper rotates, compresses and removes, beside the calls: they wait for the
// few milliseconds of a rotation alone.
type keeper struct {
	w      *Writer
	rotate Rotation
	retain Retention
	sign   func(checkpoint.Removal) ([]byte, error)
	step   func(string) error // for tests that stop there

	size  atomic.Int64 // of the file that grows, as this process saw it last
	began atomic.Int64 // time of its first record, in ns; 0 while it has no second one

	age ageClock // of expire alone

	kick chan struct{}
	end  context.CancelFunc
	done chan struct{}

	mu      sync.Mutex
	err     error
	readers atomic.Pointer[[]*follows] // changed under mu
	lines   atomic.Int64               // of the log, as this process saw it last
}

// follows is what a keeper knows of a follower.
type follows struct {
	read  atomic.Int64 // offset up to which it has read
	wants atomic.Int64 // how many lines it waits for, 0 = it does not
	kick  chan struct{}
}

// reached wakes the follower once there are as many lines as it waits for.
func (r *follows) reached(lines int64) {
	if w := r.wants.Load(); w == 0 || lines < w {
		return
	}
	select {
	case r.kick <- struct{}{}:
	default:
	}
}

// following gives the followers, without a lock: each commit asks.
func (k *keeper) following() []*follows {
	if list := k.readers.Load(); list != nil {
		return *list
	}
	return nil
}

// reader registers a follower, which keeps what it has not read.
func (k *keeper) reader() *follows {
	k.mu.Lock()
	defer k.mu.Unlock()
	r := &follows{kick: make(chan struct{}, 1)}
	list := append(slices.Clone(k.following()), r)
	k.readers.Store(&list)
	return r
}

// unread is the offset from which on a follower has not read.
func (k *keeper) unread() int64 {
	low := int64(math.MaxInt64)
	for _, r := range k.following() {
		low = min(low, r.read.Load())
	}
	return low
}

func newKeeper(w *Writer, o Options) *keeper {
	return &keeper{w: w, rotate: o.Rotate, retain: o.Retain, sign: o.SignRemoval, kick: make(chan struct{}, 1), done: make(chan struct{})}
}

// grew takes note of the file. The committer calls it under the lock.
func (k *keeper) grew(c *chain) {
	k.size.Store(c.end)
	k.lines.Store(int64(c.at.seq))
	for _, r := range k.following() {
		r.reached(int64(c.at.seq))
	}
	began := int64(0)
	if c.place.known && c.at.seq > c.place.first {
		began = c.place.began.UnixNano()
	}
	k.began.Store(began)
	if k.due() {
		select {
		case k.kick <- struct{}{}:
		default:
		}
	}
}

// due reports whether the file is to be closed.
func (k *keeper) due() bool {
	began := k.began.Load()
	return began != 0 && (k.rotate.Bytes > 0 && k.size.Load() >= k.rotate.Bytes ||
		k.rotate.After > 0 && k.w.now().Sub(time.Unix(0, began)) >= k.rotate.After)
}

func (k *keeper) start() {
	ctx, cancel := context.WithCancel(context.Background())
	k.end = cancel
	go k.run(ctx)
}

// stop ends the keeper. What it has begun is left as a crash would leave it,
// apart from a rotation, which is finished.
func (k *keeper) stop() {
	if k.end != nil { // it was started
		k.end()
		<-k.done
	}
}

func (k *keeper) run(ctx context.Context) {
	defer close(k.done)
	tick := time.NewTicker(keepEvery)
	defer tick.Stop()
	for {
		k.note(k.round(ctx))
		kick := k.kick
		if k.failing() != nil {
			kick = nil // not again at every call
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-kick:
		}
	}
}

// round does what is to be done.
func (k *keeper) round(ctx context.Context) error {
	var errs []error
	if k.due() {
		errs = append(errs, k.close(ctx))
	}
	if closed, err := closedSegments(k.w.stateDir, k.w.path); err != nil || len(closed) > 0 {
		errs = append(errs, err, k.tidy(ctx))
	}
	return errors.Join(errs...)
}

func (k *keeper) note(err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !errors.Is(err, context.Canceled) {
		k.err = err
	}
}

func (k *keeper) failing() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.err
}

// Upkeep is the error of the last try to rotate the log, to compress closed
// segments or to remove old ones; nil when all is well. Calls go on
// regardless. Safe for concurrent use.
func (w *Writer) Upkeep() error {
	if err := w.keeper.failing(); err != nil {
		return unavailable(w.path, err)
	}
	return nil
}

// growth is the tree over a file that grows.
type growth struct {
	first  uint64
	offset int64
	tree   *checkpoint.Tree // nil when it is not known
	hash   *hasher
}

// read takes in the lines up to end.
func (g *growth) read(f io.ReaderAt, end int64) error {
	lines := newLineReader(io.NewSectionReader(f, g.offset, end-g.offset))
	for {
		l, err := lines.next()
		if err == io.EOF || err == nil && l.torn {
			return nil
		}
		if err != nil {
			return err
		}
		if g.offset == 0 {
			o, _ := originOf(l.bytes)
			g.first, g.tree = o.head.Seq, o.tree
		}
		if g.tree != nil {
			g.tree.Append(g.hash.leaf(l.bytes))
		}
		g.offset += l.size
	}
}

// close rotates the log. The lines are hashed before the lock is taken, and
// only what came meanwhile under it.
func (k *keeper) close(ctx context.Context) error {
	f, err := os.Open(k.w.path)
	if err != nil {
		return err
	}
	defer f.Close()
	g := &growth{hash: newHasher()}
	for range 2 {
		st, err := f.Stat()
		if err == nil {
			err = g.read(f, st.Size())
		}
		if err != nil {
			return err
		}
	}
	r := &request{}
	r.inside = func() ([][]byte, error) {
		c := k.w.chain
		k.grew(c)
		if !k.due() || c.place.first != g.first {
			return nil, nil // another process was faster
		}
		if err := g.read(c.f, c.end); err != nil {
			return nil, err
		}
		line, err := c.rotate(g.tree)
		k.grew(c)
		if line == nil {
			return nil, err
		}
		return [][]byte{line}, err
	}
	return k.w.submit(context.WithoutCancel(ctx), r)
}

// tidy compresses and removes, in one process at a time.
func (k *keeper) tidy(ctx context.Context) error {
	// A process that only waits takes note of rotations too, and shows that
	// it needs no old records.
	r := &request{inside: func() ([][]byte, error) {
		k.w.live.settle(k.w.chain.place.base+k.w.chain.end, k.w.calls)
		return nil, nil
	}}
	if err := k.w.submit(ctx, r); err != nil {
		return err
	}
	l := flock.New(filepath.Join(k.w.stateDir, keepLock), flock.SetPermissions(filePerm))
	if ok, err := l.TryLock(); err != nil || !ok {
		return err
	}
	defer func() { _ = l.Unlock() }()
	return errors.Join(k.compress(ctx), k.expire(ctx))
}

// reached tells a test that a step is done.
func (k *keeper) reached(step string) error {
	if k.step == nil {
		return nil
	}
	return k.step(step)
}
