package js

import (
	"math"
	"slices"
	"strings"

	"github.com/dop251/goja"
)

// Native code of the engine cannot be interrupted, so that one call on a
// huge length hangs or exhausts the process. These guards turn such a call
// into a RangeError. They are no boundary: a program that takes care finds
// other ways to use memory, and only a process of its own bounds those.

// bulkMethods of Array.prototype walk the whole length of their receiver.
var bulkMethods = []string{"concat", "copyWithin", "every", "fill", "filter", "find", "findIndex", "findLast",
	"findLastIndex", "flat", "flatMap", "forEach", "includes", "indexOf", "lastIndexOf", "map", "reduce", "reduceRight",
	"reverse", "shift", "slice", "some", "sort", "splice", "toReversed", "toSorted", "toSpliced", "unshift", "with"}

var bulkStrings = []string{"repeat", "padStart", "padEnd"}

// mentioned are the guarded methods whose names occur in the source. The
// others cost nothing; a program that spells a name at run time only loses
// the nicer error.
func mentioned(source string) []string {
	var out []string
	for _, list := range [][]string{bulkMethods, bulkStrings} {
		for _, n := range list {
			if strings.Contains(source, n) {
				out = append(out, n)
			}
		}
	}
	return out
}

// guard puts check in front of a native method.
func (s *session) guard(obj *goja.Object, name string, check func(call goja.FunctionCall) []goja.Value) {
	original, _ := obj.Get(name).(*goja.Object)
	native, ok := s.callable(original)
	if !ok {
		return
	}
	fn := s.function(name, func(call goja.FunctionCall) goja.Value {
		return native(call.This, check(call)...)
	})
	_ = fn.DefineDataProperty("length", original.Get("length"), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	_ = obj.DefineDataProperty(name, fn, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
}

func (s *session) guards() {
	global := s.vm.GlobalObject()
	array := s.vm.NewArray().Prototype()
	text := func() *goja.Object { return s.vm.ToValue("").ToObject(s.vm).Prototype() }
	for _, name := range s.prog.needs.guarded {
		switch name {
		case "repeat":
			s.guard(text(), name, func(call goja.FunctionCall) []goja.Value {
				text, args := call.This.String(), s.numberFirst(call.Arguments)
				if n := args[0].ToFloat(); n > 0 && n*float64(len(text)) > maxBulk {
					s.throwError("RangeError", "repeat: the string would be too long")
				}
				return args
			})
		case "padStart", "padEnd":
			s.guard(text(), name, func(call goja.FunctionCall) []goja.Value {
				args := s.numberFirst(call.Arguments)
				if args[0].ToFloat() > maxBulk {
					s.throwError("RangeError", name+": the string would be too long")
				}
				return args
			})
		case "sort":
			s.installSort(array)
			if s.prog.needs.typed {
				s.installTypedSort()
			}
		case "toSorted":
			s.guard(array, name, func(call goja.FunctionCall) []goja.Value {
				s.boundedLength(call.This, name)
				return s.compared(call)
			})
			if s.prog.needs.typed {
				s.guard(s.member(s.ctor("Uint8Array").Prototype(), "prototype"), name, s.compared)
			}
		case "flat":
			s.guard(array, name, func(call goja.FunctionCall) []goja.Value {
				s.boundedLength(call.This, name)
				if d := call.Argument(0); !goja.IsUndefined(d) && d.ToFloat() > 1 {
					s.flatDepth(call.This, math.Min(d.ToFloat(), 1e9))
				}
				return call.Arguments
			})
		case "includes":
			// The engine does not find 0 where -0 stands.
			indexOf, _ := s.callable(array.Get("indexOf"))
			native, _ := s.callable(array.Get(name))
			s.replace(array, name, 1, func(call goja.FunctionCall) goja.Value {
				s.boundedLength(call.This, name)
				if v := call.Argument(0); plainNumber(v) && v.ToFloat() == 0 {
					return s.vm.ToValue(indexOf(call.This, call.Arguments...).ToInteger() >= 0)
				}
				return native(call.This, call.Arguments...)
			})
		case "find", "findIndex", "findLast", "findLastIndex":
			if s.native.source == nil {
				s.native.source, _ = s.callable(s.member(s.member(global, "Function"), "prototype").Get("toString"))
			}
			s.guard(array, name, func(call goja.FunctionCall) []goja.Value {
				s.boundedLength(call.This, name)
				return s.filled(call.Arguments)
			})
		default:
			s.guard(array, name, func(call goja.FunctionCall) []goja.Value {
				s.boundedLength(call.This, name)
				return call.Arguments
			})
		}
	}
	s.guardJoin(array)
	if s.prog.needs.parse {
		s.guardParse(s.member(global, "JSON"))
	}
	if s.prog.needs.apply {
		s.guardApply(global)
	}
}

// numberFirst makes the first argument a number, once: the conversion may be
// code of the program, which gives another number the next time.
func (s *session) numberFirst(args []goja.Value) []goja.Value {
	if len(args) == 0 {
		return []goja.Value{s.vm.ToValue(math.NaN())}
	}
	args = slices.Clone(args)
	args[0] = args[0].ToNumber()
	return args
}

// filled gives a native callback undefined for a hole of an array, where the
// engine gives it nothing at all and fails.
func (s *session) filled(args []goja.Value) []goja.Value {
	if len(args) == 0 {
		return args
	}
	f, ok := s.callable(args[0])
	if !ok {
		return args
	}
	if !strings.HasSuffix(s.native.source(args[0]).String(), "[native code] }") {
		return args
	}
	return append([]goja.Value{s.vm.ToValue(func(call goja.FunctionCall) goja.Value {
		for i, v := range call.Arguments {
			call.Arguments[i] = orUndefined(v)
		}
		return f(call.This, call.Arguments...)
	})}, args[1:]...)
}

func (s *session) guardParse(json *goja.Object) {
	native, ok := s.callable(json.Get("parse"))
	if !ok {
		return
	}
	exact := s.exactJSON(native)
	fn := s.function("parse", func(call goja.FunctionCall) goja.Value {
		input := call.Argument(0).String()
		if nesting(input) > maxJSONDepth {
			s.throwError("SyntaxError", "JSON.parse: the text nests too deeply")
		}
		return exact(call.This, append([]goja.Value{s.vm.ToValue(input)}, call.Arguments[min(1, len(call.Arguments)):]...)...)
	})
	_ = fn.DefineDataProperty("length", s.vm.ToValue(2), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	_ = json.DefineDataProperty("parse", fn, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
}

// guardApply bounds argument lists that come from a length.
func (s *session) guardApply(global *goja.Object) {
	spread := func(i int) func(goja.FunctionCall) []goja.Value {
		return func(call goja.FunctionCall) []goja.Value {
			s.boundedLength(call.Argument(i), "apply")
			return call.Arguments
		}
	}
	s.guard(s.member(s.member(global, "Function"), "prototype"), "apply", spread(1))
	reflection := s.member(global, "Reflect")
	s.guard(reflection, "apply", spread(2))
	s.guard(reflection, "construct", spread(1))
}

func (s *session) boundedLength(v goja.Value, name string) {
	if obj, ok := v.(*goja.Object); ok && lengthOf(obj) > maxBulk {
		s.throwError("RangeError", name+": the array is too long")
	}
}

// guardJoin bounds how deep arrays print arrays, which recurses natively, and
// the length of each.
func (s *session) guardJoin(array *goja.Object) {
	native, _ := s.callable(array.Get("join"))
	fn := s.function("join", func(call goja.FunctionCall) goja.Value {
		s.boundedLength(call.This, "join")
		s.joins++
		defer func() { s.joins-- }()
		if s.joins > maxCallStack {
			s.throwError("RangeError", "join: the arrays nest too deeply")
		}
		return native(call.This, call.Arguments...)
	})
	_ = fn.DefineDataProperty("length", s.vm.ToValue(1), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	_ = array.DefineDataProperty("join", fn, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
}

// flatDepth refuses arrays that nest deeper than the stack bears.
func (s *session) flatDepth(v goja.Value, depth float64) {
	visited := 0
	var walk func(v goja.Value, level int)
	walk = func(v goja.Value, level int) {
		obj, ok := v.(*goja.Object)
		if !ok || float64(level) > depth || !s.isArray(obj) {
			return
		}
		if level > maxCallStack {
			s.throwError("RangeError", "flat: the arrays nest too deeply")
		}
		for _, k := range obj.Keys() {
			if visited++; visited > maxBulk/4 {
				s.throwError("RangeError", "flat: the result would be too long")
			}
			walk(obj.Get(k), level+1)
		}
	}
	walk(v, 0)
}
