package js

import (
	"encoding/base64"
	"errors"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/dop251/goja"

	"github.com/toolwarrant/toolwarrant/executor/worker"
	"github.com/toolwarrant/toolwarrant/fault"
)

const (
	maxResultDepth = 500
	hardOutput     = 64 << 20 // bytes, where the limits name none
)

var errOutput = errors.New("output")

// convert turns the program's result into JSON with the meaning of
// JSON.stringify, and typed arrays as arrays. It walks the values itself
// instead of calling a function that the program may have replaced, stops at
// the output limit, and notices the end of the call between values.
func (s *session) convert(v goja.Value) ([]byte, *worker.Failure) {
	limit := s.call.Limits.MaxOutputBytes
	if limit <= 0 || limit > hardOutput {
		limit = hardOutput
	}
	w := writer{s: s, limit: int(limit), seen: map[*goja.Object]bool{}}
	if f := s.guardedCall(func() {
		if !w.value(nil, "", v) {
			w.buf = append(w.buf[:0], "null"...)
		}
	}); f != nil {
		if w.over {
			return nil, &worker.Failure{Code: string(fault.ResourceLimit), Reason: "output",
				Message: "the result is larger than " + strconv.Itoa(w.limit) + " bytes of JSON; return less"}
		}
		return nil, f
	}
	return w.buf, nil
}

type writer struct {
	s     *session
	buf   []byte
	limit int
	depth int
	over  bool
	seen  map[*goja.Object]bool
	// binary writes bytes as {"$bytes": base64} instead of a list.
	binary bool
	// line is set for the console, which shows the beginning of large values.
	line *lineBounds
}

// room panics out of the walk when the result is too large or the call ended.
func (w *writer) room(n int) {
	if len(w.buf)+n > w.limit {
		w.over = true
		panic(w.s.vm.NewGoError(errOutput))
	}
	if w.s.stopped.Load() != nil {
		panic(w.s.vm.NewGoError(errors.New("stopped")))
	}
}

func (w *writer) raw(text string) {
	w.room(len(text))
	w.buf = append(w.buf, text...)
}

// value writes v and reports false where JSON.stringify leaves it out.
func (w *writer) value(holder *goja.Object, key string, v goja.Value) bool {
	if obj, ok := v.(*goja.Object); ok {
		if toJSON, ok := w.s.callable(obj.Get("toJSON")); ok {
			v = toJSON(obj, w.s.vm.ToValue(key))
		}
	} else if v != nil && v.ExportType() == bigIntType && !goja.IsNull(v) && !goja.IsUndefined(v) {
		w.s.throwError("TypeError", "the result holds a BigInt, which JSON cannot carry; use String(value)")
	}
	switch {
	case v == nil, goja.IsUndefined(v):
		return false
	case goja.IsNull(v):
		w.raw("null")
		return true
	}
	if obj, ok := v.(*goja.Object); ok {
		return w.object(obj)
	}
	if _, ok := v.(*goja.Symbol); ok {
		return false
	}
	if w.line != nil {
		v = beginning(v, w.limit)
	}
	switch x := v.Export().(type) {
	case bool:
		w.raw(strconv.FormatBool(x))
	case string:
		w.str(v, x)
	case int64:
		w.raw(strconv.FormatInt(x, 10))
	case float64:
		w.number(v, x)
	default:
		if v.ExportType() == bigIntType {
			w.s.throwError("TypeError", "the result holds a BigInt, which JSON cannot carry; use String(value)")
		}
		return false
	}
	return true
}

func (w *writer) number(v goja.Value, x float64) {
	switch {
	case math.IsNaN(x), math.IsInf(x, 0):
		w.raw("null")
	case x == 0:
		w.raw("0")
	default:
		w.raw(v.String()) // JavaScript's shortest form is valid JSON
	}
}

// str writes a string; lone surrogates, which UTF-8 cannot hold, are replaced.
func (w *writer) str(_ goja.Value, x string) {
	if w.line == nil {
		w.room(len(x) + 2)
	}
	w.buf = appendJSONString(w.buf, x)
	w.room(0)
}

func (w *writer) object(obj *goja.Object) bool {
	if _, callable := goja.AssertFunction(obj); callable {
		return false
	}
	switch obj.ClassName() {
	case "Number", "String", "Boolean", "BigInt":
		return w.value(nil, "", w.unbox(obj))
	}
	if w.seen[obj] {
		w.s.throwError("TypeError", "the result refers to itself; JSON cannot carry a cycle")
	}
	if w.depth++; w.depth > maxResultDepth {
		w.s.throwError("RangeError", "the result nests deeper than "+strconv.Itoa(maxResultDepth)+" levels")
	}
	w.seen[obj] = true
	defer func() { delete(w.seen, obj); w.depth-- }()

	if n, ok := w.s.typedArray(obj); ok {
		if b, isBytes := w.s.bytesOf(obj); isBytes && w.binary {
			w.raw(`{"$bytes":"` + base64.StdEncoding.EncodeToString(b) + `"}`)
			return true
		}
		w.list(obj, n)
		return true
	}
	if w.s.isArray(obj) {
		w.list(obj, lengthOf(obj))
		return true
	}
	w.raw("{")
	first := true
	for _, k := range w.keys(obj) {
		w.visit()
		mark := len(w.buf)
		if !first {
			w.raw(",")
		}
		w.str(nil, k)
		w.raw(":")
		if !w.value(obj, k, obj.Get(k)) {
			w.buf = w.buf[:mark]
			w.room(0)
			continue
		}
		first = false
	}
	w.raw("}")
	return true
}

func (w *writer) list(obj *goja.Object, n int64) {
	w.raw("[")
	for i := int64(0); i < n; i++ {
		w.visit()
		if i > 0 {
			w.raw(",")
		}
		k := strconv.FormatInt(i, 10)
		if !w.value(obj, k, obj.Get(k)) {
			w.raw("null")
		}
	}
	w.raw("]")
}

// unbox takes the primitive out of a wrapper object.
func (w *writer) unbox(obj *goja.Object) goja.Value {
	switch obj.ClassName() {
	case "Number":
		return obj.ToNumber()
	case "String":
		return obj.ToString()
	case "Boolean":
		b, _ := obj.Export().(bool)
		return w.s.vm.ToValue(b)
	}
	w.s.throwError("TypeError", "the result holds a BigInt, which JSON cannot carry; use String(value)")
	return nil
}

func lengthOf(obj *goja.Object) int64 {
	v := obj.Get("length")
	if v == nil {
		return 0
	}
	n := v.ToInteger()
	return max(0, min(n, 1<<53-1))
}

func appendJSONString(buf []byte, s string) []byte {
	const hexDigits = "0123456789abcdef"
	buf = append(buf, '"')
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == '"' || c == '\\':
			buf = append(buf, '\\', c)
		case c == '\n':
			buf = append(buf, '\\', 'n')
		case c == '\r':
			buf = append(buf, '\\', 'r')
		case c == '\t':
			buf = append(buf, '\\', 't')
		case c < 0x20:
			buf = append(buf, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		case c < utf8.RuneSelf:
			buf = append(buf, c)
		default:
			r, size := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && size == 1 {
				buf = append(buf, "\uFFFD"...)
			} else {
				buf = append(buf, s[i:i+size]...)
			}
			i += size
			continue
		}
		i++
	}
	return append(buf, '"')
}

// maxJSONDepth bounds what the engine's recursive JSON reader is given.
const maxJSONDepth = 2000

// nesting is the depth of brackets in a JSON text, strings left out.
func nesting(text string) int {
	depth, deepest, quoted := 0, 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '{':
			depth++
			deepest = max(deepest, depth)
		case c == ']' || c == '}':
			depth = max(0, depth-1)
		}
	}
	return deepest
}
