package script

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// escape reads what begins with a backslash.
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
		out := t.leaf(rxAtom, size)
		if size == 6 && halfEscape(out.raw) {
			t.wide = append(t.wide, out)
		}
		return out
	case c == 'u' && t.p.unicode && strings.HasPrefix(rest, "u{"):
		return t.leaf(rxAtom, 2+strings.IndexByte(rest, '}'))
	case c == 'c' && len(rest) > 1:
		return t.leaf(rxAtom, 3)
	}
	r, n := utf8.DecodeRuneInString(rest)
	out := t.leaf(rxAtom, 1+n)
	if r > 0xFFFF && !t.p.unicode {
		t.wide = append(t.wide, out)
	}
	return out
}

// halfEscape says that s begins with half of a surrogate pair, by its number.
func halfEscape(s string) bool {
	return strings.HasPrefix(s, `\u`) && hexDigits(s[2:], 4) && s[2]|0x20 == 'd' && s[3] >= '8'
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
