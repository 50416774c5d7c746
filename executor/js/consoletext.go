package js

import (
	"errors"

	"github.com/dop251/goja"
)

// maxShown is how many members of objects one line of the console looks at.
// A member takes a few bytes of the line, unless it is one that is left out.
const maxShown = 4096

var libKeys = library("keys.js")

// lineBounds are what a line of the console may still look at.
type lineBounds struct{ members int }

// show gives the text of one argument of a console call, of which at most n
// bytes are wanted: what does not fit is not looked at.
func (s *session) show(v goja.Value, n int) string {
	obj, ok := v.(*goja.Object)
	if !ok {
		if v == nil {
			return "undefined"
		}
		if sym, ok := v.(*goja.Symbol); ok {
			return "Symbol(" + sym.String() + ")"
		}
		return beginning(v, n).String()
	}
	out := "[object]"
	w := writer{s: s, limit: n + 16, seen: map[*goja.Object]bool{}, line: &lineBounds{maxShown}}
	ex := s.vm.Try(func() {
		if obj.ClassName() == "Error" {
			out = primitiveString(beginning(obj.Get("name"), n)) + ": " + primitiveString(beginning(obj.Get("message"), n))
			return
		}
		if _, callable := goja.AssertFunction(obj); callable {
			out = "[function " + primitiveString(beginning(obj.Get("name"), n)) + "]"
			return
		}
		if w.value(nil, "", obj) {
			out = string(w.buf)
		}
	})
	if ex != nil {
		if w.over {
			return string(w.buf)
		}
		return "[object that cannot be shown]"
	}
	return out
}

// beginning is v, or its first part where it is a text that does not fit into
// n bytes: a little more than fits, so that the cut is seen.
func beginning(v goja.Value, n int) goja.Value {
	if text, ok := v.(goja.String); ok && text.Length() > n+16 {
		return text.Substring(0, n+16)
	}
	return v
}

// visit counts a member that a line of the console looks at.
func (w *writer) visit() {
	if w.line == nil {
		return
	}
	if w.line.members--; w.line.members < 0 {
		w.over = true
		w.buf = append(w.buf, "..."...)
		panic(w.s.vm.NewGoError(errors.New("line")))
	}
}

// keys are the names of the members of obj, or as many as can be looked at.
func (w *writer) keys(obj *goja.Object) (out []string) {
	if w.line == nil {
		return obj.Keys()
	}
	n := &w.s.native
	if n.visitKeys == nil {
		n.visitKeys, _ = w.s.callable(w.s.load(libKeys()))
	}
	n.visitKeys(goja.Undefined(), obj, w.s.vm.ToValue(func(call goja.FunctionCall) goja.Value {
		own := n.hasOwn(obj, call.Argument(0)).ToBoolean()
		if own {
			// A name that is longer than the line ends it before its value is asked for.
			out = append(out, beginning(call.Argument(0), w.limit).String())
		}
		return w.s.vm.ToValue(!own || len(out) > w.line.members)
	}))
	return out
}
