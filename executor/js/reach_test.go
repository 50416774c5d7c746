package js

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dop251/goja"

	"github.com/toolwarrant/toolwarrant/executor/worker"
)

// A walk visits all that can be reached from a value: own properties, hidden
// ones and prototypes included, and what functions return when they are
// called and constructed with arguments of every kind. Nothing may be a Go
// value that the engine wraps, and no name may lead to a class.
type walk struct {
	t     *testing.T
	s     *session
	seen  map[*goja.Object]bool
	kinds map[string]bool // Go types behind the objects
	names map[string]bool
	calls int
	stock []goja.Value // objects found, as arguments
}

func newWalk(t *testing.T) *walk {
	b := &fakeBroker{serve: map[worker.Op]func([]json.RawMessage) worker.BrokerReply{worker.OpClassLookup: answer(`true`)}}
	s := &session{vm: goja.New(), ctx: context.Background(), broker: b, prog: &program{}}
	w := &walk{t: t, s: s, seen: map[*goja.Object]bool{}, kinds: map[string]bool{}, names: map[string]bool{}}
	w.intrinsics(s.vm.GlobalObject())
	return w
}

// intrinsics marks what every program has anyway.
func (w *walk) intrinsics(obj *goja.Object) {
	if obj == nil || w.seen[obj] {
		return
	}
	w.seen[obj] = true
	w.intrinsics(obj.Prototype())
	for _, name := range obj.GetOwnPropertyNames() {
		_ = w.s.vm.Try(func() {
			if o, ok := obj.Get(name).(*goja.Object); ok {
				w.intrinsics(o)
			}
		})
	}
	for _, expr := range []string{`Object.getPrototypeOf([][Symbol.iterator]())`, `Object.getPrototypeOf(function* () {})`, `Object.getPrototypeOf(Int8Array)`} {
		if v, err := w.s.vm.RunString(expr); err == nil {
			if o := v.(*goja.Object); !w.seen[o] {
				w.intrinsics(o)
			}
		}
	}
}

var plainTypes = []reflect.Type{
	reflect.TypeFor[map[string]any](), reflect.TypeFor[[]any](), reflect.TypeFor[func(goja.FunctionCall) goja.Value](),
	reflect.TypeFor[func(goja.ConstructorCall) *goja.Object](), reflect.TypeFor[[]uint8](), reflect.TypeFor[goja.ArrayBuffer](), reflect.TypeFor[error](), reflect.TypeFor[string](),
}

func (w *walk) visit(v goja.Value, path string, depth int) {
	obj, ok := v.(*goja.Object)
	if !ok || w.seen[obj] || depth > 6 || w.calls > 60_000 {
		return
	}
	w.seen[obj] = true
	typ := obj.ExportType()
	if !slices.ContainsFunc(plainTypes, func(p reflect.Type) bool {
		return typ == p || p.Kind() == reflect.Interface && typ != nil && typ.Implements(p)
	}) {
		w.t.Errorf("%s is a Go value: %v", path, typ)
	}
	if data := w.s.reveal(obj); data != nil {
		if _, failure := data.(*worker.Failure); failure {
			return
		}
		w.kinds[fmt.Sprintf("%T", data)] = true
	}
	if len(w.stock) < 8 {
		w.stock = append(w.stock, obj)
	}
	for at := obj; at != nil && (at == obj || !w.seen[at]); at = at.Prototype() {
		w.seen[at] = true
		for _, name := range at.GetOwnPropertyNames() {
			w.names[name] = true
			switch name {
			case "getClass", "class", "forName", "classLoader", "newInstance", "getClassLoader":
				w.t.Errorf("%s.%s exists", path, name)
			}
			var m goja.Value
			if ex := w.s.vm.Try(func() { m = obj.Get(name) }); ex != nil {
				continue
			}
			w.call(m, obj, path+"."+name, depth)
			w.visit(m, path+"."+name, depth+1)
		}
		for _, sym := range at.Symbols() {
			w.call(obj.GetSymbol(sym), obj, path+"[symbol]", depth)
			w.visit(obj.GetSymbol(sym), path+"[symbol]", depth+1)
		}
	}
	w.call(obj, nil, path, depth)
}

func (w *walk) call(v goja.Value, this *goja.Object, path string, depth int) {
	f, ok := goja.AssertFunction(v)
	fn, isObject := v.(*goja.Object)
	if !ok || !isObject || w.seen[fn] && this == nil && depth > 6 {
		return
	}
	vm := w.s.vm
	arr := vm.NewArray("a", 1)
	id := vm.ToValue(func(call goja.FunctionCall) goja.Value { return call.Argument(0) })
	tuples := [][]goja.Value{{}, {vm.ToValue(1)}, {vm.ToValue("a")}, {vm.ToValue("SHA-256")}, {vm.ToValue("2026-01-15"), vm.ToValue("x")}, {vm.ToValue("2026-01-15T10:30:00Z")},
		{vm.ToValue("123e4567-e89b-12d3-a456-426614174000")}, {arr}, {vm.ToValue(2000), vm.ToValue(1), vm.ToValue(2)}, {vm.ToValue("(a)"), vm.ToValue(2)}, {id}, {vm.ToValue("class")}, {vm.ToValue("getClass")}}
	for _, o := range w.stock {
		tuples = append(tuples, []goja.Value{o}, []goja.Value{vm.ToValue(0), o})
	}
	receiver := goja.Value(goja.Undefined())
	if this != nil {
		receiver = this
	}
	for i, args := range tuples {
		if w.calls++; w.calls > 60_000 {
			return
		}
		if out, err := f(receiver, args...); err == nil {
			w.visit(out, fmt.Sprintf("%s(#%d)", path, i), depth+1)
		}
		if _, ok := goja.AssertConstructor(v); ok && this == nil {
			if out, err := vm.New(v, args...); err == nil {
				w.visit(out, "new "+path, depth+1)
			}
		}
	}
}

// TestClassReach walks each class: the Go side of what it gives out is its
// own and never that of another class.
func TestClassReach(t *testing.T) {
	own := map[string]string{
		"java.lang.Math": "", "java.lang.Integer": "", "java.lang.Long": "", "java.lang.Double": "", "java.lang.Boolean": "",
		"java.lang.StringBuilder": "*js.stringBuilder", "java.util.UUID": "uuid.UUID", "java.util.Base64": "",
		"java.math.BigInteger": "*big.Int", "java.math.BigDecimal": "js.decimal", "java.time.Instant": "time.Time",
		"java.lang.String": "", "java.lang.Character": "", "java.util.Objects": "", "java.util.StringJoiner": "*js.joiner",
		"java.util.ArrayList": "*js.javaList", "java.util.HashMap": "*js.javaMap", "java.util.LinkedHashMap": "*js.javaMap",
		"java.util.HashSet": "*js.javaMap", "java.util.LinkedHashSet": "*js.javaMap", "java.util.regex.Pattern": "*js.javaMatcher *js.javaPattern",
		"java.time.LocalDate": "js.date", "java.time.Duration": "time.Duration", "java.security.MessageDigest": "*js.digest",
		"java.lang.ProcessBuilder": "*js.javaMap *js.processBuilder",
	}
	for name, build := range hostClasses {
		t.Run(name, func(t *testing.T) {
			want, ok := own[name]
			if !ok {
				t.Fatal("say here what this class is made of")
			}
			w := newWalk(t)
			w.visit(build(w.s), name, 0)
			var kinds []string
			for k := range w.kinds {
				kinds = append(kinds, k)
			}
			slices.Sort(kinds)
			if got := strings.Join(kinds, " "); got != want {
				t.Errorf("it gives out %q, want %q", got, want)
			}
			if w.calls == 0 || len(w.names) < 2 {
				t.Errorf("%d calls, %d names: the walk did not go far", w.calls, len(w.names))
			}
		})
	}
}

// TestHTMLReach walks a document and lists what it offers.
func TestHTMLReach(t *testing.T) {
	w := newWalk(t)
	w.visit(w.s.parseHTML(goja.FunctionCall{Arguments: []goja.Value{w.s.vm.ToValue("<title>t</title><p id=a class=b>x<i>y</i></p><p>z")}}), "document", 0)
	for kind := range w.kinds {
		if kind != "*html.Node" && kind != "[]*html.Node" {
			t.Errorf("it gives out %s", kind)
		}
	}
	var names []string
	for n := range w.names {
		if len(n) > 1 || n[0] < '0' || n[0] > '9' {
			names = append(names, n)
		}
	}
	slices.Sort(names)
	const want = "absUrl after append attr attributes before body child children childrenSize className closest each eachAttr eachText empty eq equals filter first firstElementChild forEach get getElementById getElementsByAttribute getElementsByClass getElementsByTag hasAttr hasClass hasText head html id is isEmpty last lastElementChild length map name next nextElementSibling not outerHtml ownText parent parents prepend prev previousElementSibling remove removeAttr select selectFirst siblings size tagName text title toArray toJSON toString val"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("it offers\n%s\nwant\n%s", got, want)
	}
	if w.calls < 100 {
		t.Errorf("%d calls", w.calls)
	}
}

// TestMatcherAsksTheGate: an instance of another class is given out only
// where that class is allowed.
func TestMatcherAsksTheGate(t *testing.T) {
	b := &fakeBroker{serve: map[worker.Op]func([]json.RawMessage) worker.BrokerReply{worker.OpClassLookup: func(args []json.RawMessage) worker.BrokerReply {
		if string(args[0]) == `"java.util.regex.Pattern"` {
			return worker.BrokerReply{Result: json.RawMessage(`true`)}
		}
		return worker.BrokerReply{Failure: &worker.Failure{Code: "SECURITY", Reason: "class-denied", Helper: "Java.type", Message: "no " + string(args[0])}}
	}}}
	if got := outcome(runWith(t, b, `Java.type("java.util.regex.Pattern").compile("a").matcher("a")`, `{}`)); got != `SECURITY/class-denied: no "java.util.regex.Matcher"` {
		t.Error(got)
	}
}
