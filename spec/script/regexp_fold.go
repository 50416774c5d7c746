package script

import (
	"sort"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Without the flag u, the flag i compares capital letters of UTF-16 units
// (Canonicalize in ECMA-262), and the matchers fold as Unicode does: for them
// the Kelvin sign is a k. Where it matters the other cases are written out and
// the flag is taken away.

// severalCapitals are the characters of the BMP whose capital form is several
// characters; they stay as they are.
var severalCapitals = set{{0xDF, 0xDF}, {0x149, 0x149}, {0x1F0, 0x1F0}, {0x390, 0x390}, {0x3B0, 0x3B0}, {0x587, 0x587}, {0x1E96, 0x1E9A},
	{0x1F50, 0x1F50}, {0x1F52, 0x1F52}, {0x1F54, 0x1F54}, {0x1F56, 0x1F56}, {0x1F80, 0x1FAF}, {0x1FB2, 0x1FB4}, {0x1FB6, 0x1FB7},
	{0x1FBC, 0x1FBC}, {0x1FC2, 0x1FC4}, {0x1FC6, 0x1FC7}, {0x1FCC, 0x1FCC}, {0x1FD2, 0x1FD3}, {0x1FD6, 0x1FD7}, {0x1FE2, 0x1FE4},
	{0x1FE6, 0x1FE7}, {0x1FF2, 0x1FF4}, {0x1FF6, 0x1FF7}, {0x1FFC, 0x1FFC}, {0xFB00, 0xFB06}, {0xFB13, 0xFB17}}

func (s set) has(c rune) bool {
	i := sort.Search(len(s), func(i int) bool { return s[i][1] >= c })
	return i < len(s) && s[i][0] <= c
}

// canonical is Canonicalize without the flag u.
func canonical(c rune) rune {
	up := unicode.ToUpper(c)
	if up > 0xFFFF || c >= 0x80 && up < 0x80 || severalCapitals.has(c) {
		return c
	}
	return up
}

// caseClasses are the classes of characters that are one with the flag i.
var caseClasses = sync.OnceValue(func() map[rune]set {
	by := map[rune][]rune{}
	for _, r := range unicode.CaseRanges {
		for c := rune(r.Lo); c <= min(rune(r.Hi), 0xFFFF); c++ {
			if k := canonical(c); k != c {
				by[k] = append(by[k], c)
			}
		}
	}
	out := map[rune]set{}
	for first, class := range by {
		class = append(class, first)
		var s set
		for _, c := range class {
			s = append(s, [2]rune{c, c})
		}
		s = s.normal()
		for _, c := range class {
			out[c] = s
		}
	}
	return out
})

// cases adds to s what is one with its members.
func (s set) cases() set {
	var more set
	for c, class := range caseClasses() {
		if s.has(c) {
			more = append(more, class...)
		}
	}
	return union(s, more)
}

// oddCase says that the matchers may fold c otherwise than ECMAScript.
func oddCase(c rune) bool {
	if c < 0x80 {
		return c == 'k' || c == 'K' || c == 's' || c == 'S'
	}
	return unicode.SimpleFold(c) != c
}

var (
	wordSet  = set{{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}
	digitSet = set{{'0', '9'}}
	spaceSet = sync.OnceValue(func() set {
		return union(tables(unicode.Zs), set{{9, 13}, {0x2028, 0x2029}, {0xFEFF, 0xFEFF}})
	})
)

// classEscape is the set of \d and the like.
func classEscape(c byte) (s set, ok bool) {
	switch c | 0x20 {
	case 'd':
		s = digitSet
	case 'w':
		s = wordSet
	case 's':
		s = spaceSet()
	default:
		return nil, false
	}
	if c < 'a' {
		s = intersect(s.complement(), set{{0, 0xFFFF}})
	}
	return s, true
}

// character reads one character of a pattern without the flag u, written out
// or escaped, and says how many bytes it takes.
func character(s string, class bool) (r rune, size int) {
	if s[0] != '\\' || len(s) < 2 {
		return utf8.DecodeRuneInString(s)
	}
	number := func(from, n int) rune {
		v, _ := strconv.ParseUint(s[from:from+n], 16, 32)
		return rune(v)
	}
	switch c := s[1]; {
	case c == 'x' && hexDigits(s[2:], 2):
		return number(2, 2), 4
	case c == 'u' && hexDigits(s[2:], 4):
		return number(2, 4), 6
	case c == 'c' && len(s) > 2 && (s[2]|0x20 >= 'a' && s[2]|0x20 <= 'z'):
		return rune(s[2] & 31), 3
	case c == 'c':
		return '\\', 1
	case c >= '0' && c <= '7':
		n := octalDigits(s[1:])
		v, _ := strconv.ParseUint(s[1:1+n], 8, 32)
		return rune(v), 1 + n
	case c == 'b' && class:
		return 8, 2
	case strings.IndexByte("tnvfr", c) >= 0:
		return rune("\t\n\v\f\r"[strings.IndexByte("tnvfr", c)]), 2
	}
	r, size = utf8.DecodeRuneInString(s[1:])
	return r, 1 + size
}

// pairEscape reads a character that is written as two surrogates.
func pairEscape(s string) (rune, int) {
	if len(s) >= 12 && s[0] == '\\' && s[1] == 'u' && s[6] == '\\' && s[7] == 'u' && hexDigits(s[2:], 4) && hexDigits(s[8:], 4) {
		a, _ := strconv.ParseUint(s[2:6], 16, 32)
		b, _ := strconv.ParseUint(s[8:12], 16, 32)
		if r := utf16.DecodeRune(rune(a), rune(b)); r != unicode.ReplacementChar {
			return r, 12
		}
	}
	return 0, 0
}

// foldStep writes the part of the pattern at which it stands with the other
// cases, and says whether it did.
func (p *pattern) foldStep() bool {
	rest := p.src[p.pos:]
	if rest[0] == '[' {
		return p.foldClass()
	}
	if rest[0] == '\\' && len(rest) > 1 {
		switch c := rest[1]; {
		case c == 'w' || c == 'W':
			p.odd = true // the linear matcher folds it too
			return false
		case c == 'b' || c == 'B':
			p.odd = true // it is written out as a class of letters
			return false
		case strings.IndexByte("dDsSk", c) >= 0 || c >= '1' && c <= '9':
			return false
		}
	}
	r, size := character(rest, false)
	if r > 0xFFFF {
		return false // two surrogates, which have no cases
	}
	p.odd = p.odd || oddCase(r)
	class, cased := caseClasses()[r]
	if !p.spelled || !cased {
		if size > 2 && rest[0] == '\\' && rest[1] < 0x80 {
			p.copy(size) // a number, whose digits are no letters of the text
			return true
		}
		return false
	}
	p.out.WriteString(class.class())
	p.pos += size
	p.changed = true
	return true
}

// foldClass is foldStep for a class.
func (p *pattern) foldClass() bool {
	rest := p.src[p.pos:]
	end := classEnd(rest, 0)
	if end == len(rest) && (end < 2 || rest[end-1] != ']') || strings.HasPrefix(rest, "[]") || strings.HasPrefix(rest, "[^]") {
		return false
	}
	inner := rest[1 : end-1]
	negated := strings.HasPrefix(inner, "^")
	inner = strings.TrimPrefix(inner, "^")
	type atom struct {
		r    rune
		set  set
		dash bool // the sign between the ends of a range
	}
	var atoms []atom
	for i := 0; i < len(inner); {
		if inner[i] == '\\' && i+1 < len(inner) {
			if s, ok := classEscape(inner[i+1]); ok {
				p.odd = p.odd || inner[i+1]|0x20 == 'w'
				atoms = append(atoms, atom{set: s})
				i += 2
				continue
			}
		}
		r, size := character(inner[i:], true)
		i += size
		if r > 0xFFFF {
			a, b := utf16.EncodeRune(r)
			atoms = append(atoms, atom{r: a}, atom{r: b})
			continue
		}
		p.odd = p.odd || oddCase(r)
		atoms = append(atoms, atom{r: r, dash: r == '-' && size == 1})
	}
	var s set
	add := func(a atom) {
		if a.set != nil {
			s = append(s, a.set...)
		} else {
			s = append(s, [2]rune{a.r, a.r})
		}
	}
	for i := 0; i < len(atoms); i++ {
		if i+2 < len(atoms) && atoms[i+1].dash && atoms[i].set == nil && atoms[i+2].set == nil {
			lo, hi := atoms[i].r, atoms[i+2].r
			if lo > hi {
				p.fail("a range of characters is out of order")
				return false
			}
			s = append(s, [2]rune{lo, hi})
			p.odd = p.odd || lo <= 'S' && hi >= 'K' || lo <= 's' && hi >= 'k' || hi >= 0x80
			i += 2
			continue
		}
		add(atoms[i])
	}
	if !p.spelled {
		return false
	}
	s = s.normal().cases()
	p.out.WriteByte('[')
	if negated {
		p.out.WriteByte('^')
	}
	s.ranges(&p.out)
	p.out.WriteByte(']')
	p.pos += end
	p.changed = true
	return true
}
