package js

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/dop251/goja"

	"github.com/toolwarrant/toolwarrant/executor/worker"
	"github.com/toolwarrant/toolwarrant/fault"
)

const javaHelper = "Java.type"

// hostClasses are the classes that Java.type can give out once the gate has
// allowed the name. Each is pure computation, but for ProcessBuilder, which
// asks the broker for commands in the sandbox. None hands out another class:
// no instance and no class object has getClass, class or forName, and a
// method returns its own kind or a JavaScript value.
var hostClasses map[string]func(*session) *goja.Object

func init() {
	hostClasses = map[string]func(*session) *goja.Object{
		"java.lang.Math":          (*session).javaMath,
		"java.lang.Integer":       (*session).javaInteger,
		"java.lang.Long":          (*session).javaLong,
		"java.lang.Double":        (*session).javaDouble,
		"java.lang.Boolean":       (*session).javaBoolean,
		"java.lang.StringBuilder": (*session).javaStringBuilder,
		"java.util.UUID":          (*session).javaUUID,
		"java.util.Base64":        (*session).javaBase64,
		"java.math.BigInteger":    (*session).javaBigInteger,
		"java.math.BigDecimal":    (*session).javaBigDecimal,
		"java.time.Instant":       (*session).javaInstant,

		"java.lang.String":            (*session).javaString,
		"java.lang.Character":         (*session).javaCharacter,
		"java.util.Objects":           (*session).javaObjects,
		"java.util.StringJoiner":      (*session).javaStringJoiner,
		"java.util.ArrayList":         (*session).javaArrayList,
		"java.util.HashMap":           (*session).javaHashMap,
		"java.util.LinkedHashMap":     (*session).javaLinkedHashMap,
		"java.util.HashSet":           (*session).javaHashSet,
		"java.util.LinkedHashSet":     (*session).javaLinkedHashSet,
		"java.util.regex.Pattern":     (*session).javaPattern,
		"java.time.LocalDate":         (*session).javaLocalDate,
		"java.time.Duration":          (*session).javaDuration,
		"java.security.MessageDigest": (*session).javaMessageDigest,
		"java.lang.ProcessBuilder":    (*session).javaProcessBuilder,
	}
}

// classNames are the implemented classes in order.
var classNames = sync.OnceValue(func() string { return strings.Join(slices.Sorted(maps.Keys(hostClasses)), ", ") })

// instead says what to do without a class.
func instead() string {
	return "use plain JavaScript, or one of " + classNames()
}

// javaObject is the global Java with its one function.
func (s *session) javaObject() goja.Value {
	made := map[string]*goja.Object{}
	obj := s.vm.NewObject()
	s.hiddenMethod(obj, "type", func(call goja.FunctionCall) goja.Value {
		name, ok := text(call.Argument(0))
		if !ok || strings.TrimSpace(name) == "" {
			s.refuse(fault.InvalidInput, javaHelper, "class-name-required", "[Java.type] needs the full name of a class as a string")
		}
		args, _ := json.Marshal([]string{name})
		s.ask(worker.OpClassLookup, javaHelper, args)
		build := hostClasses[name]
		if build == nil {
			s.refuse(fault.InvalidInput, javaHelper, "class-not-implemented", "[Java.type] "+clip(name, 200)+" is allowed but does not exist on this runtime; "+instead())
		}
		if made[name] == nil {
			made[name] = build(s)
		}
		return made[name]
	})
	return obj
}

// A hostType builds one class: its constructor, static and instance methods.
type hostType struct {
	s     *session
	name  string
	ctor  *goja.Object
	proto *goja.Object
}

// newHostType makes a class. create turns constructor arguments into the Go
// side of an instance; nil means that there is no constructor.
func (s *session) newHostType(name string, create func(args []goja.Value) any) *hostType {
	t := &hostType{s: s, name: name, proto: s.vm.NewObject()}
	if create == nil {
		t.ctor = s.vm.NewObject()
	} else {
		t.ctor = s.vm.ToValue(func(call goja.ConstructorCall) *goja.Object {
			return t.instance(create(call.Arguments))
		}).(*goja.Object)
		_ = t.ctor.DefineDataProperty("name", s.vm.ToValue(name), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	}
	_ = t.proto.DefineDataProperty("constructor", goja.Undefined(), goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE)
	return t
}

func (t *hostType) instance(data any) *goja.Object {
	obj := t.s.vm.CreateObject(t.proto)
	t.s.hide(obj, data)
	return obj
}

func (t *hostType) static(name string, f func(args []goja.Value) any) {
	t.s.hiddenMethod(t.ctor, name, func(call goja.FunctionCall) goja.Value {
		return t.s.vm.ToValue(f(call.Arguments))
	})
}

func (t *hostType) field(name string, v any) { t.s.constant(t.ctor, name, t.s.vm.ToValue(v)) }

// instanceMethod adds a method whose receiver must be of the Go type T.
func instanceMethod[T any](t *hostType, name string, f func(self T, this *goja.Object, args []goja.Value) any) {
	t.s.hiddenMethod(t.proto, name, func(call goja.FunctionCall) goja.Value {
		self, ok := t.s.reveal(call.This).(T)
		if !ok {
			t.s.throwError("TypeError", t.name+"."+name+" was called on something else")
		}
		return t.s.vm.ToValue(f(self, call.This.(*goja.Object), call.Arguments))
	})
}

// argument gives argument i, undefined where it is missing.
func argument(args []goja.Value, i int) goja.Value {
	if i < len(args) {
		return orUndefined(args[i])
	}
	return goja.Undefined()
}

// bad throws for arguments that a class cannot use.
func (s *session) bad(reason, message string) {
	s.refuse(fault.InvalidInput, javaHelper, reason, "[Java.type] "+message)
}
