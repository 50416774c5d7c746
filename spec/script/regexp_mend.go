package script

import (
	"fmt"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/dop251/goja/parser"
)

// exclusions writes "any character but one" as what it includes where there are
// alternatives: the backtracking matcher takes a|[^b] for alternatives that
// begin with different characters, and gives up the second after the first. Nor
// does it give back anything of a repetition before such a class.
func (t *rxTree) exclusions(root *rxNode) {
	if !root.find(func(n *rxNode) bool { return n.kind == rxAlt && len(n.kids) > 1 || t.excludesAfter(n) }) {
		return
	}
	for _, n := range t.negated {
		if len(n.raw) < 3 || n.raw[len(n.raw)-1] != ']' { // has no end, which the parser says
			continue
		}
		inner := n.raw[2 : len(n.raw)-1]
		if inner == "" || inner[0] == '\\' && len(inner) > 1 && strings.IndexByte("dDwWsSpPu", inner[1]) >= 0 {
			continue
		}
		r, size := character(inner, true)
		if size != len(inner) || r >= 0xFFFF && !t.p.unicode {
			continue
		}
		switch folds := t.p.fold && !t.p.spelled && unicode.SimpleFold(r) != r; {
		case t.p.unicode || folds: // a list of all others is taken for the exclusion again
			n.raw = `(?:(?!` + exactly(r) + `)[\s\S])`
		case r == 0:
			n.raw = `[\u0001-\uFFFF]`
		default:
			n.raw = fmt.Sprintf(`[\u0000-\u%04X\u%04X-\uFFFF]`, r-1, r+1)
		}
		t.changed = true
	}
}

// halves writes halves of surrogate pairs as assertions: the backtracking
// matcher looks for a text that a match must hold, and makes U+FFFD of them.
// Without the flag u each character beyond U+FFFF is two of them, of which the
// second is what a repetition repeats.
func (t *rxTree) halves() {
	for _, n := range t.wide {
		t.changed = true
		text := strings.TrimPrefix(n.raw, `\`)
		if r, _ := utf8.DecodeRuneInString(text); r > 0xFFFF {
			first, second := utf16.EncodeRune(r)
			n.raw = half(first) + half(second)
		} else {
			n.raw = `(?:(?=` + n.raw + `)[\s\S])`
		}
	}
}

// exactly is a pattern of one character.
func exactly(r rune) string {
	if r > 0xFFFF {
		return string(r)
	}
	return fmt.Sprintf(`\u%04X`, r)
}

func half(r rune) string { return `(?:(?=` + exactly(r) + `)[\s\S])` }

// excludesAfter says that a sequence has a repetition and behind it, or behind
// what can be empty, a class of any character but some.
func (t *rxTree) excludesAfter(n *rxNode) bool {
	if n.kind != rxSeq {
		return false
	}
	repeats := false
	for _, k := range n.kids {
		if repeats && k.begins(func(a *rxNode) bool { return slices.Contains(t.negated, a) }) {
			return true
		}
		varies := k.find(func(x *rxNode) bool { return x.kind == rxRepeat && x.min != x.max })
		repeats = varies || repeats && k.nullable()
	}
	return false
}

// keepsNames puts an assertion that always holds behind a pattern with names of
// groups and the flag u: the linear matcher loses the names where the text has
// characters beyond ASCII, and does not take a pattern that looks ahead.
func (t *rxTree) keepsNames(root *rxNode) {
	if len(t.names) == 0 || !t.p.unicode || t.p.problem != "" || !t.linear(root) {
		return
	}
	t.changed = true
	last := root.kids[len(root.kids)-1]
	last.kids = append(last.kids, &rxNode{kind: rxAhead, raw: "(?=", kids: []*rxNode{seq()}})
}

// linear says that the linear matcher takes the pattern as it is so far.
func (t *rxTree) linear(root *rxNode) bool {
	var b strings.Builder
	t.write(&b, root)
	text, err := parser.TransformRegExp(b.String(), t.p.dotAll, t.p.unicode)
	if err == nil {
		_, err = syntax.Parse(text, syntax.Perl)
	}
	return err == nil
}

// boundaries writes \b and \B out. The backtracking matcher takes letters beyond
// ASCII for parts of words; the linear one does not, and keeps the pattern
// where it is sure to be the one that runs: for the first match in a text.
func (t *rxTree) boundaries(root *rxNode) {
	if len(t.bounds) == 0 || t.p.problem != "" {
		return
	}
	t.changed = true // so that the runtime knows when it splits by it
	word := `[0-9A-Z_a-z]`
	if t.p.unicode && t.p.fold {
		word = `[0-9A-Z_a-z\u017F\u212A]` // these two fold to letters of words
	} else if !t.p.again {
		if t.linear(root) {
			t.bounds[0].raw = "(?:" + t.bounds[0].raw + ")"
			return
		}
	}
	// One negative assertion, which the matcher does not try to search by.
	for _, n := range t.bounds {
		n.raw = map[string]string{`\B`: "(?!(?<=W)(?!W)|(?<!W)(?=W))", `\b`: "(?!(?<=W)(?=W)|(?<!W)(?!W))"}[n.raw]
		n.raw = strings.ReplaceAll(n.raw, "W", word)
	}
}

// repetitions mends what is repeated, from the inside out.
func (t *rxTree) repetitions(n *rxNode) *rxNode {
	for i, k := range n.kids {
		n.kids[i] = t.repetitions(k)
	}
	if n.kind != rxRepeat || n.max == 0 || t.p.problem != "" {
		return n
	}
	body := n.kids[0]
	if n.max != 1 && body.skips() {
		// ECMAScript empties the captures of a body when a turn of it begins.
		t.p.fail("a capture inside a repetition that its last turn may skip is not supported; write (?:..) for the group, or match one turn at a time with the flag g")
		return n
	}
	if !body.nullable() {
		return n
	}
	if !body.find(func(k *rxNode) bool { return k.kind == rxAtom || k.kind == rxRef }) && body.find(func(k *rxNode) bool { return k.kind == rxAssert }) {
		t.p.fail("a repetition of nothing but assertions is not supported")
		return n
	}
	// ECMAScript gives up a turn that matches nothing, beyond those that must be.
	const advice = "a repetition of something that may be empty is not supported here; let each turn match at least one character"
	switch {
	case n.min == 0 && (body.setWhenEmpty() || !body.emptyLast()):
		some, ok := t.some(body)
		if !ok {
			t.p.fail(advice)
			return n
		}
		t.changed = true
		return &rxNode{kind: rxRepeat, kids: []*rxNode{some}, min: 0, max: n.max, lazy: n.lazy, start: n.start, end: n.end}
	case n.min > 0 && n.max != n.min && body.captures():
		t.p.fail(advice)
	case n.min > 0 && n.max != n.min && !body.emptyLast():
		some, ok := t.some(body)
		if !ok {
			t.p.fail(advice)
			return n
		}
		t.changed = true
		rest := &rxNode{kind: rxRepeat, kids: []*rxNode{some}, max: -1, lazy: n.lazy, start: n.start, end: n.end}
		if n.max > 0 {
			rest.max = n.max - n.min
		}
		must := &rxNode{kind: rxRepeat, kids: []*rxNode{body}, min: n.min, max: n.min, start: n.start, end: n.end}
		return group(seq(must, rest))
	}
	return n
}

func seq(kids ...*rxNode) *rxNode { return &rxNode{kind: rxSeq, kids: kids} }

func group(n *rxNode) *rxNode { return &rxNode{kind: rxGroup, raw: "(?:", kids: []*rxNode{n}} }

// some gives n without the empty text, in the same order of trying. It is a
// group, a capture or one character.
func (t *rxTree) some(n *rxNode) (*rxNode, bool) {
	if !n.nullable() {
		return n, true
	}
	switch n.kind {
	case rxGroup, rxCapture:
		inner, ok := t.some(n.kids[0])
		out := *n
		out.kids = []*rxNode{inner}
		return &out, ok && inner != nil
	case rxAlt:
		alt := &rxNode{kind: rxAlt}
		for _, k := range n.kids {
			if some, ok := t.some(k); !ok || some == nil && k.captures() {
				return nil, false // the groups keep their numbers
			} else if some != nil {
				alt.kids = append(alt.kids, some)
			}
		}
		if len(alt.kids) == 0 {
			return nil, true
		}
		return alt, true // it always stands in a group
	case rxRepeat:
		if n.max == 0 {
			return nil, true
		}
		// Turns that match nothing are given up already where none must be.
		body, ok := t.some(n.kids[0])
		if !ok || body == nil || n.min > 0 && n.kids[0].captures() || n.min > 1 || n.min > 0 && !n.kids[0].emptyLast() {
			return nil, false
		}
		if n.max == 1 {
			return body, true
		}
		return &rxNode{kind: rxRepeat, kids: []*rxNode{body}, min: 1, max: n.max, lazy: n.lazy}, true
	case rxSeq:
		return t.someOf(n.kids)
	case rxAssert, rxNotAhead, rxNotBehind, rxAhead, rxBehind:
		return nil, true // it matches nothing else
	}
	return nil, false
}

// someOf is some for a sequence: either its first part is not empty, or
// one of the others is; a lazy part tries that first.
func (t *rxTree) someOf(kids []*rxNode) (*rxNode, bool) {
	if len(kids) == 0 {
		return nil, true
	}
	first, rest := kids[0], kids[1:]
	if !seq(kids...).nullable() {
		return seq(kids...), true
	}
	head, ok := t.some(first)
	if !ok {
		return nil, false
	}
	tail, ok := t.someOf(rest)
	if !ok {
		return nil, false
	}
	if first.kind != rxRepeat && first.kind != rxGroup && first.kind != rxCapture {
		// It always matches nothing, but may refuse to.
		if tail == nil {
			return nil, true
		}
		return seq(first, tail), true
	}
	switch {
	case head == nil && tail == nil:
		return nil, true
	case tail == nil && len(rest) == 0:
		return head, true
	case seq(kids...).captures() || slices.ContainsFunc(kids, func(k *rxNode) bool { return k.find(func(k *rxNode) bool { return k.kind == rxRef }) }):
		return nil, false
	case head == nil || tail == nil:
		return nil, false
	case !first.emptyLast() && !(first.kind == rxRepeat && first.lazy && first.min == 0 && !first.kids[0].nullable()):
		return nil, false
	}
	whole := seq(append([]*rxNode{head}, rest...)...)
	if t.grown += len(t.src); t.grown > maxExpanded {
		t.p.fail("it becomes too large")
	}
	alt := &rxNode{kind: rxAlt, kids: []*rxNode{whole, tail}}
	if !first.emptyLast() {
		alt.kids = []*rxNode{tail, whole}
	}
	return group(alt), true
}
