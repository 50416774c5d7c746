package audit

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/toolwarrant/toolwarrant/audit/checkpoint"
)

// ReasonReplaced is of a log that is not the one that was followed: it became
// shorter, or its lines do not go on from what was seen.
const ReasonReplaced = "log-replaced"

// A Follower keeps the state of a growing log, so that a checkpoint costs what
// came since the last one. It reads what any process wrote, and verifies it.
// It is not safe for concurrent use.
type Follower struct {
	path   string
	v      *verifier
	offset int64
	lines  int
	broken error
	given  bool                   // a state was given
	signed *checkpoint.Checkpoint // what the log has to go on from, nil = anything
	keeper *keeper                // of a writer, nil = none
	known  *follows               // by it
}

// Follow starts at the first line of the log of this writer, which removes no
// file that the follower has not read.
func (w *Writer) Follow() *Follower {
	f := Follow(w.path)
	f.keeper, f.known = w.keeper, w.keeper.reader()
	return f
}

// Since says what was signed of the log before, by another process perhaps. A
// log that is shorter, or has other lines, is not followed. It has to be called
// before the first Next.
func (f *Follower) Since(c checkpoint.Checkpoint) {
	f.signed = &c
	f.v.signed = []checkpoint.Checkpoint{c}
}

// Await gives a channel that says, once its writer has written that many lines
// or more, that there is something to read. What other processes write is seen
// with the next line of this one; a follower without a writer is never woken.
func (f *Follower) Await(lines int64) <-chan struct{} {
	if f.known == nil {
		return nil
	}
	f.known.wants.Store(lines)
	select {
	case <-f.known.kick: // for what it waited for before
	default:
	}
	f.known.reached(f.keeper.lines.Load())
	return f.known.kick
}

// Follow starts at the first line of the log at path, which need not be there
// yet.
func Follow(path string) *Follower {
	v := newVerifier()
	v.file = path
	return &Follower{path: path, v: v}
}

// Next reads what is new and says what a checkpoint has to say now. Once the
// log was found to be replaced, or not whole, no further state is given: what
// does not hold must not be signed. The error is AUDIT_UNAVAILABLE.
func (f *Follower) Next(ctx context.Context) (checkpoint.Checkpoint, error) {
	if f.broken != nil {
		return checkpoint.Checkpoint{}, f.broken
	}
	if err := f.read(ctx); err != nil {
		return checkpoint.Checkpoint{}, err
	}
	if r := f.v.soFar(); len(r.Findings) > 0 {
		first := r.Findings[0]
		f.broken = refuse(f.path, ReasonReplaced, "line %d of %s: %s; no checkpoint is signed any more", first.Line, f.path, first.Message)
		return checkpoint.Checkpoint{}, f.broken
	}
	if len(f.v.signed) > 0 {
		f.broken = refuse(f.path, ReasonReplaced, "%s has %d records, and had %d when it was signed at %s: the last ones were cut off, or the log was replaced; no checkpoint is signed any more",
			f.path, f.v.at.seq, f.signed.Size, f.signed.Time.Format(time.RFC3339))
		return checkpoint.Checkpoint{}, f.broken
	}
	f.given = true
	if f.known != nil {
		f.known.read.Store(f.offset)
	}
	c := checkpoint.Checkpoint{Size: f.v.tree.Size(), Root: f.v.tree.Root(), Time: time.Now().UTC().Truncate(time.Microsecond)}
	if c.Size > 0 {
		c.Head = hashString(f.v.at.head)
	}
	return c, nil
}

func (f *Follower) read(ctx context.Context) error {
	if _, err := os.Stat(f.path); errors.Is(err, os.ErrNotExist) && f.offset == 0 {
		return nil
	}
	err := f.readOn(ctx)
	if errors.Is(err, errGap) && !f.given {
		// Another process removed files that were not read yet. What is left
		// tells of it, or does not hold.
		again := Follow(f.path)
		again.keeper, again.known = f.keeper, f.known
		if f.signed != nil {
			again.Since(*f.signed)
		}
		*f = *again
		err = f.readOn(ctx)
	}
	if errors.Is(err, errGap) {
		f.broken = refuse(f.path, ReasonReplaced, "records of the audit log %s were removed before they were read; no checkpoint is signed any more until a restart", f.path)
		return f.broken
	}
	if errors.Is(err, errNoPlace) {
		f.broken = refuse(f.path, ReasonReplaced, "the audit log %s became shorter: %d bytes were there; no checkpoint is signed any more", f.path, f.offset)
		return f.broken
	}
	if err != nil {
		return refuse(f.path, ReasonIO, "the audit log %s was not read to its end", f.path).Because(err)
	}
	return nil
}

// errGap says that lines which were to come next are not there any more.
var errGap = errors.New("audit: the next lines were removed")

// readOn takes in what lies behind offset. Of a log that is read from its
// begin, that is where its first file begins.
func (f *Follower) readOn(ctx context.Context) error {
	return eachFrom(ctx, f.path, f.offset, true, func(_ *source, _ int, at int64, l rawLine) error {
		if l.torn {
			return nil // what is not whole yet is read the next time
		}
		if at != f.offset && f.lines > 0 {
			return errGap
		}
		f.lines++
		f.offset = at + l.size
		f.v.line(f.lines, l)
		return nil
	})
}

// Sync makes what is in the log durable, whoever wrote it. Safe for concurrent
// use.
func (w *Writer) Sync() error {
	f, err := os.OpenFile(w.path, os.O_RDWR, 0)
	if err == nil {
		err = errors.Join(syncFile(f), f.Close())
	}
	if err != nil {
		return unavailable(w.path, err)
	}
	return nil
}
