package audit

import (
	"context"
	"errors"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/toolwarrant/toolwarrant/audit/checkpoint"
	"github.com/toolwarrant/toolwarrant/fault"
)

// Reasons of USAGE errors about proofs.
const (
	ReasonNotWhole     = "log-not-whole"      // what does not hold is not signed
	ReasonNoRecord     = "no-record"          // no close record of that call
	ReasonNoCheckpoint = "no-checkpoint"      // none that is late enough
	ReasonOtherLog     = "checkpoint-differs" // the checkpoint is of other lines
)

// State verifies the files, which are one chain from its first line on, and
// says what a checkpoint of them has to say, as of now. A log that is not
// whole gives a report with its findings and a USAGE error.
func State(ctx context.Context, paths []string) (checkpoint.Checkpoint, Report, error) {
	v, r, err := verified(ctx, paths, VerifyOptions{})
	if err != nil {
		return checkpoint.Checkpoint{}, r, err
	}
	if !r.OK {
		return checkpoint.Checkpoint{}, r, fault.New(fault.Usage, ReasonNotWhole, "the log is not whole and cannot be signed; toolwarrant audit verify names what is wrong")
	}
	c := checkpoint.Checkpoint{Size: v.tree.Size(), Root: v.tree.Root(), Time: time.Now().UTC().Truncate(time.Microsecond)}
	if r.Head != nil {
		c.Head = *r.Head
	}
	return c, r, nil
}

// Prove gives the close record of a call with the proof that it is in the log
// of the earliest of the checkpoints that counts it. The files are one chain
// from its first line on. The error is USAGE.
func Prove(ctx context.Context, paths []string, callID string, signed []checkpoint.Signed) (checkpoint.Proof, error) {
	set, err := inOrder(ctx, paths)
	if err != nil {
		return checkpoint.Proof{}, err
	}
	defer set.close()
	record, index, err := set.closeOf(ctx, callID)
	if err != nil {
		return checkpoint.Proof{}, err
	}
	var by *checkpoint.Signed
	for i := range signed {
		if s := &signed[i]; s.Size > index && (by == nil || s.Size < by.Size) {
			by = s
		}
	}
	if by == nil {
		return checkpoint.Proof{}, fault.New(fault.Usage, ReasonNoCheckpoint, "record %d is younger than every checkpoint; make one with toolwarrant audit checkpoint", index+1)
	}
	p, err := set.prover(ctx, index, by.Size)
	if err != nil {
		return checkpoint.Proof{}, err
	}
	path := p.Proof()
	if path == nil || tlog.CheckRecord(path, by.Size, by.Root, index, tlog.RecordHash([]byte(record))) != nil {
		return checkpoint.Proof{}, fault.New(fault.Usage, ReasonOtherLog, "the files are not the log that the checkpoint of %s signed; toolwarrant audit verify with --checkpoint names the line", by.Time.Format(timeLayout))
	}
	return checkpoint.Proof{Record: record, Index: index, Path: path, Checkpoint: by.Note}, nil
}

// prover gives the lines of the files to a prover. Where the first files were
// removed, the tree over their lines is taken from the first line that is left;
// the checkpoint says whether it is the right one.
func (s sources) prover(ctx context.Context, index, size int64) (*checkpoint.Prover, error) {
	p := checkpoint.NewProver(index, size)
	if len(s) > 0 {
		o, err := s[0].origin(ctx)
		if err != nil {
			return nil, err
		}
		if o.tree != nil {
			p.Resume(o.tree)
		}
	}
	hash := newHasher()
	for _, x := range s {
		_, err := x.lines(ctx, 0, true, func(_ int, _ int64, l rawLine) error {
			if !l.torn {
				p.Append(hash.leaf(l.bytes))
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return p, nil
}

// closeOf finds the close record of a call, and its place in the tree.
func (s sources) closeOf(ctx context.Context, callID string) (record string, index int64, err error) {
	found := errors.New("found")
	err = s.scan(ctx, func(l Line) error {
		if l.Head.Phase == PhaseClose && l.Head.CallID == callID {
			record, index = string(l.Raw), int64(l.Head.Seq)-1
			return found
		}
		return nil
	})
	if errors.Is(err, found) {
		return record, index, nil
	}
	if err == nil {
		err = fault.New(fault.Usage, ReasonNoRecord, "there is no close record of the call %q in these files", callID)
	}
	return "", 0, err
}
