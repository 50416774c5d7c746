// Package script reads the JavaScript of a tool without running it: whether
// it parses, which helper groups it uses, whether it refers to Java.
//
// It also decides what the language of tools is: package executor/js parses by
// it, so that what a check accepts is what runs. The code is hostile: the parser it calls
// recurses on every bracket and would end the whole process on a stack
// overflow, reads files that a sourceMappingURL comment names, and parses
// arrow parameters twice. So the size is capped, source maps are off, and a
// linear scan refuses deep nesting before the parser sees a byte (see scan).
// What is found is advice for people and for the toolSafety block: no gate
// depends on it, since code can always reach a name that no reader sees.
package script

import (
	"slices"

	"github.com/dop251/goja/ast"
)

// Facts is what the code says about itself. A name that the code declares
// itself counts as well: the facts may say too much, never too little for
// names that are written out.
type Facts struct {
	Helpers     []string // sorted, namespaced spelling: "safety.http/v1", ...
	JavaInterop bool
}

// The helper groups, in the namespaced spelling of Safe Tool Spec section 8.3.
const (
	HTTP     = "safety.http/v1"
	FS       = "safety.fs/v1"
	Parser   = "safety.parser/v1"
	Crypto   = "safety.crypto/v1"
	Encoding = "safety.encoding/v1"
	Checked  = "safety.check/v1" // of this runtime, as is the next: the specification lists neither
	Time     = "safety.time/v1"
)

// Groups are all helper groups, sorted.
func Groups() []string { return []string{Checked, Crypto, Encoding, FS, HTTP, Parser, Time} }

// groupOfGlobal gives the helper group that a global name belongs to.
func groupOfGlobal(name string) string {
	switch name {
	case "fetch":
		return HTTP
	case "crypto":
		return Crypto
	case "atob", "btoa", "TextEncoder", "TextDecoder":
		return Encoding
	}
	return ""
}

// collect derives the facts from the body of the tool.
func collect(body ast.Node) Facts {
	w := &walker{seen: map[string]bool{}}
	w.node(body)
	f := Facts{JavaInterop: w.java, Helpers: make([]string, 0, len(w.seen))}
	for g := range w.seen {
		f.Helpers = append(f.Helpers, g)
	}
	slices.Sort(f.Helpers)
	return f
}

// walker visits every expression once and notes the globals it names.
type walker struct {
	seen      map[string]bool
	java      bool
	visit     func(ast.Expression) // when set, sees each expression
	visitStmt func(ast.Statement)
	fn        *ast.FunctionLiteral // the function around, arrows aside

	depth, deepest int
}

// enter and leave count the levels that the walker is below.
func (w *walker) enter() {
	w.depth++
	w.deepest = max(w.deepest, w.depth)
}

func (w *walker) leave() { w.depth-- }

// global notes the use of a global name.
func (w *walker) global(name string) {
	switch name {
	case "Java":
		w.java = true
	case "safety":
		// The object itself is passed on: any group may be meant.
		w.seen[Checked], w.seen[FS], w.seen[Parser], w.seen[Time] = true, true, true, true
	case "globalThis":
		for _, g := range Groups() {
			w.seen[g] = true
		}
		w.java = true
	default:
		if g := groupOfGlobal(name); g != "" {
			w.seen[g] = true
		}
	}
}

// member notes owner.name for the two objects whose members matter, and
// reports whether it did; otherwise the owner is visited like any other.
func (w *walker) member(owner ast.Expression, name string) bool {
	switch o := unwrap(owner).(type) {
	case *ast.Identifier:
		switch o.Name.String() {
		case "safety":
			w.safety(name)
			return true
		case "globalThis":
			w.global(name)
			return true
		}
	case *ast.DotExpression: // globalThis.safety.fs
		id, ok := unwrap(o.Left).(*ast.Identifier)
		if ok && id.Name.String() == "globalThis" && o.Identifier.Name.String() == "safety" {
			w.safety(name)
			return true
		}
	}
	return false
}

func (w *walker) safety(name string) {
	switch name {
	case "fs":
		w.seen[FS] = true
	case "parser":
		w.seen[Parser] = true
	case "http":
		w.seen[HTTP] = true
	case "check":
		w.seen[Checked] = true
	case "time":
		w.seen[Time] = true
	}
}

// unwrap removes the wrappers of optional chaining.
func unwrap(e ast.Expression) ast.Expression {
	for {
		switch x := e.(type) {
		case *ast.Optional:
			e = x.Expression
		case *ast.OptionalChain:
			e = x.Expression
		default:
			return e
		}
	}
}
