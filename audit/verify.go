package audit

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/mod/sumdb/note"

	"github.com/toolwarrant/toolwarrant/audit/checkpoint"
)

// The kinds of findings.
const (
	KindEdited         = "edited"          // the line was changed: its sum does not hold, or it is no JSON value
	KindRemoved        = "removed"         // lines or whole files are gone, and no record accounts for it
	KindInserted       = "inserted"        // the line was put between two that follow each other
	KindRepeated       = "repeated"        // the same line stands before, or in its place
	KindMoved          = "moved"           // the line is of this chain, and stands elsewhere than it belongs
	KindOther          = "other-chain"     // the line is whole and follows no line of this chain
	KindChain          = "chain"           // prev is not the hash of the line before
	KindTorn           = "torn"            // the last line is not complete
	KindSchema         = "schema"          // the line is no record of this schema, though its sum holds
	KindCompressed     = "compressed"      // a compressed file is damaged
	KindObject         = "object"          // an object is gone, or has another content
	KindDuplicateClose = "duplicate-close" // the call was closed before
	KindCut            = "cut"             // lines at the end are gone, which a checkpoint counted
	KindCheckpoint     = "checkpoint"      // the lines are others than those that a checkpoint signed
)

// maxFindings bounds a report; a log with more is not described any better.
const maxFindings = 1000

// Finding is one thing that is wrong.
type Finding struct {
	File    string  `json:"file"`
	Line    int     `json:"line"` // 1-based
	Seq     *uint64 `json:"seq"`  // as the line states it; null when it cannot be read
	Kind    string  `json:"kind"`
	Message string  `json:"message"`
}

// Report is the result of Verify.
type Report struct {
	OK       bool      `json:"ok"`
	Records  uint64    `json:"records"` // lines, damaged ones included
	Head     *string   `json:"head"`    // leaf hash of the last complete line; null without lines
	Findings []Finding `json:"findings"`
	// Truncated says that there are more findings than are listed.
	Truncated bool `json:"truncated"`
	// Repeats are the lines that a copy has once more; they are no records.
	Repeats uint64 `json:"repeats"`
	// Removed is set when the first files were removed and the log says so.
	Removed *Removed `json:"removed"`
}

// VerifyOptions are what Verify may be told. The zero value takes the files
// for a chain from its first line on.
type VerifyOptions struct {
	// After is the line that comes before the first one: its seq and leaf
	// hash, from a checkpoint or an earlier Report. Nil for a whole chain.
	After *Anchor
	// Checkpoints are what was signed of this log, in any order.
	Checkpoints []checkpoint.Checkpoint
	// Key is the one that signs them. With it, the record that says which
	// files were removed has to be signed as well, or come before a
	// checkpoint.
	Key note.Verifier
	// Copy takes the files for a copy that a sink made, which may have got a
	// record more than once: a line that is, byte for byte, one of the last
	// 65,536 records is counted in Repeats and no finding.
	Copy bool
	// Objects checks the objects as well, where a folder of them stands beside
	// the log: those of the records of the log are there, and each has the
	// digest that it is named by.
	Objects bool
}

// Anchor is a place in a chain.
type Anchor struct {
	Seq  uint64
	Head string // "sha256:<hex>"
}

// Verify reads the files, which together are one chain, in bounded memory and
// names every line where something is wrong. A log stands for its closed
// segments too, compressed or not. Several files are put in the order of their
// first line. A chain that begins in its middle is whole where one of its
// records says that the files before were removed. A change of any byte, a
// missing, repeated, inserted or moved line is found and named as what it is; that lines at the end are missing is found
// with a later checkpoint alone (or compare Report.Head with a head that was
// kept elsewhere). duplicate-close
// is found for calls that lie within some 65,000 closes of each other.
//
// A file that cannot be read is a USAGE error. Findings are no error.
func Verify(ctx context.Context, paths []string, o VerifyOptions) (Report, error) {
	_, r, err := verified(ctx, paths, o)
	return r, err
}

// verified is Verify, and gives what walked the chain as well. Where files are
// missing of a log that went on in a new file meanwhile, it looks again: their
// removal may be recorded there.
func verified(ctx context.Context, paths []string, o VerifyOptions) (*verifier, Report, error) {
	for try := 1; ; try++ {
		v := newVerifier()
		v.key, v.copy, v.objects.wanted = o.Key, o.Copy, o.Objects
		if o.After != nil {
			head, ok := parseHash([]byte(o.After.Head))
			if !ok {
				return nil, Report{}, errors.New("audit: the anchor's head is no hash")
			}
			v.at = link{seq: o.After.Seq, head: head}
		}
		v.signed = slices.SortedFunc(slices.Values(o.Checkpoints), func(a, b checkpoint.Checkpoint) int { return cmp.Compare(a.Size, b.Size) })
		r, again, err := v.files(ctx, paths, o.After != nil)
		if err != nil || !again || try == mostTries {
			return v, r, err
		}
	}
}

// mostTries bounds how often a log is looked at that rotates all the time.
const mostTries = 10

// files walks the files and gives the report, and whether to look again.
func (v *verifier) files(ctx context.Context, paths []string, anchored bool) (r Report, again bool, err error) {
	set, err := inOrder(ctx, paths)
	if err != nil {
		return Report{}, false, err
	}
	defer set.close()
	for _, s := range set {
		v.file = s.path
		v.objects.enter(s.objects)
		last, err := s.checkAll(ctx, func(n int, c *checked) error {
			v.file = s.path
			v.checked(n, c)
			return nil
		})
		if bad := new(damaged); errors.As(err, &bad) {
			v.nth++
			v.add(spot{s.path, last + 1, v.nth}, nil, KindCompressed, bad.Error()+"; the lines from here to the end of the file cannot be read")
			continue
		}
		if err != nil {
			return Report{}, false, err
		}
	}
	v.settle()
	v.cut()
	if err := v.checkObjects(ctx); err != nil {
		return Report{}, false, err
	}
	r = v.finish(anchored)
	missing := slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Kind == KindRemoved })
	return r, missing && set.movedOn(), nil
}

// verifier walks a chain.
type verifier struct {
	report  Report
	found   []noted
	file    string
	nth     int // the line, through all files
	hash    *hasher
	last    [sha256.Size]byte // leaf hash of the last complete line
	at      link              // after the last line that the chain goes on with
	damaged bool              // that line was altered, so its hash says nothing
	tree    checkpoint.Tree
	signed  []checkpoint.Checkpoint // those still to come, by size

	waiting []entrant // behind at, not placed yet
	spilled uint64    // how many more there were, of which everything is told
	early   []early
	gaps    []gap
	row     row
	seen    seen

	copy     bool // a repeated line is fine
	objects  objects
	key      note.Verifier // nil: no removal has to be signed
	starts   []beginning
	removals []removal

	now, old map[string]struct{} // closed calls, in two generations
}

// noted is a finding on its way into the report.
type noted struct {
	Finding
	nth  int // of the line
	more int // lines behind it of which the same is true
}

func newVerifier() *verifier {
	return &verifier{hash: newHasher(), now: map[string]struct{}{}}
}

// finish gives the report. anchored says that there is a head without lines.
func (v *verifier) finish(anchored bool) Report {
	v.settle()
	r := v.soFar()
	r.OK = len(r.Findings) == 0
	if r.Records > 0 || anchored {
		head := hashString(v.at.head)
		if r.Records > 0 {
			head = hashString(v.last)
		}
		r.Head = &head
	}
	return r
}

// soFar is the report over what was read, as if it were all.
func (v *verifier) soFar() Report {
	if len(v.waiting) > 0 {
		c := *v
		c.found, c.waiting, c.early, c.gaps = slices.Clone(v.found), slices.Clone(v.waiting), slices.Clone(v.early), slices.Clone(v.gaps)
		c.now = maps.Clone(v.now)
		c.settle()
		return c.soFar()
	}
	r := v.report
	starts, removed := v.unaccounted()
	all := slices.Concat(starts, v.found, v.lacking())
	slices.SortStableFunc(all, func(a, b noted) int { return cmp.Compare(a.nth, b.nth) })
	r.Removed, r.Truncated = removed, r.Truncated || len(all) > maxFindings
	r.Findings = make([]Finding, min(len(all), maxFindings))
	for i := range r.Findings {
		r.Findings[i] = all[i].Finding
		if n := all[i].more; n > 0 {
			r.Findings[i].Message += fmt.Sprintf(" (and %d more behind it)", n)
		}
	}
	return r
}

// line looks at the next line of the chain.
func (v *verifier) line(n int, l rawLine) {
	c := checkLine(v.hash, l)
	v.checked(n, &c)
}

// checked takes in the next line of the chain.
func (v *verifier) checked(n int, l *checked) {
	v.nth++
	if l.torn {
		e := entrant{spot: spot{v.file, n, v.nth}, lines: 1, kind: KindTorn, message: "the last line has no end: a write was interrupted, or the file was cut"}
		if len(l.bytes) > 0 && sumHolds(l.bytes[:len(l.bytes)-1]) {
			e.kind, e.message = KindEdited, "the line was edited: another byte is in the place of its newline"
		}
		v.hold(&e)
		return
	}
	v.report.Records++
	v.last = l.leaf
	e := v.entrantOf(n, l)
	if e.opens != nil && e.head.Seq > v.at.seq+1 {
		if v.settle(); e.head.Seq > v.at.seq+1 {
			v.begin(&e, l.bytes)
		}
	}
	v.enter(&e)
}

// isJSON reports whether a line is one JSON value in valid UTF-8. Names that
// stand twice are not looked for: the writer makes none, and a sum that holds
// says that it was the writer.
func isJSON(line []byte) bool {
	return jsontext.Value(line).IsValid(jsontext.AllowDuplicateNames(true))
}

// compare holds the line, and all before it, against the checkpoints that
// were signed when it was the last one.
func (v *verifier) compare(p spot) {
	seq := int64(v.at.seq)
	for len(v.signed) > 0 && v.signed[0].Size <= seq {
		c := v.signed[0]
		v.signed = v.signed[1:]
		if c.Size < seq {
			continue // of a part of the chain that is not in these files
		}
		// The root says what the head says, as long as the lines agree with
		// each other, and costs nothing to hold against it.
		whole := len(v.found)+len(v.gaps)+len(v.early) == 0 && v.tree.Size() == seq
		if hashString(v.at.head) != c.Head || whole && v.tree.Root() != c.Root {
			seq := v.at.seq
			v.add(p, &seq, KindCheckpoint, "the line is not the one that the checkpoint of "+c.Time.Format(timeLayout)+" signed: this line, or one before it, was replaced")
		}
	}
}

// cut finds that the log was longer once.
func (v *verifier) cut() {
	if len(v.signed) == 0 {
		return
	}
	last := v.signed[len(v.signed)-1]
	v.nth++
	v.add(spot{v.file, int(v.report.Records) + 1, v.nth}, nil, KindCut, fmt.Sprintf("the log ends after record %d, and had %d at %s: %d at its end were cut off",
		v.at.seq, last.Size, last.Time.Format(timeLayout), last.Size-int64(v.at.seq)))
}

// closed remembers closes, in bounded memory, and finds second ones.
func (v *verifier) closed(p spot, h Head) {
	if h.Phase != PhaseClose {
		return
	}
	_, now := v.now[h.CallID]
	_, old := v.old[h.CallID]
	if now || old {
		v.add(p, &h.Seq, KindDuplicateClose, "call "+h.CallID+" was closed before")
		return
	}
	if len(v.now) >= 2*closedMemory {
		v.now, v.old = make(map[string]struct{}, 2*closedMemory), v.now
	}
	v.now[h.CallID] = struct{}{}
}

// add reports whether there was room for the finding.
func (v *verifier) add(p spot, seq *uint64, kind, message string) bool {
	if len(v.found) >= maxFindings {
		v.report.Truncated = true
		return false
	}
	if seq != nil { // which may be of a line that is gone by then
		n := *seq
		seq = &n
	}
	v.found = append(v.found, noted{Finding: Finding{File: p.file, Line: p.line, Seq: seq, Kind: kind, Message: message}, nth: p.nth})
	return true
}
