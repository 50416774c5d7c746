package js

import (
	"math/big"
	"reflect"
	"runtime"
	"strconv"
	"sync"
	"weak"

	"github.com/dop251/goja"
)

var (
	bigIntType = reflect.TypeFor[*big.Int]()
	proxyType  = reflect.TypeFor[goja.Proxy]()
	intType    = reflect.TypeFor[int64]()
	floatType  = reflect.TypeFor[float64]()
)

// intrinsics are the engine's own objects, so that nothing the program replaces
// is ever called by us. Each is taken when it is first needed, and before any
// code of the program runs where the program could replace it.
type intrinsics struct {
	ctors       map[string]*goja.Object
	jsonParse   callee
	arrayValues callee
	source      callee      // Function.prototype.toString
	power       callee      // lib/power.js, once it is needed
	key         callee      // lib/propertykey.js, once it is needed
	numeric     callee      // lib/numeric.js, once it is needed
	hasOwn      callee      // Object.prototype.hasOwnProperty, where there is a console
	visitKeys   callee      // lib/keys.js, once a line shows an object
	match       *matchTools // once it is needed
	integers    *integerStores
	hidden      *secrets
}

// errorKinds are the errors that we throw.
var errorKinds = []string{"Error", "TypeError", "RangeError", "SyntaxError", "EvalError"}

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

// capture takes what the program could replace.
func (s *session) capture() {
	n := &s.prog.needs
	for _, name := range errorKinds {
		if n.names(name) {
			s.ctor(name)
		}
	}
	if n.names("Uint8Array") {
		s.ctor("Uint8Array")
	}
	if n.names("JSON", "fetch", "safety", "Java") {
		s.parser()
	}
	if n.names("URL", "URLSearchParams", "fetch", "safety", "Java") {
		s.native.arrayValues, _ = s.callable(s.vm.NewArray().Prototype().Get("values"))
	}
}

// member is a member that is an object.
func (s *session) member(obj *goja.Object, name string) *goja.Object {
	o, _ := obj.Get(name).(*goja.Object)
	return o
}

// ctor is a constructor of the engine.
func (s *session) ctor(name string) *goja.Object {
	c := s.native.ctors[name]
	if c == nil {
		if c = s.member(s.vm.GlobalObject(), name); c == nil {
			panic(s.vm.NewTypeError(name + " is missing"))
		}
		if s.native.ctors == nil {
			s.native.ctors = map[string]*goja.Object{}
		}
		s.native.ctors[name] = c
	}
	return c
}

// parser is JSON.parse.
func (s *session) parser() callee {
	if s.native.jsonParse == nil {
		native, _ := s.callable(s.member(s.vm.GlobalObject(), "JSON").Get("parse"))
		s.native.jsonParse = s.exactJSON(native)
	}
	return s.native.jsonParse
}

// secrets keep Go data of objects for as long as the objects live. The program
// can neither read the data nor move it to another object.
type secrets struct {
	mu sync.Mutex
	m  map[weak.Pointer[goja.Object]]any
}

// hide attaches Go data to an object.
func (s *session) hide(obj *goja.Object, data any) {
	if s.native.hidden == nil {
		s.native.hidden = &secrets{m: map[weak.Pointer[goja.Object]]any{}}
	}
	h, key := s.native.hidden, weak.Make(obj)
	h.mu.Lock()
	_, known := h.m[key]
	h.m[key] = data
	h.mu.Unlock()
	if !known {
		home := weak.Make(h)
		runtime.AddCleanup(obj, func(key weak.Pointer[goja.Object]) {
			if h := home.Value(); h != nil {
				h.mu.Lock()
				delete(h.m, key)
				h.mu.Unlock()
			}
		}, key)
	}
}

// reveal gives back what hide attached, or nil.
func (s *session) reveal(v goja.Value) any {
	obj, ok := v.(*goja.Object)
	if h := s.native.hidden; ok && h != nil {
		h.mu.Lock()
		defer h.mu.Unlock()
		return h.m[weak.Make(obj)]
	}
	return nil
}

// isArray is Array.isArray.
func (s *session) isArray(obj *goja.Object) bool {
	for obj.ExportType() == proxyType {
		p, _ := obj.Export().(goja.Proxy)
		if obj = p.Target(); obj == nil {
			panic(s.vm.NewTypeError("Cannot perform 'IsArray' on a proxy that has been revoked"))
		}
	}
	return obj.ClassName() == "Array"
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
	obj, err := s.vm.New(s.ctor("Uint8Array"), s.vm.ToValue(s.vm.NewArrayBuffer(b)))
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
func (s *session) lazy(name string, build func(*session) goja.Value) {
	global := s.vm.GlobalObject()
	get := s.vm.ToValue(func(goja.FunctionCall) goja.Value {
		v := build(s)
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
