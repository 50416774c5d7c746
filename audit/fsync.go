package audit

import (
	"io"
	"time"
)

// Fsync says when records are made durable.
type Fsync string

// The choices. In each of them a record is in the file before its method
// returns, which survives the death of the process at any moment; they differ
// in what survives the death of the machine.
const (
	// SyncEvery syncs each record by itself, opens included, before its
	// method returns.
	SyncEvery Fsync = "every"
	// SyncGroup syncs before a method returns that says so, one sync for all
	// that wait at the same time.
	SyncGroup Fsync = "group"
	// SyncInterval syncs in the background: what was answered within the last
	// interval can be lost with the machine.
	SyncInterval Fsync = "interval"
)

// defaultInterval is the interval where none is named.
const defaultInterval = 100 * time.Millisecond

// syncing is a choice made ready.
type syncing struct {
	every    bool
	interval time.Duration // 0 = sync before the answer
}

func newSyncing(o Options) (syncing, error) {
	switch o.Fsync {
	case "", SyncGroup:
		return syncing{}, nil
	case SyncEvery:
		return syncing{every: true}, nil
	case SyncInterval:
		if o.Interval <= 0 {
			o.Interval = defaultInterval
		}
		return syncing{interval: o.Interval}, nil
	}
	return syncing{}, refuse("", ReasonInvalid, "audit.fsync is %q; it is every, group or interval", o.Fsync)
}

// ticker wakes the committer of a log that syncs in the background.
func (s syncing) ticker() (<-chan time.Time, func()) {
	if s.interval == 0 {
		return nil, func() {}
	}
	t := time.NewTicker(s.interval)
	return t.C, t.Stop
}

// loose is the part of the file that was answered and not synced, of a log
// that syncs in the background.
type loose struct {
	any    bool
	since  time.Time // of the oldest of it
	from   int64     // where it begins
	failed bool      // a sync failed: the disk may have forgotten that part
}

// began notes that there is such a part.
func (l *loose) began(now time.Time) {
	if !l.any {
		l.any, l.since = true, now
	}
}

// settle syncs what is due, or all. A sync that fails makes the log red: no
// call is taken until one works.
func (w *Writer) settle(all bool) {
	c := w.chain
	if w.syncing.interval == 0 || !c.loose.any || !all && w.now().Sub(c.loose.since) < w.syncing.interval {
		return
	}
	if err := c.sync(); err != nil {
		c.loose.failed = true
		w.health.report(unavailable(w.path, err), 0, false, w.now())
	}
}

// sync makes all that is written durable.
func (c *chain) sync() error {
	if err := c.f.Sync(); err != nil {
		return err
	}
	c.loose = loose{from: c.end}
	return nil
}

// again writes the part of which a sync failed once more: an operating system
// may drop what it could not write, and say that all is well the next time.
func (c *chain) again() error {
	if !c.loose.failed {
		return nil
	}
	buf := make([]byte, 1<<20)
	for at := c.loose.from; at < c.end; {
		n, err := c.f.ReadAt(buf[:min(int64(len(buf)), c.end-at)], at)
		if err != nil && err != io.EOF {
			return err
		}
		if n == 0 {
			return io.ErrUnexpectedEOF
		}
		if _, err := c.f.WriteAt(buf[:n], at); err != nil {
			return err
		}
		at += int64(n)
	}
	return c.sync()
}
