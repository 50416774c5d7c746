package audit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/mod/sumdb/note"

	"github.com/toolwarrant/toolwarrant/audit/checkpoint"
)

// The kinds of findings.
const (
	KindSum            = "sum"             // the line was altered: its sum does not hold
	KindChain          = "chain"           // prev is not the hash of the line before
	KindSeq            = "seq"             // lines are missing, repeated or in another order
	KindTorn           = "torn"            // the last line is not complete
	KindJSON           = "json"            // the line is no JSON object, or longer than 4 MiB
	KindSchema         = "schema"          // the line is no record of this schema
	KindRemoved        = "removed"         // whole files of the log are gone, and no record accounts for it
	KindCompressed     = "compressed"      // a compressed file is damaged
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
// records says that the files before were removed. A change of any byte, a missing, repeated,
// inserted or moved line is found; that lines at the end are missing is found
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
		v.key = o.Key
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
		last, err := s.checkAll(ctx, func(n int, c *checked) error {
			v.file = s.path
			v.checked(n, c)
			return nil
		})
		if bad := new(damaged); errors.As(err, &bad) {
			v.find(last+1, nil, KindCompressed, bad.Error()+"; the lines from here to the end of the file cannot be read")
			continue
		}
		if err != nil {
			return Report{}, false, err
		}
	}
	v.cut()
	r = v.finish(anchored)
	missing := slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Kind == KindRemoved })
	return r, missing && set.movedOn(), nil
}

// verifier walks a chain.
type verifier struct {
	report  Report
	file    string
	hash    *hasher
	at      link // after the last line, as the lines say
	damaged bool // the last line was altered, so its hash says nothing
	tree    checkpoint.Tree
	signed  []checkpoint.Checkpoint // those still to come, by size

	key      note.Verifier // nil: no removal has to be signed
	starts   []beginning   // where lines are missing before a file, or before the first line
	removals []removal

	now, old map[string]struct{} // closed calls, in two generations
}

func newVerifier() *verifier {
	return &verifier{hash: newHasher(), now: map[string]struct{}{}, report: Report{Findings: []Finding{}}}
}

// finish gives the report. anchored says that there is a head without lines.
func (v *verifier) finish(anchored bool) Report {
	r := v.soFar()
	r.OK = len(r.Findings) == 0
	if r.Records > 0 || anchored {
		head := hashString(v.at.head)
		r.Head = &head
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
	if l.torn {
		v.find(n, nil, KindTorn, "the last line has no end: a write was interrupted, or the file was cut or altered")
		return
	}
	v.report.Records++
	if v.at.seq == 0 && v.report.Records == 1 || l.isHead && l.head.Phase == PhaseEvent && l.head.Seq > v.at.seq+1 && openingOf(l.bytes, l.head) != nil {
		v.begin(n, l)
	}
	want := link{seq: v.at.seq + 1, head: v.at.head}
	v.at = link{seq: want.seq, head: l.leaf}
	v.tree.Append(v.at.head)
	defer v.compare(n)

	h := l.head
	var seq *uint64
	if l.isHead {
		seq = &h.Seq
	}
	switch {
	case l.tooLong:
		v.find(n, nil, KindJSON, "the line is longer than any record")
	case !l.sum && l.json:
		v.find(n, seq, KindSum, "the line was altered: its sum does not hold")
	case !l.sum:
		v.find(n, seq, KindJSON, "the line is no JSON value")
	case !l.json:
		v.find(n, seq, KindJSON, "the line is no JSON value, though its sum holds")
	case !l.isHead || h.Schema != Schema:
		v.find(n, seq, KindSchema, "the line is no record of "+Schema)
	case !l.reads:
		v.find(n, seq, KindSchema, "the line is no record of "+Schema+": a member has a value of another type, though its sum holds")
	default:
		v.place(n, h, want, l.bytes)
		v.closed(n, h)
		v.tombstone(l.bytes, h)
		v.damaged = false
		return
	}
	v.damaged = true
}

// isJSON reports whether a line is one JSON value in valid UTF-8. Names that
// stand twice are not looked for: the writer makes none, and a sum that holds
// says that it was the writer.
func isJSON(line []byte) bool {
	return jsontext.Value(line).IsValid(jsontext.AllowDuplicateNames(true))
}

// place checks that an unaltered line stands where it says.
func (v *verifier) place(n int, h Head, want link, line []byte) {
	prev := ""
	if want.seq > 1 {
		prev = hashString(want.head)
	}
	opens := openingOf(line, h)
	switch {
	case h.Seq != want.seq:
		v.find(n, &h.Seq, KindSeq, "lines are missing, repeated or in another order before this one")
		v.at.seq = h.Seq // from here on count as the lines do
	case h.Prev != prev && !v.damaged:
		v.find(n, &h.Seq, KindChain, "the line does not follow the one before it: that one was replaced, or this one is of another chain")
	case opens != nil && opens.Lost:
		v.find(n, &h.Seq, KindCut, fmt.Sprintf("the file that grew was gone when a process started: records after %d may be missing", h.Seq-1))
	}
}

// compare holds the line, and all before it, against the checkpoints that
// were signed when it was the last one.
func (v *verifier) compare(n int) {
	seq := int64(v.at.seq)
	for len(v.signed) > 0 && v.signed[0].Size <= seq {
		c := v.signed[0]
		v.signed = v.signed[1:]
		if c.Size < seq {
			continue // of a part of the chain that is not in these files
		}
		// The root says what the head says, as long as the lines agree with
		// each other, and costs nothing to hold against it.
		whole := len(v.report.Findings) == 0 && v.tree.Size() == seq
		if hashString(v.at.head) != c.Head || whole && v.tree.Root() != c.Root {
			v.find(n, &v.at.seq, KindCheckpoint, "the line is not the one that the checkpoint of "+c.Time.Format(timeLayout)+" signed: this line, or one before it, was replaced")
		}
	}
}

// cut finds that the log was longer once.
func (v *verifier) cut() {
	if len(v.signed) == 0 {
		return
	}
	last := v.signed[len(v.signed)-1]
	v.find(int(v.report.Records)+1, nil, KindCut, fmt.Sprintf("the log ends after record %d, and had %d at %s: %d at its end were cut off",
		v.at.seq, last.Size, last.Time.Format(timeLayout), last.Size-int64(v.at.seq)))
}

// closed remembers closes, in bounded memory, and finds second ones.
func (v *verifier) closed(n int, h Head) {
	if h.Phase != PhaseClose {
		return
	}
	_, now := v.now[h.CallID]
	_, old := v.old[h.CallID]
	if now || old {
		v.find(n, &h.Seq, KindDuplicateClose, "call "+h.CallID+" was closed before")
		return
	}
	if len(v.now) >= 2*closedMemory {
		v.now, v.old = make(map[string]struct{}, 2*closedMemory), v.now
	}
	v.now[h.CallID] = struct{}{}
}

func (v *verifier) find(line int, seq *uint64, kind, message string) {
	if len(v.report.Findings) >= maxFindings {
		v.report.Truncated = true
		return
	}
	v.report.Findings = append(v.report.Findings, Finding{File: v.file, Line: line, Seq: seq, Kind: kind, Message: message})
}
