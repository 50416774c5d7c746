package audit

import (
	"context"
	"errors"
	"io"
	"os"
	"time"

	"github.com/toolwarrant/toolwarrant/audit/checkpoint"
	"github.com/toolwarrant/toolwarrant/fault"
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
	if r := f.v.report; len(r.Findings) > 0 {
		first := r.Findings[0]
		f.broken = refuse(f.path, ReasonReplaced, "line %d of %s: %s; no checkpoint is signed any more", first.Line, f.path, first.Message)
		return checkpoint.Checkpoint{}, f.broken
	}
	c := checkpoint.Checkpoint{Size: f.v.tree.Size(), Root: f.v.tree.Root(), Time: time.Now().UTC().Truncate(time.Microsecond)}
	if c.Size > 0 {
		c.Head = hashString(f.v.at.head)
	}
	return c, nil
}

func (f *Follower) read(ctx context.Context) error {
	file, err := os.Open(f.path)
	if errors.Is(err, os.ErrNotExist) && f.offset == 0 {
		return nil
	}
	if err != nil {
		return refuse(f.path, ReasonIO, "the audit log %s cannot be read", f.path).Because(err)
	}
	defer file.Close()
	size, err := settledSize(ctx, f.path, file)
	if err != nil {
		return refuse(f.path, ReasonIO, "the audit log %s cannot be read", f.path).Because(err)
	}
	if size < f.offset {
		f.broken = refuse(f.path, ReasonReplaced, "the audit log %s became shorter: %d bytes were there, and %d are; no checkpoint is signed any more", f.path, f.offset, size)
		return f.broken
	}
	lines := newLineReader(io.NewSectionReader(file, f.offset, size-f.offset))
	for {
		l, err := lines.next()
		if err == io.EOF || err == nil && l.torn {
			return nil // what is not whole yet is read the next time
		}
		if err != nil {
			return refuse(f.path, ReasonIO, "the audit log %s cannot be read", f.path).Because(err)
		}
		if ctx.Err() != nil {
			return fault.New(fault.AuditUnavailable, ReasonIO, "the audit log was not read to its end").Because(ctx.Err())
		}
		f.lines++
		if err := f.v.line(f.lines, 0, l); err != nil {
			return err
		}
		f.offset += l.size
	}
}
