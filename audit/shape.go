package audit

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
)

// reads reports whether a line that is JSON can be read as a Record. Decoding
// every line would take longer than all else that Verify does, so that a line
// whose members have the types that they should have at a glance is not
// decoded; of any other the decoder says what it is.
func reads(line []byte) bool {
	g := glance{rest: line}
	if g.value(recordShape) {
		return true
	}
	return json.Unmarshal(line, new(Record)) == nil
}

// shape is what a Go type takes from JSON.
type shape struct {
	kind    reflect.Kind // Invalid: this is for the decoder to say
	members map[string]*shape
	order   []member // as the writer has them, which is looked at first
	element *shape
}

type member struct {
	name string
	*shape
}

var (
	recordShape = shapeOf(reflect.TypeFor[Record]())
	anyShape    = &shape{kind: reflect.Interface}
)

func shapeOf(t reflect.Type) *shape {
	switch {
	case t == reflect.TypeFor[json.RawMessage]() || t.Kind() == reflect.Interface && t.NumMethod() == 0:
		return anyShape
	case reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()):
		return &shape{}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return shapeOf(t.Elem())
	case reflect.Struct:
		s := &shape{kind: reflect.Struct, members: map[string]*shape{}}
		s.take(t)
		return s
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return &shape{}
		}
		return &shape{kind: reflect.Slice, element: shapeOf(t.Elem())}
	case reflect.String, reflect.Bool, reflect.Float64:
		return &shape{kind: t.Kind()}
	case reflect.Int, reflect.Int64, reflect.Uint64:
		return &shape{kind: reflect.Int}
	}
	return &shape{}
}

// take adds the members of a struct, and of those that it embeds.
func (s *shape) take(t reflect.Type) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			s.take(f.Type)
		case !f.IsExported() || name == "-":
		case name == "" || strings.Contains(options, "string"):
			s.members[f.Name] = &shape{}
		default:
			m := shapeOf(f.Type)
			s.members[name], s.order = m, append(s.order, member{name, m})
		}
	}
}

// glance walks JSON that is known to be valid. It says yes only where the
// decoder would, and no where it cannot tell.
type glance struct{ rest []byte }

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
		return g.skip()
	case reflect.String:
		return c == '"' && g.text() != nil
	case reflect.Bool:
		return (c == 't' || c == 'f') && g.word()
	case reflect.Int, reflect.Float64:
		return g.number(s.kind == reflect.Float64)
	case reflect.Slice:
		return c == '[' && g.list(']', func() bool { return g.value(s.element) })
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
	g.rest = g.rest[1:]
	if len(g.rest) > 0 && g.rest[0] == end {
		g.rest = g.rest[1:]
		return true
	}
	for one() {
		if len(g.rest) == 0 {
			return false
		}
		c := g.rest[0]
		g.rest = g.rest[1:]
		if c == end {
			return true
		}
		if c != ',' {
			return false
		}
	}
	return false
}

// text takes a string with its quotes.
func (g *glance) text() []byte {
	for at := 1; ; {
		i := bytes.IndexByte(g.rest[at:], '"')
		if i < 0 {
			return nil
		}
		at += i
		escapes := 0
		for g.rest[at-1-escapes] == '\\' { // the opening quote ends it
			escapes++
		}
		if at++; escapes%2 == 0 {
			s := g.rest[1 : at-1]
			g.rest = g.rest[at:]
			return s
		}
	}
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
	n, dot := 0, false
	for n < len(g.rest) && (g.rest[n] >= '0' && g.rest[n] <= '9' || g.rest[n] == '.' && fraction && !dot) {
		dot = dot || g.rest[n] == '.'
		n++
	}
	g.rest = g.rest[n:]
	return n > 0 && n <= 18
}

// skip takes a value of any kind.
func (g *glance) skip() bool {
	for depth := 0; len(g.rest) > 0; {
		switch g.rest[0] {
		case '"':
			if g.text() == nil {
				return false
			}
		case '{', '[':
			depth++
			g.rest = g.rest[1:]
		case '}', ']':
			depth--
			g.rest = g.rest[1:]
		case ',', ':':
			g.rest = g.rest[1:]
		default:
			n := bytes.IndexAny(g.rest, ",]}")
			if n < 0 {
				return false
			}
			g.rest = g.rest[n:]
		}
		if depth == 0 {
			return true
		}
	}
	return false
}
