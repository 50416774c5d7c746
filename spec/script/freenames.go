package script

import (
	"slices"
	"strings"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
)

// globals are the names that a program finds without declaring them, each
// capability granted. A test of executor/js holds the list against the runtime.
var globals = []string{
	"AggregateError", "Array", "ArrayBuffer", "BigInt", "BigInt64Array", "BigUint64Array", "Boolean", "DataView", "Date",
	"Error", "EvalError", "FinalizationRegistry", "Float32Array", "Float64Array", "Function", "Infinity", "Int16Array",
	"Int32Array", "Int8Array", "Intl", "Iterator", "JSON", "Java", "Map", "Math", "NaN", "Number", "Object", "Promise",
	"Proxy", "RangeError", "ReferenceError", "Reflect", "RegExp", "Set", "String", "Symbol", "SyntaxError", "TextDecoder",
	"TextEncoder", "TypeError", "URIError", "URL", "URLSearchParams", "Uint16Array", "Uint32Array", "Uint8Array",
	"Uint8ClampedArray", "WeakMap", "WeakRef", "WeakSet", "args", "atob", "btoa", "clearTimeout", "console", "crypto",
	"decodeURI", "decodeURIComponent", "encodeURI", "encodeURIComponent", "escape", "eval", "fetch", "globalThis",
	"isFinite", "isNaN", "parseFloat", "parseInt", "queueMicrotask", "safety", "setTimeout", "structuredClone",
	"undefined", "unescape",
}

// Globals are the names of all globals that the runtime has, sorted. Some of
// them exist only where a tool is granted their use, fetch for example.
func Globals() []string { return slices.Clone(globals) }

// freeNames collects the names that a program uses and nobody declares.
type freeNames struct {
	declared declared
	used     []*ast.Identifier
	opaque   bool // the global object is handed on: names may come from there
}

func (f *freeNames) expr(e ast.Expression) {
	f.declared.expr(e)
	switch e := e.(type) {
	case *ast.Identifier:
		if e != nil {
			f.used = append(f.used, e)
			f.opaque = f.opaque || e.Name == "globalThis"
		}
	case *ast.PropertyShort:
		f.used = append(f.used, &e.Name)
	case *ast.AssignExpression:
		if e.Operator == token.ASSIGN {
			f.declared.target(e.Left) // of a name that nobody declares it makes a global
		}
	case *ast.DotExpression:
		f.onGlobal(e.Left, e.Identifier.Name.String())
	case *ast.BracketExpression:
		if key, ok := e.Member.(*ast.StringLiteral); ok {
			f.onGlobal(e.Left, key.Value.String())
		}
	}
}

// onGlobal notes globalThis.name: it sets the name, or asks whether it is there.
func (f *freeNames) onGlobal(owner ast.Expression, name string) {
	if id, ok := unwrap(owner).(*ast.Identifier); ok && id.Name == "globalThis" {
		f.declared[name] = true
	}
}

func (f *freeNames) stmt(s ast.Statement) {
	f.declared.stmt(s)
	var into ast.ForInto
	switch s := s.(type) {
	case *ast.ForInStatement:
		into = s.Into
	case *ast.ForOfStatement:
		into = s.Into
	}
	if x, ok := into.(*ast.ForIntoExpression); ok {
		f.declared.target(x.Expression)
	}
}

// missing are the first uses of names that neither the code declares nor the
// runtime has. Names that begin with __ are those of rewritten code.
func (f *freeNames) missing() []*ast.Identifier {
	if f.opaque {
		return nil
	}
	var out []*ast.Identifier
	seen := map[string]bool{}
	for _, id := range f.used {
		name := id.Name.String()
		if seen[name] || f.declared[name] || name == argumentsName || strings.HasPrefix(name, "__") || slices.Contains(globals, name) {
			continue
		}
		seen[name] = true
		out = append(out, id)
	}
	return out
}
