package script

import (
	"fmt"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dop251/goja/parser"
)

// A rxNode is a part of a regular expression, read so far only as its
// structure needs it: what repeats, what captures, what can be empty.
type rxNode struct {
	kind     rxKind
	raw      string // of an atom, an assertion, a reference; of a group how it begins
	kids     []*rxNode
	min, max int // of a repetition; max < 0 is no bound
	lazy     bool
	capture  int // number of a capture
	refs     int // the capture that a reference means
	start    int // where it stands
	end      int
}

type rxKind int

const (
	rxAtom   rxKind = iota // one character
	rxAssert               // ^ $ \b \B
	rxRef
	rxGroup // (?:..)
	rxCapture
	rxAhead
	rxNotAhead
	rxBehind
	rxNotBehind
	rxAlt
	rxSeq
	rxRepeat
)

// structure reads what the characters became and mends, or refuses, what the
// matchers repeat, capture or anchor otherwise than ECMAScript.
func (p *pattern) structure(text string) string {
	t := &rxTree{p: p, src: text, names: map[string]int{}}
	t.count()
	root := t.alternatives(0)
	if p.problem == "" && t.pos < len(t.src) {
		p.fail("a parenthesis is not opened")
	}
	if p.problem != "" {
		return ""
	}
	t.root = root
	t.references(root, nil, false)
	t.lookarounds(root)
	root = t.repetitions(root)
	t.boundaries(root)
	t.exclusions(root)
	if p.problem != "" || !t.changed {
		return text
	}
	p.changed = true
	var b strings.Builder
	t.write(&b, root)
	return b.String()
}

type rxTree struct {
	p       *pattern
	src     string
	pos     int
	names   map[string]int
	total   int // captures in all
	seen    int // captures so far
	changed bool
	root    *rxNode
	negated []*rxNode // classes
	bounds  []*rxNode // \b and \B
	grown   int       // bytes that were written out twice
}

// count finds the captures and their names, which references before them need.
func (t *rxTree) count() {
	for i := 0; i < len(t.src); i++ {
		switch t.src[i] {
		case '\\':
			i++
		case '[':
			i = classEnd(t.src, i) - 1
		case '(':
			rest := t.src[i+1:]
			named := strings.HasPrefix(rest, "?<") && !strings.HasPrefix(rest, "?<=") && !strings.HasPrefix(rest, "?<!")
			if strings.HasPrefix(rest, "?") && !named {
				continue
			}
			t.total++
			if named {
				name, _, _ := strings.Cut(rest[2:], ">")
				if _, twice := t.names[name]; twice {
					t.p.fail("two groups have the name %s", clipName(name))
				}
				t.names[name] = t.total
			}
		}
	}
}

// classEnd is the place behind the class that begins at i.
func classEnd(s string, i int) int {
	i++
	if i < len(s) && s[i] == '^' {
		i++
	}
	for ; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case ']':
			return i + 1
		}
	}
	return len(s)
}

func (t *rxTree) more() bool { return t.p.problem == "" && t.pos < len(t.src) }

const maxGroupDepth = 200

func (t *rxTree) alternatives(depth int) *rxNode {
	if depth > maxGroupDepth {
		t.p.fail("groups nest too deeply")
	}
	alt := &rxNode{kind: rxAlt, start: t.pos}
	for {
		seq := &rxNode{kind: rxSeq, start: t.pos}
		for t.more() && t.src[t.pos] != '|' && t.src[t.pos] != ')' {
			if n := t.term(depth); n != nil {
				n.end = t.pos
				seq.kids = append(seq.kids, t.quantified(n))
			}
		}
		seq.end = t.pos
		alt.kids = append(alt.kids, seq)
		if !t.more() || t.src[t.pos] != '|' {
			alt.end = t.pos
			return alt
		}
		t.pos++
	}
}

// leaf takes n bytes.
func (t *rxTree) leaf(kind rxKind, n int) *rxNode {
	n = min(n, len(t.src)-t.pos)
	out := &rxNode{kind: kind, raw: t.src[t.pos : t.pos+n], start: t.pos}
	t.pos += n
	return out
}

const lineEnds = `\n\r\u2028\u2029`

func (t *rxTree) term(depth int) *rxNode {
	switch t.src[t.pos] {
	case '(':
		return t.group(depth)
	case '[':
		n := t.leaf(rxAtom, classEnd(t.src, t.pos)-t.pos)
		if strings.HasPrefix(n.raw, "[^") {
			t.negated = append(t.negated, n)
		}
		return n
	case '^', '$':
		n := t.leaf(rxAssert, 1)
		if t.p.lines {
			// The matchers know \n alone for the end of a line.
			t.changed = true
			n.raw = map[string]string{"^": "(?<![^" + lineEnds + "])", "$": "(?![^" + lineEnds + "])"}[n.raw]
		}
		return n
	case '*', '+', '?':
		t.p.fail("there is nothing that %c could repeat", t.src[t.pos])
		return nil
	case '{':
		if _, _, size := braces(t.src[t.pos:]); size > 0 {
			t.p.fail("there is nothing that the braces could repeat")
			return nil
		}
		return t.leaf(rxAtom, 1)
	case '\\':
		return t.escape()
	}
	_, n := utf8.DecodeRuneInString(t.src[t.pos:])
	return t.leaf(rxAtom, n)
}

func (t *rxTree) escape() *rxNode {
	rest := t.src[t.pos+1:]
	if rest == "" {
		t.p.fail("it ends in a backslash")
		return nil
	}
	switch c := rest[0]; {
	case c == 'b' || c == 'B':
		n := t.leaf(rxAssert, 2)
		t.bounds = append(t.bounds, n)
		return n
	case c == 'k' && (t.p.unicode || len(t.names) > 0):
		name, _, closed := strings.Cut(rest[1:], ">")
		number := t.names[strings.TrimPrefix(name, "<")]
		if !closed || !strings.HasPrefix(name, "<") || number == 0 {
			t.p.fail(`\k names no group`)
			return nil
		}
		n := t.leaf(rxRef, len(`\k>`)+len(name))
		n.refs = number
		return n
	case c >= '1' && c <= '9':
		size := 1
		for size < len(rest) && rest[size] >= '0' && rest[size] <= '9' {
			size++
		}
		number, err := strconv.Atoi(rest[:size])
		if err == nil && number <= t.total {
			n := t.leaf(rxRef, 1+size)
			n.refs = number
			return n
		}
		if t.p.unicode {
			t.p.fail(`\%s names no group`, clipName(rest[:size]))
			return nil
		}
		return t.leaf(rxAtom, 1+octalDigits(rest))
	case c == '0':
		return t.leaf(rxAtom, 1+octalDigits(rest))
	case c == 'x' && hexDigits(rest[1:], 2):
		return t.leaf(rxAtom, 4)
	case c == 'u' && hexDigits(rest[1:], 4):
		size := 6
		if t.p.unicode {
			if r, used := pairEscape(t.src[t.pos:]); r > 0xFFFF {
				size = used
			}
		}
		return t.leaf(rxAtom, size)
	case c == 'u' && t.p.unicode && strings.HasPrefix(rest, "u{"):
		return t.leaf(rxAtom, 2+strings.IndexByte(rest, '}'))
	case c == 'c' && len(rest) > 1:
		return t.leaf(rxAtom, 3)
	}
	_, n := utf8.DecodeRuneInString(rest)
	return t.leaf(rxAtom, 1+n)
}

func octalDigits(s string) int {
	n := 0
	for n < len(s) && n < 3 && s[n] >= '0' && s[n] <= '7' && (n < 2 || s[0] <= '3') {
		n++
	}
	return max(n, 1)
}

func hexDigits(s string, n int) bool {
	if len(s) < n {
		return false
	}
	_, err := strconv.ParseUint(s[:n], 16, 32)
	return err == nil
}

// braces reads {n}, {n,} and {n,m}.
func braces(s string) (low, high, size int) {
	end := strings.IndexByte(s, '}')
	if !strings.HasPrefix(s, "{") || end < 0 {
		return 0, 0, 0
	}
	from, to, comma := strings.Cut(s[1:end], ",")
	number := func(s string) int {
		if s == "" || strings.Trim(s, "0123456789") != "" {
			return -1
		}
		n, err := strconv.Atoi(s)
		if err != nil {
			n = 1 << 30
		}
		return n
	}
	low, high = number(from), number(to)
	switch {
	case low < 0 || comma && to != "" && high < 0:
		return 0, 0, 0
	case !comma:
		high = low
	}
	return low, high, end + 1
}

// quantified reads what repeats n.
func (t *rxTree) quantified(n *rxNode) *rxNode {
	if !t.more() {
		return n
	}
	low, high, size := 0, -1, 1
	switch t.src[t.pos] {
	case '*':
	case '+':
		low = 1
	case '?':
		high = 1
	case '{':
		low, high, size = braces(t.src[t.pos:])
	default:
		return n
	}
	if size == 0 {
		return n
	}
	switch n.kind {
	case rxAhead, rxNotAhead:
		if t.p.unicode {
			t.p.fail("an assertion cannot be repeated")
		}
	case rxAssert, rxBehind, rxNotBehind:
		t.p.fail("an assertion cannot be repeated")
	}
	if high >= 0 && high < low {
		t.p.fail("the numbers of a repetition are out of order")
	}
	t.pos += size
	r := &rxNode{kind: rxRepeat, kids: []*rxNode{n}, min: low, max: high, start: n.start}
	if t.more() && t.src[t.pos] == '?' {
		t.pos++
		r.lazy = true
	}
	r.end = t.pos
	return r
}

func (t *rxTree) group(depth int) *rxNode {
	n := &rxNode{kind: rxCapture, raw: "(", start: t.pos}
	for prefix, kind := range map[string]rxKind{"(?:": rxGroup, "(?=": rxAhead, "(?!": rxNotAhead, "(?<=": rxBehind, "(?<!": rxNotBehind} {
		if strings.HasPrefix(t.src[t.pos:], prefix) {
			n.kind, n.raw = kind, prefix
		}
	}
	if n.kind == rxCapture {
		if strings.HasPrefix(t.src[t.pos:], "(?<") {
			n.raw = t.src[t.pos : t.pos+strings.IndexByte(t.src[t.pos:], '>')+1]
		}
		t.seen++
		n.capture = t.seen
	}
	t.pos += len(n.raw)
	n.kids = []*rxNode{t.alternatives(depth + 1)}
	if t.p.problem == "" && t.pos >= len(t.src) {
		t.p.fail("a parenthesis is not closed")
		return n
	}
	t.pos++
	return n
}

// exclusions writes "any character but one" as what it includes where there are
// alternatives: the backtracking matcher takes a|[^b] for alternatives that
// begin with different characters, and gives up the second after the first.
func (t *rxTree) exclusions(root *rxNode) {
	if !root.find(func(n *rxNode) bool { return n.kind == rxAlt && len(n.kids) > 1 }) {
		return
	}
	for _, n := range t.negated {
		inner := n.raw[2 : len(n.raw)-1]
		if inner == "" || inner[0] == '\\' && len(inner) > 1 && strings.IndexByte("dDwWsSpPu", inner[1]) >= 0 {
			continue
		}
		r, size := character(inner, true)
		if size != len(inner) || r >= 0xFFFF || t.p.fold && !t.p.spelled && unicode.SimpleFold(r) != r {
			continue
		}
		last := `\uFFFF`
		if t.p.unicode {
			last = `\u{10FFFF}`
		}
		raw := "["
		if r > 0 {
			raw += fmt.Sprintf(`\u0000-\u%04X`, r-1)
		}
		n.raw = raw + fmt.Sprintf(`\u%04X-%s]`, r+1, last)
		t.changed = true
	}
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
		var b strings.Builder
		t.write(&b, root)
		text, err := parser.TransformRegExp(b.String(), t.p.dotAll, t.p.unicode)
		if err == nil {
			if _, err = syntax.Parse(text, syntax.Perl); err == nil {
				t.bounds[0].raw = "(?:" + t.bounds[0].raw + ")"
				return
			}
		}
	}
	// One negative assertion, which the matcher does not try to search by.
	for _, n := range t.bounds {
		n.raw = map[string]string{`\B`: "(?!(?<=W)(?!W)|(?<!W)(?=W))", `\b`: "(?!(?<=W)(?=W)|(?<!W)(?!W))"}[n.raw]
		n.raw = strings.ReplaceAll(n.raw, "W", word)
	}
}

func (t *rxTree) write(b *strings.Builder, n *rxNode) {
	switch n.kind {
	case rxAtom, rxAssert, rxRef:
		b.WriteString(n.raw)
	case rxAlt, rxSeq:
		for i, k := range n.kids {
			if i > 0 && n.kind == rxAlt {
				b.WriteByte('|')
			}
			t.write(b, k)
		}
	case rxRepeat:
		t.write(b, n.kids[0])
		switch {
		case n.min == 0 && n.max < 0:
			b.WriteByte('*')
		case n.min == 1 && n.max < 0:
			b.WriteByte('+')
		case n.min == 0 && n.max == 1:
			b.WriteByte('?')
		default:
			b.WriteString("{" + strconv.Itoa(n.min))
			if n.max != n.min {
				b.WriteByte(',')
				if n.max >= 0 {
					b.WriteString(strconv.Itoa(n.max))
				}
			}
			b.WriteByte('}')
		}
		if n.lazy {
			b.WriteByte('?')
		}
	default:
		b.WriteString(n.raw)
		t.write(b, n.kids[0])
		b.WriteByte(')')
	}
}

// nullable says that n can match the empty text.
func (n *rxNode) nullable() bool {
	switch n.kind {
	case rxAtom:
		return false
	case rxAlt:
		return slices.ContainsFunc(n.kids, (*rxNode).nullable)
	case rxSeq:
		return !slices.ContainsFunc(n.kids, func(k *rxNode) bool { return !k.nullable() })
	case rxRepeat:
		return n.min == 0 || n.kids[0].nullable()
	case rxGroup, rxCapture:
		return n.kids[0].nullable()
	}
	return true
}

// emptyLast says that n tries the empty text, if at all, after all others.
func (n *rxNode) emptyLast() bool {
	if !n.nullable() {
		return true
	}
	switch n.kind {
	case rxAlt:
		for i, k := range n.kids {
			if k.nullable() && i < len(n.kids)-1 || !k.emptyLast() {
				return false
			}
		}
	case rxSeq:
		return !slices.ContainsFunc(n.kids, func(k *rxNode) bool { return !k.emptyLast() })
	case rxRepeat:
		return n.max == 0 || !n.lazy && n.kids[0].emptyLast()
	case rxGroup, rxCapture:
		return n.kids[0].emptyLast()
	}
	return true
}

// find looks for a node in n, itself included.
func (n *rxNode) find(f func(*rxNode) bool) bool {
	return f(n) || slices.ContainsFunc(n.kids, func(k *rxNode) bool { return k.find(f) })
}

func (n *rxNode) captures() bool {
	return n.find(func(k *rxNode) bool { return k.kind == rxCapture })
}

// setWhenEmpty says that a turn of n that matches the empty text can set a capture.
func (n *rxNode) setWhenEmpty() bool {
	return n.find(func(k *rxNode) bool {
		return k.kind == rxCapture && k.nullable() || (k.kind == rxAhead || k.kind == rxBehind) && k.captures()
	})
}

// skips says that a turn of n can leave a capture in it unset.
func (n *rxNode) skips() bool {
	switch {
	case !n.captures() || n.kind == rxNotAhead || n.kind == rxNotBehind:
		return false
	case n.kind == rxAlt && len(n.kids) > 1, n.kind == rxRepeat && n.min == 0 && n.max != 0:
		return true
	}
	return slices.ContainsFunc(n.kids, (*rxNode).skips)
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
			if k, ok := t.some(k); !ok {
				return nil, false
			} else if k != nil {
				alt.kids = append(alt.kids, k)
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

// cased says that n may match a character that has another case.
func (n *rxNode) cased() bool {
	if n.kind != rxAtom {
		return n.kind == rxRef
	}
	raw := n.raw
	if strings.HasPrefix(raw, "[^") {
		return true
	}
	for _, plain := range []string{`\d`, `\s`, `\n`, `\r`, `\t`} {
		raw = strings.ReplaceAll(raw, plain, "")
	}
	if strings.HasPrefix(raw, `\x`) && len(raw) == 4 || strings.HasPrefix(raw, "[") {
		// What the classes were written as.
		for i := strings.Index(raw, `\x`); i >= 0 && hexDigits(raw[i+2:], 2); i = strings.Index(raw, `\x`) {
			c, _ := strconv.ParseUint(raw[i+2:i+4], 16, 32)
			raw = raw[:i] + string(rune(c)) + raw[i+4:]
		}
	}
	return strings.ContainsFunc(raw, func(r rune) bool {
		return r >= utf8.RuneSelf || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
	}) || strings.ContainsRune(strings.Trim(raw, "[]"), '-') && strings.HasPrefix(raw, "[") && raw != "[-]"
}

// references refuses references to what an earlier turn captured, which
// ECMAScript has forgotten. around are the repetitions around n.
func (t *rxTree) references(n *rxNode, around []*rxNode, behind bool) {
	if n.kind == rxRef {
		if t.p.fold && !t.p.unicode {
			t.root.find(func(k *rxNode) bool {
				if k.kind == rxCapture && k.capture == n.refs && k.find((*rxNode).cased) {
					t.p.fail("a reference to a group of letters together with the flag i is not supported; use the flags iu, or compare in code")
				}
				return false
			})
		}
		for _, r := range around {
			if r.find(func(k *rxNode) bool {
				return k.kind == rxCapture && k.capture == n.refs && (behind || k.end > n.start)
			}) {
				t.p.fail("a reference to a group that the same repetition captures only later is not supported")
			}
		}
		return
	}
	if n.kind == rxRepeat && n.max != 1 && n.max != 0 {
		around = append(around[:len(around):len(around)], n)
	}
	behind = behind || n.kind == rxBehind || n.kind == rxNotBehind
	for _, k := range n.kids {
		t.references(k, around, behind)
	}
}

// lookarounds refuses what the engine drops: a capture that ends before the
// one of the number before it begins.
func (t *rxTree) lookarounds(root *rxNode) {
	root.find(func(n *rxNode) bool {
		const advice = "is not supported; capture in an expression of its own"
		switch n.kind {
		case rxAhead:
			last := 0
			n.find(func(k *rxNode) bool { last = max(last, k.capture); return false })
			if last > 0 && last < t.total && !firstOnly(n.kids[0]) {
				t.p.fail("a capture inside of (?=..) with another one behind it %s", advice)
			}
		case rxBehind:
			first := t.total + 1
			n.find(func(k *rxNode) bool {
				if k.kind == rxCapture {
					first = min(first, k.capture)
				}
				return false
			})
			if first > 1 && first <= t.total {
				t.p.fail("a capture inside of (?<=..) with another one before it %s", advice)
			}
		}
		return false
	})
}

// firstOnly says that what n captures begins where n does.
func firstOnly(n *rxNode) bool {
	switch n.kind {
	case rxAlt:
		return !slices.ContainsFunc(n.kids, func(k *rxNode) bool { return !firstOnly(k) })
	case rxSeq:
		for i, k := range n.kids {
			if k.captures() {
				return firstOnly(k) && !slices.ContainsFunc(n.kids[i+1:], (*rxNode).captures)
			}
			if k.kind == rxAtom || k.kind == rxRepeat || k.kind == rxGroup || k.kind == rxRef {
				return !slices.ContainsFunc(n.kids[i:], (*rxNode).captures)
			}
		}
		return true
	case rxRepeat:
		return !n.captures() || n.max == 1 && firstOnly(n.kids[0])
	case rxCapture, rxGroup, rxAhead:
		return firstOnly(n.kids[0])
	}
	return !n.captures()
}
