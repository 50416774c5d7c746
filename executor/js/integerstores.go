package js

import (
	"encoding/binary"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/dop251/goja"
)

var libIntegers = library("integers.js")

// integerStores are the engine's own functions that store into buffers of
// integers, given numbers that they take modulo the right width.
type integerStores struct {
	tag    callee // the getter that tells the class of a typed array
	from   callee // Array.from
	set    callee // Reflect.set
	protos []*goja.Object

	list, view *goja.Object // the view that was made last, and of what
}

// installIntegers replaces those functions. It runs after all else that
// replaces methods of arrays.
func (s *session) installIntegers() {
	t := &integerStores{}
	s.native.integers = t
	class := s.ctor("Uint8Array").Prototype()
	proto := s.member(class, "prototype")
	describe, _ := s.callable(s.ctor("Object").Get("getOwnPropertyDescriptor"))
	t.tag, _ = s.callable(describe(goja.Undefined(), proto, goja.SymToStringTag).(*goja.Object).Get("get"))
	array := s.ctor("Array")
	from, _ := s.callable(array.Get("from"))
	t.from = func(_ goja.Value, args ...goja.Value) goja.Value { return from(array, args...) }
	t.set, _ = s.callable(s.member(s.vm.GlobalObject(), "Reflect").Get("set"))
	for _, name := range integerArrays {
		t.protos = append(t.protos, s.member(s.ctor(name), "prototype"))
	}

	s.guard(proto, "fill", func(call goja.FunctionCall) []goja.Value { return s.cut(call, 0) })
	s.guard(proto, "with", func(call goja.FunctionCall) []goja.Value { return s.cut(call, 1) })
	s.guard(proto, "map", func(call goja.FunctionCall) []goja.Value {
		f, ok := s.callable(call.Argument(0))
		if !ok || !s.integral(call.This) || !s.integralClass(s.species(call.This)) {
			return call.Arguments
		}
		args := slices.Clone(call.Arguments)
		args[0] = s.vm.ToValue(func(inner goja.FunctionCall) goja.Value {
			return s.modular(f(inner.This, inner.Arguments...))
		})
		return args
	})
	s.guard(proto, "set", func(call goja.FunctionCall) []goja.Value {
		if len(call.Arguments) == 0 {
			return call.Arguments
		}
		args := slices.Clone(call.Arguments)
		if s.emptyList(args[0]) {
			args[0] = s.vm.NewArray() // the engine fails on an empty typed one
			return args
		}
		if !s.integral(call.This) {
			return args
		}
		if len(args) > 1 {
			args[1] = args[1].ToNumber() // comes first
		}
		args[0] = s.integersOf(args[0], false)
		return args
	})
	s.guard(class, "of", func(call goja.FunctionCall) []goja.Value {
		if !s.integralClass(call.This) {
			return call.Arguments
		}
		args := slices.Clone(call.Arguments)
		for i, v := range args {
			args[i] = s.modular(v)
		}
		return args
	})
	s.guard(class, "from", func(call goja.FunctionCall) []goja.Value {
		source := call.Argument(0)
		if goja.IsNull(source) || goja.IsUndefined(source) || !s.integralClass(call.This) {
			return call.Arguments
		}
		var f callee
		if mapper := call.Argument(1); !goja.IsUndefined(mapper) {
			var ok bool
			if f, ok = s.callable(mapper); !ok {
				return call.Arguments
			}
		}
		list := s.listed(source)
		if f != nil {
			for i := range lengthOf(list) {
				v := f(call.Argument(2), orUndefined(list.Get(index(i))), s.vm.ToValue(i))
				_ = list.DefineDataProperty(index(i), v, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE)
			}
		}
		return []goja.Value{s.numbersOf(list)}
	})
	s.integerClasses()
	if n := &s.prog.needs; n.reflects {
		s.guard(s.member(s.vm.GlobalObject(), "Reflect"), "set", func(call goja.FunctionCall) []goja.Value { return s.cutElement(call, 2) })
		s.guard(s.member(s.vm.GlobalObject(), "Reflect"), "defineProperty", s.cutDescriptor)
		object := s.ctor("Object")
		s.guard(object, "defineProperty", s.cutDescriptor)
		assign, _ := s.callable(object.Get("assign"))
		s.replace(object, "assign", 2, func(call goja.FunctionCall) goja.Value {
			if !s.integral(call.Argument(0)) {
				return assign(call.This, call.Arguments...)
			}
			args := slices.Clone(call.Arguments)
			args[0] = s.viewOf(call)
			assign(call.This, args...)
			return call.Argument(0)
		})
	}
}

// integerClasses gives the constructors lists that are cut.
func (s *session) integerClasses() {
	construct := s.member(s.vm.GlobalObject(), "Reflect").Get("construct")
	cut := s.function("cut", func(call goja.FunctionCall) goja.Value { return s.integersOf(call.Argument(0), true) })
	for _, name := range integerArrays {
		if s.prog.needs.global || strings.Contains(s.prog.source, name) {
			class := s.load(libIntegers(), s.ctor(name), cut, construct)
			_ = s.vm.GlobalObject().DefineDataProperty(name, class, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
		}
	}
}

// installViews does the same for the setters of a DataView.
func (s *session) installViews() {
	proto := s.member(s.ctor("DataView"), "prototype")
	for _, name := range []string{"setInt8", "setUint8", "setInt16", "setUint16", "setInt32", "setUint32"} {
		s.guard(proto, name, func(call goja.FunctionCall) []goja.Value {
			if len(call.Arguments) < 2 {
				return call.Arguments
			}
			args := slices.Clone(call.Arguments)
			args[0] = args[0].ToNumber() // comes first
			args[1] = s.modular(args[1])
			return args
		})
	}
}

// modular is wordOf for one value.
func (s *session) modular(v goja.Value) goja.Value {
	return s.wordOf(goja.FunctionCall{Arguments: []goja.Value{v}})
}

// species is the class of what a method of a typed array makes (ECMA-262
// 23.2.4.1): that of v itself where nothing says another.
func (s *session) species(v goja.Value) goja.Value {
	obj, _ := v.(*goja.Object)
	class, ok := obj.Get("constructor").(*goja.Object)
	if !ok {
		return s.ctor(s.native.integers.tag(obj).String())
	}
	made := class.GetSymbol(goja.SymSpecies)
	if made == nil || goja.IsUndefined(made) || goja.IsNull(made) {
		return s.ctor(s.native.integers.tag(obj).String())
	}
	return made
}

// listed is an array of the elements of source, in its own order.
func (s *session) listed(source goja.Value) *goja.Object {
	if obj, ok := source.(*goja.Object); ok {
		if next := obj.GetSymbol(goja.SymIterator); next == nil || goja.IsUndefined(next) || goja.IsNull(next) {
			s.boundedLength(obj, "from")
		}
	}
	return s.native.integers.from(nil, source).(*goja.Object)
}

// emptyList reports whether v is a typed array without elements, whose buffer is
// there.
func (s *session) emptyList(v goja.Value) bool {
	obj, ok := v.(*goja.Object)
	if !ok {
		return false
	}
	if n, typed := s.typedArray(obj); !typed || n > 0 {
		return false
	}
	buf, _ := arrayBuffer(obj.Get("buffer"))
	return !buf.Detached()
}

// indexed is an array of what stands at the indices of obj, as the method set
// reads it: no iterator has a part in that.
func (s *session) indexed(obj *goja.Object) *goja.Object {
	s.boundedLength(obj, "set")
	var list []any
	for i := range lengthOf(obj) {
		list = append(list, orUndefined(obj.Get(index(i))))
	}
	return s.vm.NewArray(list...)
}

// numbersOf are the elements of an array of ours as numbers that are not too
// large, in a list that no code of the program has a part in.
func (s *session) numbersOf(list *goja.Object) goja.Value {
	n := lengthOf(list)
	out := make([]float64, n)
	for i := range n {
		v := s.modular(orUndefined(list.Get(index(i))))
		if bigOf(v) != nil {
			s.throwError("TypeError", "Cannot convert a BigInt value to a number")
		}
		out[i] = v.ToFloat()
	}
	return s.floats(out)
}

// floats makes a Float64Array.
func (s *session) floats(list []float64) goja.Value {
	bytes := make([]byte, 0, 8*len(list))
	for _, x := range list {
		bytes = binary.NativeEndian.AppendUint64(bytes, math.Float64bits(x))
	}
	out, err := s.vm.New(s.ctor("Float64Array"), s.vm.ToValue(s.vm.NewArrayBuffer(bytes)))
	if err != nil {
		panic(err)
	}
	return out
}

// cut gives a method of a list the argument i as its elements take it. What
// comes before it is converted before it.
func (s *session) cut(call goja.FunctionCall, i int) []goja.Value {
	if len(call.Arguments) <= i || !s.integral(call.This) {
		return call.Arguments
	}
	args := slices.Clone(call.Arguments)
	for j := range i {
		args[j] = args[j].ToNumber()
	}
	args[i] = s.modular(args[i])
	return args
}

// cutElement gives a function whose first arguments are a list and a key the
// argument i.
func (s *session) cutElement(call goja.FunctionCall, i int) []goja.Value {
	if len(call.Arguments) <= i || !s.integral(call.Arguments[0]) || !isIndex(call.Arguments[1]) {
		return call.Arguments
	}
	args := slices.Clone(call.Arguments)
	args[i] = s.modular(args[i])
	return args
}

// cutDescriptor does so for the value of a property that is defined.
func (s *session) cutDescriptor(call goja.FunctionCall) []goja.Value {
	if len(call.Arguments) < 3 || !isIndex(call.Arguments[1]) {
		return call.Arguments
	}
	list, _ := call.Arguments[0].(*goja.Object)
	if list == nil {
		return call.Arguments
	}
	if _, typed := s.typedArray(list); !typed {
		return call.Arguments
	}
	d, ok := call.Arguments[2].(*goja.Object)
	if !ok {
		return call.Arguments
	}
	args := slices.Clone(call.Arguments)
	plain := s.vm.NewObject()
	for _, name := range []string{"enumerable", "configurable", "value", "writable", "get", "set"} {
		v := d.Get(name)
		switch {
		case v == nil:
			continue
		case name == "value":
			if s.integral(list) {
				v = s.modular(v)
			}
		}
		_ = plain.DefineDataProperty(name, v, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE)
	}
	if plain.Get("value") == nil && plain.Get("get") == nil && plain.Get("set") == nil {
		// The engine wants a value; the one that is there changes nothing.
		if now := list.Get(call.Arguments[1].String()); now != nil {
			_ = plain.DefineDataProperty("value", now, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE)
		}
	}
	args[2] = plain
	return args
}

func isIndex(key goja.Value) bool {
	if _, isObj := key.(*goja.Object); isObj {
		return false
	}
	_, err := strconv.ParseUint(key.String(), 10, 53)
	return err == nil
}

var integerKinds = map[reflect.Type]bool{
	reflect.TypeFor[[]int8](): true, reflect.TypeFor[[]uint8](): true, reflect.TypeFor[[]int16](): true,
	reflect.TypeFor[[]uint16](): true, reflect.TypeFor[[]int32](): true, reflect.TypeFor[[]uint32](): true,
}

// integral reports whether v is a list of integers that are taken modulo.
func (s *session) integral(v goja.Value) bool {
	obj, ok := v.(*goja.Object)
	if !ok {
		return false
	}
	kind := obj.ExportType()
	if !integerKinds[kind] {
		return false
	}
	return kind != reflect.TypeFor[[]uint8]() || s.native.integers.tag(obj).String() == "Uint8Array"
}

// integralClass reports whether v makes such lists.
func (s *session) integralClass(v goja.Value) bool {
	class, ok := v.(*goja.Object)
	if !ok {
		return false
	}
	if _, callable := goja.AssertConstructor(class); !callable {
		return false
	}
	for proto, _ := class.Get("prototype").(*goja.Object); proto != nil; proto = proto.Prototype() {
		if slices.Contains(s.native.integers.protos, proto) {
			return true
		}
	}
	return false
}

// integersOf are the elements that a list of integers gets from source, where
// some of them may be too large; all else is source itself.
func (s *session) integersOf(source goja.Value, constructs bool) goja.Value {
	obj, ok := source.(*goja.Object)
	if !ok {
		return source
	}
	if _, buffer := arrayBuffer(obj); buffer && constructs {
		return source
	}
	n, typed := s.typedArray(obj)
	switch {
	case !typed && constructs:
		return s.numbersOf(s.listed(obj))
	case !typed:
		if list := s.indexed(obj); lengthOf(list) > 0 {
			return s.numbersOf(list)
		}
		return s.vm.NewArray() // no typed one, see emptyList
	case n == 0: // also one whose buffer was taken away
		return source
	}
	switch list := obj.Export().(type) {
	case []float32:
		if out := cutFloats(list); out != nil {
			return s.floats(out)
		}
	case []float64:
		if out := cutFloats(list); out != nil {
			return s.floats(out)
		}
	}
	return source
}

// cutFloats takes the numbers that are too large modulo 2^32; nil = there are
// none.
func cutFloats[T float32 | float64](list []T) []float64 {
	large := func(x T) bool { return math.Abs(float64(x)) >= tooLarge && !math.IsInf(float64(x), 0) }
	if !slices.ContainsFunc(list, large) {
		return nil
	}
	out := make([]float64, len(list))
	for i, x := range list {
		if out[i] = float64(x); large(x) {
			out[i] = math.Mod(out[i], wordRange)
		}
	}
	return out
}

// viewOf gives an assignment what to store into: for a list of integers, one
// that cuts what it is given, and else its argument.
func (s *session) viewOf(call goja.FunctionCall) goja.Value {
	v := call.Argument(0)
	if s.native.integers == nil || !s.integral(v) {
		return v
	}
	t, list := s.native.integers, v.(*goja.Object)
	if t.list != list {
		t.list, t.view = list, s.vm.ToValue(s.vm.NewProxy(list, s.viewTraps())).(*goja.Object)
	}
	return t.view
}

// viewTraps keep the view itself from all code of the program.
func (s *session) viewTraps() *goja.ProxyTrapConfig {
	set := func(list *goja.Object, key, v goja.Value) bool {
		return s.native.integers.set(goja.Undefined(), list, key, v).ToBoolean()
	}
	return &goja.ProxyTrapConfig{
		GetIdx: func(list *goja.Object, i int, _ goja.Value) goja.Value { return orUndefined(list.Get(strconv.Itoa(i))) },
		Get:    func(list *goja.Object, key string, _ goja.Value) goja.Value { return orUndefined(list.Get(key)) },
		GetSym: func(list *goja.Object, key *goja.Symbol, _ goja.Value) goja.Value {
			return orUndefined(list.GetSymbol(key))
		},
		SetIdx: func(list *goja.Object, i int, v, _ goja.Value) bool {
			return set(list, s.vm.ToValue(i), s.modular(v))
		},
		Set: func(list *goja.Object, key string, v, _ goja.Value) bool {
			if isIndex(s.vm.ToValue(key)) {
				v = s.modular(v)
			}
			return set(list, s.vm.ToValue(key), v)
		},
		SetSym: func(list *goja.Object, key *goja.Symbol, v, _ goja.Value) bool { return set(list, key, v) },
	}
}
