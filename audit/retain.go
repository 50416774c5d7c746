package audit

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/toolwarrant/toolwarrant/audit/checkpoint"
	"github.com/toolwarrant/toolwarrant/internal/atomicfile"
)

// Retention says which closed segments are removed. The zero value is none.
type Retention struct {
	Age      time.Duration // those whose last record is older, 0 = none for their age
	Segments int           // those beyond so many, the oldest first, 0 = none for their number
}

// leaving is a segment and what follows it.
type leaving struct {
	segment
	after origin // the first line of the next file
}

// expire removes the oldest closed segments. A record says so first, durable,
// and signed where there is a key; a crash between the two leaves files that
// the next time are said again to go.
func (k *keeper) expire(ctx context.Context) error {
	for {
		list, err := k.expired(ctx)
		if err != nil || len(list) == 0 {
			return err
		}
		if err := k.remove(ctx, list); err != nil {
			return err
		}
	}
}

// remove says which segments go, and removes them.
func (k *keeper) remove(ctx context.Context, list []leaving) error {
	t := tombstone{Policies: []string{}}
	for _, x := range list {
		s, policies, err := describe(ctx, x)
		if err != nil {
			return err
		}
		t.Segments = append(t.Segments, s)
		t.Policies = append(t.Policies, policies...)
	}
	slices.Sort(t.Policies)
	t.Policies = slices.Compact(t.Policies)
	if k.sign != nil {
		msg, err := k.sign(checkpoint.Removal{Segments: t.Segments, Time: k.w.now().UTC().Truncate(time.Microsecond)})
		if err != nil {
			return err
		}
		text := string(msg)
		t.Note = &text
	}
	// A record that was cut would account for nothing.
	if b, err := json.Marshal(t); err != nil || len(b) > maxValue-4096 {
		return refuse(k.w.path, ReasonInvalid, "the record of what is to be removed from the audit log %s would be too long; nothing was removed", k.w.path).Because(err)
	}
	if err := k.reached("described"); err != nil {
		return err
	}
	if err := k.w.Event(ctx, t.event(), nil); err != nil {
		return err
	}
	durable := func() ([][]byte, error) { return nil, k.w.chain.sync() } // whatever audit.fsync is
	if err := k.w.submit(context.WithoutCancel(ctx), &request{inside: durable}); err != nil {
		return err
	}
	if err := k.reached("said"); err != nil {
		return err
	}
	for _, x := range list {
		for _, name := range []string{x.path + gzipExt, x.path} {
			if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		if err := errors.Join(atomicfile.SyncDir(filepath.Dir(x.path)), k.reached("removed")); err != nil {
			return err
		}
	}
	return nil
}

// maxRemoved bounds one record.
const maxRemoved = 200

// expired gives the segments that may go, the oldest first. One that holds
// records of an unfinished call stays, and all after it.
func (k *keeper) expired(ctx context.Context) ([]leaving, error) {
	if k.retain == (Retention{}) {
		return nil, nil
	}
	set, err := expand(k.w.path)
	if err != nil {
		return nil, err
	}
	defer set.close()
	needed, err := lowestMark(k.w.stateDir)
	if err != nil {
		return nil, err
	}
	needed = min(needed, k.unread())
	now := k.w.now()
	if k.retain.Age > 0 {
		growing, err := set[len(set)-1].origin(ctx)
		if err != nil {
			return nil, err
		}
		if now, err = k.believed(ctx, growing.began); err != nil {
			return nil, err
		}
	}
	var out []leaving
	for i, s := range set[:len(set)-1] {
		o, err := set[i+1].origin(ctx)
		if err != nil {
			return nil, err
		}
		old := k.retain.Age > 0 && now.Sub(o.began) > k.retain.Age
		many := k.retain.Segments > 0 && len(set)-1-i > k.retain.Segments
		if !old && !many || o.opens == nil || o.base > needed || len(out) == maxRemoved {
			break
		}
		out = append(out, leaving{segment{s.first, strings.TrimSuffix(s.path, gzipExt)}, o})
	}
	return out, nil
}

// lowestMark is the offset from which on records of unfinished calls are.
func lowestMark(stateDir string) (int64, error) {
	entries, err := os.ReadDir(filepath.Join(stateDir, writersDir))
	if err != nil {
		return 0, err
	}
	low := int64(math.MaxInt64)
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), markExt) {
			low = min(low, readMark(filepath.Join(stateDir, writersDir, e.Name())))
		}
	}
	return low, nil
}

// describe reads a segment once more. One that is not what the next file says
// that it was is evidence, and stays. The policies are those that entered in it
// or, as it says, in lines that were removed before.
func describe(ctx context.Context, x leaving) (_ checkpoint.Segment, policies []string, err error) {
	src := &source{path: x.path, first: x.first}
	sum, hash := sha256.New(), newHasher()
	var head [sha256.Size]byte
	lines := uint64(0)
	size, err := src.lines(ctx, 0, false, func(_ int, _ int64, l rawLine) error {
		lines++
		head = hash.leaf(l.bytes)
		policies = append(policies, policiesOf(l.bytes)...)
		sum.Write(l.bytes)
		sum.Write([]byte{'\n'})
		return nil
	})
	if err != nil {
		return checkpoint.Segment{}, nil, err
	}
	s := checkpoint.Segment{File: filepath.Base(x.path), First: x.first, Last: x.first + lines - 1, Head: hashString(head), Bytes: size,
		Digest: hashString([sha256.Size]byte(sum.Sum(nil)))}
	if p := x.after.opens.Previous; p.First != s.First || p.Last != s.Last || p.Head != s.Head || p.Bytes != s.Bytes {
		return s, nil, refuse(src.path, ReasonIO, "the closed file %s is not what the next one says that it was; it is kept: toolwarrant audit verify names what is wrong", src.path).
			Because(fmt.Errorf("it has %d bytes and ends at record %d", s.Bytes, s.Last))
	}
	return s, policies, nil
}

// policiesOf gives the digests of policies that a line is about.
func policiesOf(line []byte) []string {
	h, ok := parseHead(line)
	if t := tombstoneOf(line, h); ok && t != nil {
		return t.Policies
	}
	if !ok || h.Phase != PhaseObject {
		return nil
	}
	var r struct{ Kind, Digest string }
	if json.Unmarshal(line, &r) != nil || r.Kind != "policy" {
		return nil
	}
	return []string{r.Digest}
}
