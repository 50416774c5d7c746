package audit

import (
	"encoding/json"
	"reflect"
	"strings"
)

// readable reports whether a line is one JSON value, and whether it can be read
// as a Record. Decoding every line would take longer than all else that Verify
// does, so that a line that at a glance is what the writer writes is walked
// through once; of any other the decoders say what it is.
func readable(line []byte) (isValue, reads bool) {
	g := glance{rest: line}
	if g.value(recordShape) && len(g.rest) == 0 {
		return true, true
	}
	if !isJSON(line) {
		return false, false
	}
	return true, json.Unmarshal(line, new(Record)) == nil
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
	case reflect.Map:
		if t.Key().Kind() != reflect.String {
			return &shape{}
		}
		return &shape{kind: reflect.Map, element: shapeOf(t.Elem())}
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
