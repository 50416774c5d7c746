package script

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

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

// begins looks for a node among those that a match of n can begin with.
func (n *rxNode) begins(f func(*rxNode) bool) bool {
	if f(n) {
		return true
	}
	if n.kind == rxAlt {
		return slices.ContainsFunc(n.kids, func(k *rxNode) bool { return k.begins(f) })
	}
	for _, k := range n.kids {
		if k.begins(f) {
			return true
		}
		if !k.nullable() {
			break
		}
	}
	return false
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
