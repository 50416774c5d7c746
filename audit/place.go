package audit

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// What happened to a line shows by the lines around it: a gap is a removal
// until what is missing turns up, and a line that is too early is one of
// another chain until its place comes. So a line that is not the next one
// waits for those that come, and what is found is told at the end.

// spot is where a line stands.
type spot struct {
	file string
	line int
	nth  int // through all files
}

// entrant is a line with what its place is judged by.
type entrant struct {
	spot
	head    Head
	leaf    [sha256.Size]byte
	chained bool   // its sum holds and its head reads: what it says of its place counts
	kind    string // of what is wrong with the line itself; "" of a good one
	message string
	bare    bool   // it has no member of a record
	lines   int    // how many lines of a chain it holds: two where a newline was altered
	object  string // the file of the one that it enters
	opens   *opening
	removal *tombstone
}

func (e *entrant) seq() *uint64 {
	if e.head.Seq == 0 {
		return nil
	}
	return &e.head.Seq
}

// headMark stands in each line of a log once, and in no text of one.
var headMark = []byte(`","schema":"` + Schema + `","seq":`)

// entrantOf judges a line by itself.
func (v *verifier) entrantOf(n int, l *checked) entrant {
	e := entrant{spot: spot{v.file, n, v.nth}, leaf: l.leaf, chained: l.sum && l.isHead, lines: 1}
	if l.isHead {
		e.head = l.head
	}
	switch {
	case l.tooLong:
		e.kind, e.message = KindEdited, "the line is longer than any record"
	case !l.sum && l.json:
		e.kind, e.message = KindEdited, "the line was edited: its sum does not hold"
	case !l.sum:
		e.kind, e.message = KindEdited, "the line was edited: it is no JSON value"
	case !l.json:
		e.kind, e.message = KindSchema, "the line is no JSON value, though its sum holds"
	case !l.isHead || l.head.Schema != Schema:
		e.kind, e.message = KindSchema, "the line is no record of "+Schema
	case !l.reads:
		e.kind, e.message = KindSchema, "the line is no record of "+Schema+": a member has a value of another type, though its sum holds"
	}
	if !e.chained {
		e.bare = l.json && isBare(l.bytes)
		if n := bytes.Count(l.bytes, headMark); n > 1 {
			e.lines, e.message = n, fmt.Sprintf("%d lines stand in one: a newline was edited", n)
		}
		return e
	}
	if l.head.Phase == PhaseObject && v.objects.dir != "" {
		if sum := objectDigest(l.bytes); sum != "" {
			e.object = filepath.Join(v.objects.dir, strings.TrimPrefix(sum, hashPrefix))
		}
	}
	if l.head.Phase == PhaseEvent {
		e.opens = openingOf(l.bytes, l.head)
		e.removal = tombstoneOf(l.bytes, l.head)
	}
	return e
}

// isBare reports whether a JSON value has no member that a line has by being
// in a chain.
func isBare(line []byte) bool {
	d := jsontext.NewDecoder(bytes.NewReader(line), jsontext.AllowDuplicateNames(true))
	if t, err := d.ReadToken(); err != nil || t.Kind() != '{' {
		return true
	}
	for d.PeekKind() == '"' {
		t, err := d.ReadToken()
		if err != nil {
			return true
		}
		switch t.String() {
		case "schema", "seq", "prev", "sum":
			return false
		}
		if d.SkipValue() != nil {
			return true
		}
	}
	return true
}

// gap is where records are missing; of none (last is first-1) where the line
// after it does not follow the one before it.
type gap struct {
	spot         // of the line after it
	first, last  uint64
	before, then string // the leaf hash that the first of them follows, if it is known, and that of the last one
	parted       bool   // lines inside of it turned up
	filled       bool   // other lines stand in it
}

// early is a row of lines that stand before their place.
type early struct {
	spot
	first, last uint64
	prev        string            // of the first
	leaf        [sha256.Size]byte // of the last
	before      uint64            // the record that it stands before
	ours        bool              // its place came, and it follows there
}

// row is a finding that goes on over lines that follow each other.
type row struct {
	at   int    // of the finding
	seq  uint64 // of the last line; 0: there is none
	head string
}

// before is the prev that the next line has to have; "" of the first, and known
// is false where the last line was altered.
func (v *verifier) before() (prev string, known bool) {
	if v.at.seq == 0 {
		return "", true
	}
	return hashString(v.at.head), !v.damaged
}

func (v *verifier) follows(h Head) bool {
	prev, known := v.before()
	return !known || h.Prev == prev
}

// mostWaiting bounds the lines that wait to be placed.
const mostWaiting = 1000

// enter places a line, and those that waited for it.
func (v *verifier) enter(e *entrant) {
	if e.chained && len(v.early) > 0 {
		v.takeEarly(e)
	}
	next := v.at.seq + 1
	s := e.head.Seq
	switch {
	case !e.chained:
		v.hold(e)
	case s == next && v.follows(e.head):
		v.surplus()
		v.accept(e)
	case v.inRow(e, KindOther):
		v.rowOf(e, KindOther, "")
	case len(v.waiting) > 0 && v.afterLast(e):
		v.goOn(len(v.waiting) - 1)
		v.accept(e)
	case s > next && s <= next+v.room():
		v.inPlaceOf(s, e)
		v.accept(e)
	case s < next:
		v.behind(e)
	default:
		v.hold(e)
	}
}

// hold lets a line wait. Where that many are damaged, what the lines are in the
// place of is not told.
func (v *verifier) hold(e *entrant) {
	v.row = row{}
	if len(v.waiting) < mostWaiting {
		v.waiting = append(v.waiting, *e)
		return
	}
	for i := range v.waiting {
		w := &v.waiting[i]
		v.spilled += uint64(w.lines)
		if w.chained {
			v.add(w.spot, w.seq(), KindOther, otherMessage)
			continue
		}
		v.add(w.spot, w.seq(), w.kind, w.message)
	}
	v.waiting = append(v.waiting[:0], *e)
}

// room is how many lines those that wait can be in the place of.
func (v *verifier) room() uint64 {
	n := v.spilled
	for i := range v.waiting {
		n += uint64(v.waiting[i].lines)
	}
	return n
}

// afterLast reports whether a line goes on from the last one that waits.
func (v *verifier) afterLast(e *entrant) bool {
	w := &v.waiting[len(v.waiting)-1]
	return w.chained && w.head.Seq > v.at.seq && e.head.Seq == w.head.Seq+1 && e.head.Prev == hashString(w.leaf)
}

// surplus tells of the lines that wait where the chain goes on behind them as
// if they were not there.
func (v *verifier) surplus() {
	for i := range v.waiting {
		w := &v.waiting[i]
		switch {
		case w.chained:
			v.tooEarly(w)
		case w.kind == KindTorn:
			v.add(w.spot, w.seq(), w.kind, w.message)
		default:
			v.add(w.spot, w.seq(), KindInserted, "the line was inserted: the chain goes on behind it as if it were not there")
		}
	}
	v.placed()
}

func (v *verifier) placed() {
	v.waiting, v.spilled = v.waiting[:0], 0
}

// inPlaceOf tells of the lines that wait where the chain goes on with record s:
// they are in the place of those before it.
func (v *verifier) inPlaceOf(s uint64, e *entrant) {
	first := v.at.seq + 1
	prev, known := v.before()
	moved := false
	for i := range v.waiting {
		moved = moved || v.waiting[i].chained
	}
	for i := range v.waiting {
		w := &v.waiting[i]
		if w.chained {
			v.tooEarly(w)
			continue
		}
		v.add(w.spot, w.seq(), w.kind, w.message)
		if !moved {
			v.stepOver(w, s-1)
		}
	}
	if moved {
		g := gap{spot: e.spot, first: first, last: s - 1, then: e.head.Prev, filled: true}
		if known {
			g.before = prev
		}
		v.lack(g)
	}
	v.placed()
	v.at.seq, v.damaged = s-1, true
}

// stepOver goes on behind a damaged line, up to a record.
func (v *verifier) stepOver(w *entrant, last uint64) {
	for range w.lines {
		if v.at.seq >= last {
			return
		}
		v.at, v.damaged = link{seq: v.at.seq + 1, head: w.leaf}, true
		v.tree.Append(w.leaf)
		v.compare(w.spot)
	}
}

// goOn accepts line i of those that wait, behind which the chain goes on: what
// is missing before it is a gap.
func (v *verifier) goOn(i int) {
	w := v.waiting[i]
	for j := range v.waiting[:i] {
		d := &v.waiting[j]
		if d.chained {
			v.tooEarly(d)
			continue
		}
		v.add(d.spot, d.seq(), d.kind, d.message)
		if v.at.seq > 0 {
			v.stepOver(d, w.head.Seq-1)
		}
	}
	v.placed()
	g := gap{spot: w.spot, first: v.at.seq + 1, last: w.head.Seq - 1, then: w.head.Prev}
	prev, known := v.before()
	if known {
		g.before = prev
	}
	if g.last >= g.first || known && prev != w.head.Prev {
		v.lack(g)
	}
	v.at.seq, v.damaged = w.head.Seq-1, true
	v.accept(&w)
}

// lack keeps a gap. So many mean that there are as many findings.
func (v *verifier) lack(g gap) {
	if len(v.gaps) >= maxFindings {
		v.report.Truncated = true
		return
	}
	v.gaps = append(v.gaps, g)
}

// accept takes in the line that the chain goes on with.
func (v *verifier) accept(e *entrant) {
	v.row = row{}
	v.at, v.damaged = link{seq: e.head.Seq, head: e.leaf}, e.kind != ""
	v.tree.Append(e.leaf)
	v.seen.add(e.head.Seq, e.leaf)
	switch {
	case e.kind != "":
		v.add(e.spot, e.seq(), e.kind, e.message)
	case e.opens != nil && e.opens.Lost:
		v.add(e.spot, e.seq(), KindCut, fmt.Sprintf("the file that grew was gone when a process started: records after %d may be missing", e.head.Seq-1))
	}
	v.told(e)
	v.compare(e.spot)
	if len(v.early) > 0 {
		v.passEarly()
	}
}

// told takes in what a record of the chain says of others.
func (v *verifier) told(e *entrant) {
	if e.kind != "" {
		return
	}
	v.closed(e.spot, e.head)
	if e.object != "" {
		v.objects.named(e)
	}
	if e.removal != nil {
		v.removals = append(v.removals, removal{e.head, *e.removal})
	}
}

// seen are the leaf hashes of the last lines of a chain, by seq.
type seen struct {
	pages [seenPages]*[seenPage]seenLeaf
}

type seenLeaf struct {
	seq  uint64
	leaf [sha256.Size]byte
}

// Lines that are copied or come back are known over 65,536 records.
const (
	seenPages = 512
	seenPage  = 128
)

func (s *seen) at(seq uint64) **[seenPage]seenLeaf { return &s.pages[seq/seenPage%seenPages] }

func (s *seen) add(seq uint64, leaf [sha256.Size]byte) {
	p := s.at(seq)
	if *p == nil {
		*p = new([seenPage]seenLeaf)
	}
	(*p)[seq%seenPage] = seenLeaf{seq, leaf}
}

func (s *seen) get(seq uint64) (leaf [sha256.Size]byte, ok bool) {
	p := *s.at(seq)
	if p == nil || p[seq%seenPage].seq != seq {
		return leaf, false
	}
	return p[seq%seenPage].leaf, true
}
