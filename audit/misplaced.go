package audit

import (
	"fmt"
	"slices"
)

const otherMessage = "the line is of another chain: it follows no record of this one"

// tooEarly keeps a good line that stands before its place, to say of it what it
// is when its place comes.
func (v *verifier) tooEarly(w *entrant) {
	if w.head.Seq <= v.at.seq+1 && !v.follows(w.head) {
		v.add(w.spot, w.seq(), KindOther, otherMessage)
		return
	}
	v.keepEarly(early{spot: w.spot, first: w.head.Seq, last: w.head.Seq, prev: w.head.Prev, leaf: w.leaf, before: v.at.seq + 1})
}

func (v *verifier) keepEarly(x early) {
	if len(v.early) >= maxFindings {
		v.report.Truncated = true
		v.add(x.spot, &x.first, KindOther, otherMessage)
		return
	}
	v.early = append(v.early, x)
}

// takeEarly goes on behind the early lines whose place is here, if the line
// goes on there.
func (v *verifier) takeEarly(e *entrant) {
	at, taken := v.at, []int(nil)
	for {
		prev := ""
		if at.seq > 0 {
			prev = hashString(at.head)
		}
		i := slices.IndexFunc(v.early, func(x early) bool { return x.first == at.seq+1 && x.prev == prev })
		if i < 0 && e == nil && len(taken) > 0 {
			break
		}
		if i < 0 {
			return
		}
		v.early[i].ours = true
		at, taken = link{seq: v.early[i].last, head: v.early[i].leaf}, append(taken, i)
		if e != nil && e.head.Seq == at.seq+1 && e.head.Prev == hashString(at.head) {
			break
		}
	}
	if e != nil && v.at.seq+1 == e.head.Seq && v.follows(e.head) {
		return
	}
	v.surplus()
	v.at, v.damaged = at, false
	slices.Sort(taken)
	for _, i := range slices.Backward(taken) {
		v.moved(v.early[i])
		v.seen.add(v.early[i].last, v.early[i].leaf)
		v.early = slices.Delete(v.early, i, i+1)
	}
}

func (v *verifier) moved(x early) {
	v.add(x.spot, &x.first, KindMoved, fmt.Sprintf("%s moved: it belongs behind record %d, and stands before record %d", several(x.first, x.last, "was", "were"), x.first-1, x.before))
}

// passEarly says what early lines are whose place the chain has passed.
func (v *verifier) passEarly() {
	v.early = slices.DeleteFunc(v.early, func(x early) bool {
		switch {
		case v.at.seq < x.last:
			return false
		case v.at.seq == x.last && v.at.head == x.leaf:
			v.add(x.spot, &x.first, KindRepeated, fmt.Sprintf("%s repeated: the same stands in its place as well", several(x.first, x.last, "is", "are")))
		case x.ours:
			v.moved(x)
		default:
			v.add(x.spot, &x.first, KindOther, otherMessage)
		}
		return true
	})
}

// several names records, and says one thing of them.
func several(first, last uint64, one, many string) string {
	if first >= last {
		return fmt.Sprintf("record %d %s", first, one)
	}
	return fmt.Sprintf("records %d to %d %s", first, last, many)
}

// behind says what a good line is whose seq the chain has passed.
func (v *verifier) behind(e *entrant) {
	if v.goBack(e) {
		return
	}
	leaf, known := v.seen.get(e.head.Seq)
	switch {
	case known && leaf == e.leaf && v.copy:
		v.report.Records--
		v.report.Repeats++
		v.last = v.at.head
	case known && leaf == e.leaf:
		v.rowOf(e, KindRepeated, fmt.Sprintf("record %d is repeated: the same line stands before", e.head.Seq))
	case !known && v.turnUp(e):
		v.rowOf(e, KindMoved, fmt.Sprintf("record %d was moved: it belongs behind record %d, and stands behind record %d", e.head.Seq, e.head.Seq-1, v.at.seq))
		v.told(e)
	default:
		v.rowOf(e, KindOther, otherMessage)
	}
}

// rowOf adds a finding, unless the line goes on from the one before it that has
// the same.
func (v *verifier) rowOf(e *entrant, kind, message string) {
	switch {
	case v.inRow(e, kind):
		v.found[v.row.at].more++
	case v.add(e.spot, e.seq(), kind, message):
		v.row = row{at: len(v.found) - 1}
	default:
		v.row = row{}
		return
	}
	v.row.seq, v.row.head = e.head.Seq, hashString(e.leaf)
}

// inRow reports whether a line goes on from the one before it, of which a
// finding of that kind is.
func (v *verifier) inRow(e *entrant, kind string) bool {
	r := v.row
	return r.seq > 0 && e.head.Seq == r.seq+1 && e.head.Prev == r.head && v.found[r.at].Kind == kind && v.found[r.at].File == e.file
}

// turnUp reports whether a record is one of those that are missing, and counts
// it as there.
func (v *verifier) turnUp(e *entrant) bool {
	s := e.head.Seq
	for i := range v.gaps {
		g := &v.gaps[i]
		if s < g.first || s > g.last {
			continue
		}
		if s == g.first && g.before != "" && e.head.Prev != g.before || s == g.last && g.then != "" && hashString(e.leaf) != g.then {
			return false
		}
		rest := *g
		rest.first, rest.before, rest.parted = s+1, hashString(e.leaf), true
		g.last, g.then, g.parted = s-1, e.head.Prev, true
		if rest.first <= rest.last && len(v.gaps) < 2*maxFindings {
			v.gaps = append(v.gaps, rest)
		}
		return true
	}
	return false
}

// goBack goes back to the newest gap, where a line goes on from the one before
// it: what came since stands before its place, or is of another chain.
func (v *verifier) goBack(e *entrant) bool {
	if len(v.gaps) == 0 {
		return false
	}
	g := v.gaps[len(v.gaps)-1]
	only := g.first == 1 && g.last == 1 && hashString(e.leaf) == g.then
	if g.filled || g.parted || e.head.Seq != g.first || !only && (g.before == "" || e.head.Prev != g.before) {
		return false
	}
	v.surplus()
	v.gaps = v.gaps[:len(v.gaps)-1]
	x := early{spot: g.spot, first: g.last + 1, last: v.at.seq, prev: g.then, leaf: v.at.head, before: g.first}
	if x.first <= g.first { // the gap of no lines
		v.add(x.spot, &x.first, KindOther, otherMessage)
	} else {
		v.keepEarly(x)
	}
	v.at.seq, v.damaged = g.first-1, true
	v.accept(e)
	return true
}

// settle says what all those are that wait for lines that do not come.
func (v *verifier) settle() {
	last := -1
	for i := range v.waiting {
		if w := &v.waiting[i]; w.chained && w.head.Seq > v.at.seq {
			last = i
		}
	}
	rest := slices.Clone(v.waiting[last+1:])
	if last >= 0 {
		v.goOn(last)
	}
	for i := range rest {
		w := &rest[i]
		switch {
		case w.kind == KindTorn:
			v.add(w.spot, w.seq(), w.kind, w.message)
		case w.bare:
			v.add(w.spot, w.seq(), KindInserted, "the line was inserted: it has no member of a record")
		default:
			v.add(w.spot, w.seq(), w.kind, w.message)
			v.stepOver(w, v.at.seq+uint64(w.lines))
		}
	}
	v.placed()
	if len(v.early) > 0 {
		v.takeEarly(nil)
	}
}

// lacking gives a finding for what is missing still.
func (v *verifier) lacking() (out []noted) {
	for _, x := range v.early {
		kind, message := KindOther, otherMessage
		if x.ours {
			kind, message = KindMoved, fmt.Sprintf("%s moved: it stands before record %d", several(x.first, x.last, "was", "were"), x.before)
		}
		out = append(out, noted{Finding: Finding{File: x.file, Line: x.line, Seq: &x.first, Kind: kind, Message: message}, nth: x.nth})
	}
	for _, g := range v.gaps {
		seq := g.last + 1
		f := noted{Finding: Finding{File: g.file, Line: g.line, Seq: &seq, Kind: KindRemoved}, nth: g.nth}
		switch {
		case g.last >= g.first && g.first == 1:
			f.Message = fmt.Sprintf("the file begins in the middle of a chain: records 1 to %d are elsewhere or were removed", g.last)
		case g.last >= g.first:
			f.Message = fmt.Sprintf("%s removed before this line", several(g.first, g.last, "was", "were"))
		case g.parted:
			continue
		default:
			f.Kind, f.Message = KindChain, "the line does not follow the one before it: that one was edited and its sum made anew, or this one is of another chain"
		}
		out = append(out, f)
	}
	return out
}
