package audit

import (
	"bytes"
	"reflect"
)

// glance walks through JSON. It says yes only where the text is valid and the
// decoder would read it, and no where it cannot tell.
type glance struct {
	rest  []byte
	depth int
}

// maxGlance is how deep it looks.
const maxGlance = 200

// value takes the next value, which is to be of a shape.
func (g *glance) value(s *shape) bool {
	if len(g.rest) == 0 {
		return false
	}
	c := g.rest[0]
	if c == 'n' && s.kind != reflect.Invalid { // null leaves any type as it is
		return g.word()
	}
	switch s.kind {
	case reflect.Interface:
		return g.any(c)
	case reflect.String:
		return c == '"' && g.text() != nil
	case reflect.Bool:
		return (c == 't' || c == 'f') && g.word()
	case reflect.Int, reflect.Float64:
		return g.number(s.kind == reflect.Float64)
	case reflect.Slice:
		return c == '[' && g.list(']', func() bool { return g.value(s.element) })
	case reflect.Map: // any name, and a value of its kind
		return c == '{' && g.list('}', func() bool {
			if len(g.rest) == 0 || g.rest[0] != '"' || g.text() == nil || len(g.rest) == 0 || g.rest[0] != ':' {
				return false
			}
			g.rest = g.rest[1:]
			return g.value(s.element)
		})
	case reflect.Struct:
		next := 0
		return c == '{' && g.list('}', func() bool {
			m := g.name(s, &next)
			if m == nil || len(g.rest) == 0 || g.rest[0] != ':' {
				return false
			}
			g.rest = g.rest[1:]
			return g.value(m)
		})
	}
	return false
}

// name takes the name of a member, and gives what its value has to be; nil of
// one that is not known. next is where the member after it is likely to stand.
func (g *glance) name(s *shape, next *int) *shape {
	if len(g.rest) == 0 || g.rest[0] != '"' {
		return nil
	}
	name := g.text()
	if *next < len(s.order) && s.order[*next].name == string(name) {
		*next++
		return s.order[*next-1].shape
	}
	for i := range s.order { // one that may be absent was
		if s.order[i].name == string(name) {
			*next = i + 1
		}
	}
	return s.members[string(name)]
}

// list takes what is between the brackets, one by one.
func (g *glance) list(end byte, one func() bool) bool {
	if g.depth++; g.depth > maxGlance {
		return false
	}
	g.rest = g.rest[1:]
	if len(g.rest) > 0 && g.rest[0] == end {
		g.rest = g.rest[1:]
		g.depth--
		return true
	}
	for one() {
		if len(g.rest) == 0 {
			return false
		}
		c := g.rest[0]
		g.rest = g.rest[1:]
		if c == end {
			g.depth--
			return true
		}
		if c != ',' {
			return false
		}
	}
	return false
}

// text takes a string with its quotes. Its bytes are looked at one by one up to
// the first that is not plain ASCII, and the parser is asked about the others.
func (g *glance) text() []byte {
	rest := g.rest
	i := 1
	for i < len(rest) && plain[rest[i]] {
		i++
	}
	switch {
	case i >= len(rest) || rest[i] < ' ':
		return nil
	case rest[i] != '"':
		return g.odd(i)
	}
	g.rest = rest[i+1:]
	return rest[1:i]
}

// plain are the bytes that stand for themselves in a string.
var plain = func() (p [256]bool) {
	for c := ' '; c < 0x80; c++ {
		p[c] = c != '"' && c != '\\'
	}
	return p
}()

// odd is text for what is not plain from the byte at on.
func (g *glance) odd(at int) []byte {
	for ; at < len(g.rest); at++ {
		switch g.rest[at] {
		case '\\':
			at++
		case '"':
			whole := g.rest[:at+1]
			if !isJSON(whole) {
				return nil
			}
			g.rest = g.rest[at+1:]
			return whole[1:at]
		}
	}
	return nil
}

// word takes null, true or false.
func (g *glance) word() bool {
	for _, w := range []string{"null", "true", "false"} {
		if bytes.HasPrefix(g.rest, []byte(w)) {
			g.rest = g.rest[len(w):]
			return true
		}
	}
	return false
}

// number takes digits that fit any number, with a fraction if there may be one.
func (g *glance) number(fraction bool) bool {
	n := 0
	for n < len(g.rest) && g.rest[n] >= '0' && g.rest[n] <= '9' {
		n++
	}
	if n == 0 || n > 18 || n > 1 && g.rest[0] == '0' {
		return false
	}
	if fraction && n < len(g.rest) && g.rest[n] == '.' {
		dot := n
		for n++; n < len(g.rest) && g.rest[n] >= '0' && g.rest[n] <= '9'; n++ {
		}
		if n == dot+1 {
			return false
		}
	}
	g.rest = g.rest[n:]
	return true
}

// any takes a value of any kind that begins with c.
func (g *glance) any(c byte) bool {
	switch c {
	case '"':
		return g.text() != nil
	case '{':
		return g.list('}', func() bool {
			if len(g.rest) == 0 || g.rest[0] != '"' || g.text() == nil || len(g.rest) == 0 || g.rest[0] != ':' {
				return false
			}
			g.rest = g.rest[1:]
			return g.value(anyShape)
		})
	case '[':
		return g.list(']', func() bool { return g.value(anyShape) })
	case 't', 'f':
		return g.word()
	}
	n := 0
	for n < len(g.rest) && g.rest[n] != ',' && g.rest[n] != ']' && g.rest[n] != '}' {
		n++
	}
	number := g.rest[:n]
	if !isJSON(number) {
		return false
	}
	g.rest = g.rest[n:]
	return true
}
