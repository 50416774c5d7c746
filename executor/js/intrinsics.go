package js

import (
	"math/big"
	"reflect"
	"strconv"

	"github.com/dop251/goja"
)

var (
	bigIntType = reflect.TypeFor[*big.Int]()
	secretType = reflect.TypeFor[*secret]()
)

// intrinsics are the engine's own functions, taken before any code of the
// program runs, so that nothing the program replaces is ever called by us.
type intrinsics struct {
	errorCtor   *goja.Object
	errors      map[string]*goja.Object
	uint8Array  *goja.Object
	jsonParse   callee
	arrayIs     callee
	arrayValues callee
	weakSet     callee
	weakGet     callee
	hidden      *goja.Object // WeakMap from object to its Go side
}

// A callee calls a function of the virtual machine; what it throws goes on as
// a panic, which native functions let pass.
type callee func(this goja.Value, args ...goja.Value) goja.Value

var nativeFunc = reflect.TypeFor[func(goja.FunctionCall) goja.Value]()

// maxReentry bounds the fallback of callable.
const maxReentry = 200

// callable gives the function in v. Ordinary functions are called directly.
// goja's own AssertFunction is only the fallback, for proxies and the like: at
// the outermost level it runs all microtasks before it returns, so that jobs
// which call each other through it would nest without a bound.
func (s *session) callable(v goja.Value) (callee, bool) {
	obj, ok := v.(*goja.Object)
	if !ok {
		return nil, false
	}
	if obj.ExportType() == nativeFunc {
		if f, ok := obj.Export().(func(goja.FunctionCall) goja.Value); ok {
			return func(this goja.Value, args ...goja.Value) goja.Value {
				return orUndefined(f(goja.FunctionCall{This: this, Arguments: args}))
			}, true
		}
	}
	f, ok := goja.AssertFunction(obj)
	if !ok {
		return nil, false
	}
	return func(this goja.Value, args ...goja.Value) goja.Value {
		s.nested++
		defer func() { s.nested-- }()
		if s.nested > maxReentry {
			s.stop(stackFailure())
			s.throwError("RangeError", "the calls nest too deeply")
		}
		v, err := f(this, args...)
		if err != nil {
			panic(err)
		}
		return v
	}, true
}

func (n *intrinsics) capture(s *session) {
	vm := s.vm
	global := vm.GlobalObject()
	object := func(v goja.Value) *goja.Object { o, _ := v.(*goja.Object); return o }
	method := func(o *goja.Object, name string) callee {
		f, _ := s.callable(o.Get(name))
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
	n.arrayValues = method(object(object(global.Get("Array")).Get("prototype")), "values")
	weak := object(global.Get("WeakMap"))
	n.hidden, _ = vm.New(weak)
	proto := object(weak.Get("prototype"))
	n.weakSet, n.weakGet = method(proto, "set"), method(proto, "get")
}

// secret keeps Go data of an object; it has nothing that goja exposes.
type secret struct{ data any }

// hide attaches Go data to an object, where the program can neither read it
// nor move it to another object.
func (s *session) hide(obj *goja.Object, data any) {
	s.native.weakSet(s.native.hidden, obj, s.vm.ToValue(&secret{data}))
}

// reveal gives back what hide attached, or nil.
func (s *session) reveal(v goja.Value) any {
	obj, ok := v.(*goja.Object)
	if !ok {
		return nil
	}
	got, ok := s.native.weakGet(s.native.hidden, obj).(*goja.Object)
	if !ok || got.ExportType() != secretType {
		return nil
	}
	return got.Export().(*secret).data
}

func (s *session) isArray(obj *goja.Object) bool {
	return s.native.arrayIs(goja.Undefined(), obj).ToBoolean()
}

// typedArray reports the number of elements of a typed array.
func (s *session) typedArray(obj *goja.Object) (int64, bool) {
	switch obj.ExportType() {
	case reflect.TypeFor[[]int8](), reflect.TypeFor[[]int16](), reflect.TypeFor[[]int32](), reflect.TypeFor[[]uint8](),
		reflect.TypeFor[[]uint16](), reflect.TypeFor[[]uint32](), reflect.TypeFor[[]float32](), reflect.TypeFor[[]float64](),
		reflect.TypeFor[[]int64](), reflect.TypeFor[[]uint64]():
		return lengthOf(obj), true
	}
	return 0, false
}

func arrayBuffer(v goja.Value) (goja.ArrayBuffer, bool) {
	obj, ok := v.(*goja.Object)
	if !ok || obj.ExportType() != reflect.TypeFor[goja.ArrayBuffer]() {
		return goja.ArrayBuffer{}, false
	}
	buf, ok := obj.Export().(goja.ArrayBuffer)
	return buf, ok
}

// bytesOf reads a typed array, a DataView, an ArrayBuffer or an array of
// numbers. The result may share memory with the program.
func (s *session) bytesOf(v goja.Value) ([]byte, bool) {
	obj, ok := v.(*goja.Object)
	if !ok {
		return nil, false
	}
	if buf, ok := arrayBuffer(obj); ok {
		return buf.Bytes(), true
	}
	if view, ok := arrayBuffer(obj.Get("buffer")); ok {
		off, n := orUndefined(obj.Get("byteOffset")).ToInteger(), orUndefined(obj.Get("byteLength")).ToInteger()
		b := view.Bytes()
		if off < 0 || n < 0 || off > int64(len(b)) || n > int64(len(b))-off {
			return nil, false
		}
		return b[off : off+n], true
	}
	if !s.isArray(obj) {
		return nil, false
	}
	n := lengthOf(obj)
	if n > maxBulk {
		s.throwError("RangeError", "the array is too long")
	}
	out := make([]byte, n)
	for i := range out {
		out[i] = byte(orUndefined(obj.Get(strconv.Itoa(i))).ToInteger())
	}
	return out, true
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

// lazy binds a name whose value is built when it is first read.
func (s *session) lazy(name string, build func() goja.Value) {
	global := s.vm.GlobalObject()
	get := s.vm.ToValue(func(goja.FunctionCall) goja.Value {
		v := build()
		s.global(name, v)
		return v
	})
	set := s.vm.ToValue(func(call goja.FunctionCall) goja.Value {
		s.global(name, call.Argument(0))
		return goja.Undefined()
	})
	if err := global.DefineAccessorProperty(name, get, set, goja.FLAG_TRUE, goja.FLAG_FALSE); err != nil {
		panic(err)
	}
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
