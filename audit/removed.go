package audit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/mod/sumdb/note"

	"github.com/toolwarrant/toolwarrant/audit/checkpoint"
)

// kindRemoved is the event that says which files were removed: the tombstone.
const kindRemoved = "segment.removed"

// tombstone is the detail of that event.
type tombstone struct {
	Segments []checkpoint.Segment `json:"segments"`
	Policies []string             `json:"policies"` // digests of the policies that entered in removed lines, of now and before
	Note     *string              `json:"note"`     // the segments, signed; null without a key
}

func (t tombstone) event() Event {
	return Event{Kind: kindRemoved, Detail: map[string]any{"segments": t.Segments, "policies": t.Policies, "note": t.Note}}
}

// Removed says which lines are not there any more, as the log itself does.
type Removed struct {
	Last   uint64 `json:"last"`   // lines 1 to Last
	Seq    uint64 `json:"seq"`    // of the record that says so
	Time   string `json:"time"`   // of that record
	Signed bool   `json:"signed"` // the key that Verify was given signed it
	// Warning says what a removal is worth that no key was held against; null of
	// one that is signed.
	Warning *string `json:"warning"`
}

// The warnings of a Removed.
const (
	notSigned = "not signed: whoever can write the log can write this removal"
	unchecked = "its signature was not checked, for which a key is needed: whoever can write the log can write this removal"
)

// removal is a tombstone that a verifier has met.
type removal struct {
	head Head
	tombstone
}

// beginning is the first line of a file before which others are missing.
type beginning struct {
	spot
	from uint64 // seq of the first line that is missing
	seq  uint64
	prev string
}

var removedKind = []byte(`"kind":"` + kindRemoved + `"`)

// tombstoneOf gives the detail of a tombstone, nil of any other line.
func tombstoneOf(line []byte, h Head) *tombstone {
	if h.Phase != PhaseEvent || !bytes.Contains(line[:min(len(line), 1024)], removedKind) {
		return nil
	}
	var r struct {
		Detail tombstone `json:"detail"`
	}
	if json.Unmarshal(line, &r) != nil {
		return nil
	}
	return &r.Detail
}

// RemovedPolicies gives the digests of the policies whose object lines were
// removed with the first files of a log, as its records say; none of a log
// that has its first line.
func RemovedPolicies(ctx context.Context, paths []string) ([]string, error) {
	whole := errors.New("whole")
	first := true
	var out []string
	err := Scan(ctx, paths, func(l Line) error {
		if first && l.Head.Seq == 1 {
			return whole
		}
		first = false
		if t := tombstoneOf(l.Raw, l.Head); t != nil {
			out = append(out, t.Policies...)
		}
		return nil
	})
	if errors.Is(err, whole) {
		err = nil
	}
	slices.Sort(out)
	return slices.Compact(out), err
}

// begin notes where lines are missing before the first line of a file, and takes
// over the tree that it gives for all before it. Whether that is the right one, a
// checkpoint says. Files may be missing inside, too, and be accounted for: of
// those that are removed while a log is read, the first may still be seen.
func (v *verifier) begin(e *entrant, line []byte) {
	v.starts = append(v.starts, beginning{spot: e.spot, from: v.at.seq + 1, seq: e.head.Seq, prev: e.head.Prev})
	if o, _ := originOf(line); o.tree != nil {
		v.tree = *o.tree
	}
	prev, _ := parseHash([]byte(e.head.Prev))
	v.at, v.damaged = link{seq: e.head.Seq - 1, head: prev}, false
}

// unaccounted gives a finding for each place where files are missing and no
// record says so.
func (v *verifier) unaccounted() (out []noted, removed *Removed) {
	for _, s := range slices.Backward(v.starts) {
		r, f := v.accounted(s)
		if r != nil && removed == nil { // the last one counts
			removed = r
		}
		if f != nil {
			out = append(out, noted{Finding: *f, nth: s.nth})
		}
	}
	return out, removed
}

// accounted looks for the tombstone of the lines before s. With a key it has to
// be signed: a checkpoint over the record does not help, since whoever signs
// checkpoints signs what the log says, also a record that somebody forged.
func (v *verifier) accounted(s beginning) (*Removed, *Finding) {
	f := &Finding{File: s.file, Line: s.line, Seq: &s.seq, Kind: KindRemoved}
	for _, t := range v.removals {
		if !t.covers(s) {
			continue
		}
		out := &Removed{Last: s.seq - 1, Seq: t.head.Seq, Time: t.head.Time}
		if v.key == nil {
			warning := notSigned
			if t.Note != nil {
				warning = unchecked
			}
			out.Warning = &warning
			return out, nil
		}
		var err error
		if out.Signed, err = t.signedBy(v.key); err == nil && out.Signed {
			return out, nil
		}
		f.Message = fmt.Sprintf("records %d to %d were removed, and the record %d that says so is not signed by %s", s.from, s.seq-1, t.head.Seq, v.key.Name())
		return out, f
	}
	f.Message = fmt.Sprintf("the file begins in the middle of a chain: records 1 to %d are elsewhere or were removed, and no record of a removal says so", s.seq-1)
	if s.from > 1 {
		f.Message = fmt.Sprintf("records %d to %d are missing: files of the log were removed, or cannot be read", s.from, s.seq-1)
	}
	return nil, f
}

// covers reports whether the record tells of the lines that are missing before
// s, up to the last one: of a log that begins there those that it names, since
// records of earlier removals went with the files; inside of one all of them.
func (t removal) covers(s beginning) bool {
	at := slices.IndexFunc(t.Segments, func(x checkpoint.Segment) bool { return x.Last+1 == s.seq && x.Head == s.prev })
	if at < 0 || s.from == 1 {
		return at >= 0
	}
	first := t.Segments[at].First
	for at--; at >= 0 && t.Segments[at].Last+1 == first; at-- {
		first = t.Segments[at].First
	}
	return first <= s.from
}

// signedBy reports whether the key signed what the record says. A note that
// says something else, or is not the key's, is an error.
func (t removal) signedBy(key note.Verifier) (bool, error) {
	if t.Note == nil {
		return false, nil
	}
	r, err := checkpoint.OpenRemoval([]byte(*t.Note), key)
	if err != nil {
		return false, err
	}
	if !slices.Equal(r.Segments, t.Segments) {
		return false, fmt.Errorf("audit: the note tells of another removal")
	}
	return true, nil
}
