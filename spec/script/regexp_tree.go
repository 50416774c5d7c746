package script

import (
	"strconv"
	"strings"
	"unicode/utf8"
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
	t.halves()
	t.keepsNames(root)
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
	wide    []*rxNode // characters that are, or hold, half of a surrogate pair
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
		} else if len(n.raw) == 8 && halfEscape(n.raw[1:]) {
			t.wide = append(t.wide, n)
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
	r, n := utf8.DecodeRuneInString(t.src[t.pos:])
	out := t.leaf(rxAtom, n)
	if r > 0xFFFF && !t.p.unicode {
		t.wide = append(t.wide, out)
	}
	return out
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
