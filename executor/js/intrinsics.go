package js

import (
	"math/big"
	"reflect"

	"github.com/dop251/goja"
)

var bigIntType = reflect.TypeFor[*big.Int]()

// intrinsics are the engine's own functions, taken before any code of the
// program runs, so that nothing the program replaces is ever called by us.
type intrinsics struct {
	errorCtor   *goja.Object
	errors      map[string]*goja.Object
	uint8Array  *goja.Object
	jsonParse   goja.Callable
	arrayIs     goja.Callable
	weakSet     goja.Callable
	weakGet     goja.Callable
	failures    *goja.Object // WeakMap from error object to *known
	promiseThen goja.Callable
	evalGuard   goja.Value
}

func (n *intrinsics) capture(vm *goja.Runtime) {
	global := vm.GlobalObject()
	object := func(v goja.Value) *goja.Object { o, _ := v.(*goja.Object); return o }
	method := func(o *goja.Object, name string) goja.Callable {
		f, _ := goja.AssertFunction(o.Get(name))
		return f
	}
	n.errorCtor = object(global.Get("Error"))
	n.errors = map[string]*goja.Object{}
	for _, name := range []string{"TypeError", "RangeError", "SyntaxError", "EvalError"} {
		n.errors[name] = object(global.Get(name))
	}
	n.uint8Array = object(global.Get("Uint8Array"))
	n.jsonParse = method(object(global.Get("JSON")), "parse")
	n.arrayIs = method(object(global.Get("Array")), "isArray")
	weak := object(global.Get("WeakMap"))
	n.failures, _ = vm.New(weak)
	proto := object(weak.Get("prototype"))
	n.weakSet, n.weakGet = method(proto, "set"), method(proto, "get")
	n.promiseThen = method(object(object(global.Get("Promise")).Get("prototype")), "then")
}

func (s *session) isArray(obj *goja.Object) bool {
	v, err := s.native.arrayIs(goja.Undefined(), obj)
	if err != nil {
		panic(err)
	}
	return v.ToBoolean()
}

// typedArray reports the number of elements of a typed array.
func (s *session) typedArray(obj *goja.Object) (int64, bool) {
	switch reflect.TypeOf(obj.Export()) {
	case reflect.TypeFor[[]int8](), reflect.TypeFor[[]int16](), reflect.TypeFor[[]int32](), reflect.TypeFor[[]uint8](),
		reflect.TypeFor[[]uint16](), reflect.TypeFor[[]uint32](), reflect.TypeFor[[]float32](), reflect.TypeFor[[]float64](),
		reflect.TypeFor[[]int64](), reflect.TypeFor[[]uint64]():
		return lengthOf(obj), true
	}
	return 0, false
}

// bytesValue is a new Uint8Array over b, which must not be used afterwards.
func (s *session) bytesValue(b []byte) *goja.Object {
	obj, err := s.vm.New(s.native.uint8Array, s.vm.ToValue(s.vm.NewArrayBuffer(b)))
	if err != nil {
		panic(err)
	}
	return obj
}

// global binds a name that the program cannot replace by assignment from a
// param; code may still shadow it for itself.
func (s *session) global(name string, v goja.Value) {
	if err := s.vm.GlobalObject().DefineDataProperty(name, v, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE); err != nil {
		panic(err)
	}
}

func (s *session) globalFunc(name string, f func(goja.FunctionCall) goja.Value) {
	s.global(name, s.function(name, f))
}

// function is a native function with a proper name.
func (s *session) function(name string, f func(goja.FunctionCall) goja.Value) *goja.Object {
	obj := s.vm.ToValue(f).(*goja.Object)
	_ = obj.DefineDataProperty("name", s.vm.ToValue(name), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	return obj
}

func (s *session) method(obj *goja.Object, name string, f func(goja.FunctionCall) goja.Value) {
	_ = obj.DefineDataProperty(name, s.function(name, f), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE)
}
