package script

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Pattern gives the form of a regular expression that the engine reads right,
// and "" or why there is none. The engine has two matchers. One would take
// \p{..} for other characters without a word, the other one knows escapes and
// groups that JavaScript does not have; both are written out here.
//
// With the flag v the result is for the flag u. The flag d changes nothing.
func Pattern(source, flags string) (string, string) {
	out, _, msg := Native(source, flags)
	return out, msg
}

// Native is Pattern and, beyond it, the flags with which the pattern means what
// the author wrote: the flag i is gone where all cases are written out. The
// flags d and v are left as they are.
func Native(source, flags string) (string, string, string) {
	unicode, fold := strings.Contains(flags, "u"), strings.Contains(flags, "i")
	sets := strings.Contains(flags, "v")
	if sets && unicode {
		return "", "", "the flags u and v exclude each other"
	}
	p := &pattern{src: source, unicode: unicode || sets, sets: sets, fold: fold,
		lines: strings.Contains(flags, "m"), again: strings.ContainsAny(flags, "gy"), dotAll: strings.Contains(flags, "s")}
	out := p.rewrite()
	if p.odd && p.problem == "" {
		spelled := *p
		spelled.pos, spelled.changed, spelled.class, spelled.spelled = 0, false, false, true
		spelled.out = strings.Builder{}
		p = &spelled
		// No pattern of an author begins like this by accident.
		p.out.WriteString(spelledMark)
		out = p.rewrite()
		flags = strings.ReplaceAll(flags, "i", "")
	}
	if p.problem != "" {
		return "", "", p.problem
	}
	return out, flags, ""
}

const spelledMark = "(?:)"

func (p *pattern) rewrite() string {
	for p.pos < len(p.src) && p.problem == "" {
		if p.fold && !p.unicode && !p.class && p.foldStep() {
			continue
		}
		if p.problem == "" {
			p.step()
		}
		if p.out.Len() > maxExpanded {
			p.fail("it becomes too large; name fewer properties")
		}
	}
	if p.problem != "" {
		return ""
	}
	out := p.structure(p.out.String())
	if !p.changed && !p.spelled {
		return p.src
	}
	return out
}

// maxExpanded bounds the length of a pattern with its properties written out;
// the largest property takes 6 KiB.
const maxExpanded = 256 << 10

type pattern struct {
	src     string
	pos     int
	out     strings.Builder
	unicode bool // flag u or v
	sets    bool // flag v
	fold    bool // flag i
	lines   bool // flag m
	again   bool // flag g or y: matches may begin anywhere in a text
	dotAll  bool // flag s
	odd     bool // the matchers fold some of it otherwise than ECMAScript
	spelled bool // all cases are written out
	class   bool // inside [...]
	changed bool
	problem string
}

func (p *pattern) fail(format string, args ...any) {
	if p.problem == "" {
		p.problem = "invalid or unsupported regular expression: " + fmt.Sprintf(format, args...)
	}
}

// copy takes n bytes as they are.
func (p *pattern) copy(n int) {
	n = min(n, len(p.src)-p.pos)
	p.out.WriteString(p.src[p.pos : p.pos+n])
	p.pos += n
}

func (p *pattern) step() {
	switch c := p.src[p.pos]; {
	case c == '\\':
		p.escape()
	case c == '[' && !p.class && p.sets:
		p.classSet()
	case c == '[' && !p.class:
		p.class = true
		p.copy(1)
		if strings.HasPrefix(p.src[p.pos:], "^") {
			p.copy(1)
		}
		if strings.HasPrefix(p.src[p.pos:], "]") { // [] and [^] have no members
			p.class = false
			p.copy(1)
		}
	case c == '[' && p.class:
		// One of the matchers would subtract this class.
		p.out.WriteString(`\[`)
		p.pos++
		p.changed = true
	case c == ']' && p.class:
		p.class = false
		p.copy(1)
	case c == '(' && !p.class:
		p.group()
	case c == '.' && !p.class && !p.dotAll:
		// One of the matchers takes U+2028 for no end of a line.
		p.out.WriteString("[^" + lineEnds + "]")
		p.pos++
		p.changed = true
	default:
		_, n := utf8.DecodeRuneInString(p.src[p.pos:])
		p.copy(n)
	}
}

// group checks what follows a parenthesis.
func (p *pattern) group() {
	rest := p.src[p.pos:]
	p.copy(1)
	if !strings.HasPrefix(rest, "(?") {
		return
	}
	for _, known := range []string{"(?:", "(?=", "(?!", "(?<=", "(?<!"} {
		if strings.HasPrefix(rest, known) {
			p.copy(len(known) - 1)
			return
		}
	}
	if !strings.HasPrefix(rest, "(?<") {
		p.fail("modifiers such as (?i:..) are not supported; use the flags of the whole expression")
		return
	}
	name, _, closed := strings.Cut(rest[3:], ">")
	for i, c := range name {
		if c != '$' && c != '_' && !unicode.IsLetter(c) && (i == 0 || !unicode.In(c, unicode.Nd, unicode.Mn, unicode.Mc, unicode.Pc)) {
			closed = false
		}
	}
	if !closed || name == "" {
		p.fail("the name of a group must be an identifier")
		return
	}
	p.copy(len("?<>") + len(name))
}

// known are the letters that mean something behind a backslash.
const knownEscapes = "bBdDwWsSfnrtvcxuk"

func (p *pattern) escape() {
	if p.pos+1 >= len(p.src) {
		p.fail("it ends in a backslash")
		return
	}
	c, size := utf8.DecodeRuneInString(p.src[p.pos+1:])
	letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
	switch {
	case p.unicode && (c == 'p' || c == 'P'):
		s, ok := p.property()
		if !ok {
			return
		}
		p.changed = true
		if !p.class {
			p.out.WriteString(s.class())
			return
		}
		if strings.HasPrefix(p.src[p.pos:], "-") && !strings.HasPrefix(p.src[p.pos:], "-]") {
			p.fail("a property cannot begin a range of characters")
			return
		}
		s.ranges(&p.out)
	case (c == 'w' || c == 'W') && p.unicode && p.fold && (c == 'w' || !p.class):
		// Two characters beyond ASCII fold to letters of words here.
		s := `\w\u017F\u212A`
		if c == 'W' {
			s = "[^" + s + "]"
		} else if !p.class {
			s = "[" + s + "]"
		}
		p.out.WriteString(s)
		p.pos += 2
		p.changed = true
	case letter && !strings.ContainsRune(knownEscapes, c):
		if p.unicode {
			p.fail(`the escape \%c does not exist`, c)
			return
		}
		p.pos += 2
		p.out.WriteRune(c)
		p.changed = true
	default:
		p.copy(1 + size)
	}
}

// property reads \p{..} or \P{..}.
func (p *pattern) property() (set, bool) {
	rest := p.src[p.pos:]
	end := strings.IndexByte(rest, '}')
	if !strings.HasPrefix(rest[2:], "{") || end < 0 {
		p.fail(`\%c needs a property in braces`, rest[1])
		return nil, false
	}
	s, ok := property(rest[3:end])
	if !ok {
		p.fail(`the property \p{%s} is not known here; list the character ranges instead`, clipName(rest[3:end]))
		return nil, false
	}
	p.pos += end + 1
	if rest[1] == 'P' {
		if p.sets && p.fold {
			p.fail(`\P together with the flags i and v is not supported; use the flag u`)
			return nil, false
		}
		s = s.complement()
	}
	return s, true
}

func clipName(s string) string {
	if len(s) > 60 {
		s = strings.ToValidUTF8(s[:60], "") + "..."
	}
	return s
}

// class writes the set as a class of its own.
func (s set) class() string {
	if len(s) == 0 {
		return `[^\u{0}-\u{10FFFF}]`
	}
	var b strings.Builder
	b.WriteByte('[')
	s.ranges(&b)
	b.WriteByte(']')
	return b.String()
}

// ranges writes the set as members of a class, in a form that both matchers
// read alike.
func (s set) ranges(b *strings.Builder) {
	char := func(c rune) {
		switch {
		case c >= 0xD800 && c <= 0xDFFF || c == 0x2028 || c == 0x2029:
			fmt.Fprintf(b, `\u%04X`, c)
		case c >= utf8.RuneSelf || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			b.WriteRune(c)
		default:
			fmt.Fprintf(b, `\x%02X`, c)
		}
	}
	for _, r := range s {
		char(r[0])
		if r[1] > r[0] {
			b.WriteByte('-')
			char(r[1])
		}
	}
}
