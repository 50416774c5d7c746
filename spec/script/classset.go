package script

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// classSet reads a class of an expression with the flag v and writes the set
// that it stands for. Strings of several characters as members are refused.
func (p *pattern) classSet() {
	s := p.nested(0)
	if p.problem == "" {
		p.out.WriteString(s.class())
		p.changed = true
	}
}

// reserved pairs may get a meaning in a later edition.
const doubled = "&!#$%*+,.:;<=>?@^`~"

// nested reads one class, with the bracket that opens it.
func (p *pattern) nested(depth int) set {
	if depth > 20 {
		p.fail("classes nest too deeply")
		return nil
	}
	p.pos++
	negated := p.take("^")
	if negated && p.fold {
		p.fail("negated classes with the flags i and v are not supported; use the flag u")
	}
	var total set
	operator := "" // "", "&&" or "--" once one was seen
	for first := true; p.problem == ""; first = false {
		switch {
		case p.take("]"):
			if negated {
				return total.complement()
			}
			return total
		case p.pos >= len(p.src):
			p.fail("a class is not closed")
		case !first && (p.take("&&") || p.take("--")):
			op := p.src[p.pos-2 : p.pos]
			if p.fold || operator != "" && operator != op {
				p.fail("such a combination of set operators is not supported")
				return nil
			}
			operator = op
			member, _ := p.member(depth)
			if op == "&&" {
				total = intersect(total, member)
			} else {
				total = minus(total, member)
			}
		case operator != "":
			p.fail("set operators and other members cannot be mixed")
		default:
			from, single := p.member(depth)
			if p.problem == "" && single && strings.HasPrefix(p.src[p.pos:], "-") && !strings.HasPrefix(p.src[p.pos:], "--") {
				p.pos++
				to, ok := p.member(depth)
				if p.problem != "" || !ok || to[0][0] < from[0][0] {
					p.fail("a range of characters is out of order")
					return nil
				}
				from = set{{from[0][0], to[0][0]}}
			}
			total = union(total, from)
		}
	}
	return nil
}

func (p *pattern) take(text string) bool {
	if strings.HasPrefix(p.src[p.pos:], text) {
		p.pos += len(text)
		return true
	}
	return false
}

// member reads a class, an escape or a character; single says that it is one
// character, which can begin or end a range.
func (p *pattern) member(depth int) (s set, single bool) {
	if p.pos >= len(p.src) {
		p.fail("a class is not closed")
		return nil, false
	}
	c, size := utf8.DecodeRuneInString(p.src[p.pos:])
	switch {
	case c == '[':
		return p.nested(depth + 1), false
	case c == '\\':
		return p.memberEscape()
	case strings.ContainsRune("(){}/-|]", c):
		p.fail("%q must be escaped in a class", c)
		return nil, false
	case strings.ContainsRune(doubled, c) && strings.HasPrefix(p.src[p.pos+size:], string(c)):
		p.fail("%q cannot stand twice in a class", c)
		return nil, false
	}
	p.pos += size
	return set{{c, c}}, true
}

func (p *pattern) memberEscape() (set, bool) {
	if p.pos+1 >= len(p.src) {
		p.fail("it ends in a backslash")
		return nil, false
	}
	word := set{{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}
	space := union(tables(unicode.Zs), set{{9, 13}, {0x2028, 0x2029}, {0xFEFF, 0xFEFF}})
	c := p.src[p.pos+1]
	one := func(r rune) (set, bool) { p.pos += 2; return set{{r, r}}, true }
	class := func(s set) (set, bool) { p.pos += 2; return s, false }
	switch c {
	case 'p', 'P':
		s, _ := p.property()
		return s, false
	case 'd':
		return class(set{{'0', '9'}})
	case 'D':
		return class(set{{'0', '9'}}.complement())
	case 'w':
		return class(word)
	case 's':
		return class(space)
	case 'S':
		return class(space.complement())
	case 'b':
		return one(8)
	case 't':
		return one(9)
	case 'n':
		return one(10)
	case 'v':
		return one(11)
	case 'f':
		return one(12)
	case 'r':
		return one(13)
	case 'x', 'u':
		return p.numbered(c)
	}
	if strings.IndexByte("^$\\.*+?()[]{}|/-&!#%,:;<=>@`~", c) >= 0 {
		return one(rune(c))
	}
	p.fail(`the escape \%c is not supported in a class`, c)
	return nil, false
}

// numbered reads \xHH, \uHHHH and \u{H..}.
func (p *pattern) numbered(c byte) (set, bool) {
	rest := p.src[p.pos+2:]
	digits, used := "", 0
	switch {
	case c == 'x' && len(rest) >= 2:
		digits, used = rest[:2], 2
	case c == 'u' && strings.HasPrefix(rest, "{"):
		digits, _, _ = strings.Cut(rest[1:], "}")
		used = len(digits) + 2
	case c == 'u' && len(rest) >= 4:
		digits, used = rest[:4], 4
	}
	n, err := strconv.ParseUint(digits, 16, 32)
	if err != nil || n > unicode.MaxRune || n >= 0xD800 && n <= 0xDFFF {
		p.fail("a character by its number cannot be read")
		return nil, false
	}
	p.pos += 2 + used
	return set{{rune(n), rune(n)}}, true
}
