package house

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/toolwarrant/toolwarrant/executor"
)

// Every call leaves one close record, on every way to end. What makes that so
// is the shape of one function, Engine.Call, and that nothing goes around it:
//
//   - each return of Engine.Call gives what Engine.record gives, but the one of
//     a call that goes on after a human was asked;
//   - a call goes on (errSuspended) only where a question was put before;
//   - the steps are run by Engine.guarded alone, which recovers, and it by
//     Engine.Call alone;
//   - the close record is written in one place;
//   - what runs beside a call recovers by itself;
//   - nothing below a transport ends the process or its goroutine;
//   - no transport to the network makes a call of an own document, which nobody
//     is asked about.

const (
	callFunc   = "Engine.Call"
	refuseFunc = "Engine.Refuse"
	guardFunc  = "Engine.guarded"
	recordFunc = "Engine.record"
	// A request of somebody who is not known is no call: it is recorded as one
	// that ended before its first step.
	refusedFunc = "Engine.Refused"
	closeFunc   = "Engine.closed"
)

var (
	pipelineSteps = []string{"lookup", "validate", "decide", "limit", "approve", "enforce"}
	// Where a call may be left to go on: a question is on record there.
	suspending = []string{"Engine.approve", "Engine.resume"}
	// A step that another one repeats: what a human accepted is decided again,
	// with the arguments of the approver where there are such. Amend is no call:
	// it says what would be decided about one, and runs nothing.
	repeated = map[string][]string{"decide": {"Engine.settle", "Engine.putIn", "Engine.Amend"}, "lookup": {"Engine.Amend"}, "validate": {"Engine.Amend"}}
	// Packages below the transports, and these.
	callPackages = []string{"executor", "server", "service"}
)

// TestNoOwnCallFromTheNetwork: nothing in server can name a field of
// executor.Own.
func TestNoOwnCallFromTheNetwork(t *testing.T) {
	fields := reflect.VisibleFields(reflect.TypeFor[executor.Own]())
	sources(t, func(dir string, file *ast.File, test bool) {
		if test || dir != "server" && !strings.HasPrefix(dir, "server/") {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if ok && (s.Sel.Name == "Own" || slices.ContainsFunc(fields, func(f reflect.StructField) bool { return f.Name == s.Sel.Name })) {
				t.Errorf("%s: %s may set what a call of an own document has", dir, s.Sel.Name)
			}
			return true
		})
	})
}

// leaks gives what of some files could let a call end without its record.
func leaks(files []*ast.File) (found []string) {
	report := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	seen := map[string]bool{}
	for _, file := range files {
		for _, decl := range file.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok || fn.Body == nil {
				continue
			}
			name := fn.Name.Name
			if fn.Recv != nil {
				name = receiver(fn) + "." + name
			}
			seen[name] = true
			switch name {
			case callFunc:
				callReturns(fn.Body, false, report)
			case guardFunc, closeFunc, "Engine.ending":
				if !recovers(fn.Body) {
					report("%s does not begin with a deferred recover", name)
				}
			}
			ast.Inspect(fn.Body, func(n ast.Node) bool { around(name, n, report); return true })
		}
	}
	for _, name := range []string{callFunc, guardFunc, recordFunc, closeFunc} {
		if !seen[name] {
			report("there is no %s any more: say here what closes a call", name)
		}
	}
	return found
}

// callReturns looks at the returns of Engine.Call, closures of it included.
func callReturns(body ast.Node, suspended bool, report func(string, ...any)) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IfStmt:
			if isCall(n.Cond, "errors", "Is") && mentions(n.Cond, "errSuspended") {
				callReturns(n.Body, true, report)
				if n.Else != nil {
					callReturns(n.Else, suspended, report)
				}
				return false
			}
		case *ast.ReturnStmt:
			if suspended && len(n.Results) == 1 && mentions(n.Results[0], "InputRequired") {
				return false
			}
			if len(n.Results) != 1 || !isCall(n.Results[0], "e", "record") {
				report("%s returns without %s", callFunc, recordFunc)
			}
		}
		return true
	})
}

// around reports what goes around the one way.
func around(in string, n ast.Node, report func(string, ...any)) {
	switch n := n.(type) {
	case *ast.SelectorExpr:
		name := n.Sel.Name
		if x, ok := n.X.(*ast.Ident); ok && x.Name == "e" {
			switch {
			case slices.Contains(pipelineSteps, name) && in != guardFunc && !slices.Contains(repeated[name], in):
				report("%s runs the step %s, which is for %s", in, name, guardFunc)
			case name == "record" && (in == refuseFunc || in == refusedFunc): // a call that its transport refused
			case (name == "guarded" || name == "record") && in != callFunc:
				report("%s uses %s, which is for %s", in, name, callFunc)
			case name == "closed" && in != recordFunc:
				report("%s uses %s, which is for %s", in, name, recordFunc)
			}
		}
		if x, ok := n.X.(*ast.SelectorExpr); ok && x.Sel.Name == "Audit" && name == "Close" && in != closeFunc {
			report("%s closes a call in the audit log, which is for %s", in, closeFunc)
		}
	case *ast.ReturnStmt:
		for _, r := range n.Results {
			if mentions(r, "errSuspended") && !slices.Contains(suspending, in) {
				report("%s leaves a call to go on; only %s may", in, strings.Join(suspending, " and "))
			}
		}
	case *ast.CallExpr:
		for _, end := range [][2]string{{"os", "Exit"}, {"runtime", "Goexit"}, {"log", "Fatal"}, {"log", "Fatalf"}, {"log", "Fatalln"}, {"syscall", "Exit"}} {
			if isCall(n, end[0], end[1]) {
				report("%s ends the process or its goroutine with %s.%s", in, end[0], end[1])
			}
		}
		if sel, ok := n.Fun.(*ast.SelectorExpr); ok && (sel.Sel.Name == "Fatal" || sel.Sel.Name == "Panic") && len(n.Args) == 0 {
			report("%s logs with %s, which ends the process", in, sel.Sel.Name)
		}
	}
}

// recovers reports whether a function begins with a deferred recover.
func recovers(body *ast.BlockStmt) bool {
	if len(body.List) == 0 {
		return false
	}
	d, ok := body.List[0].(*ast.DeferStmt)
	if !ok {
		return false
	}
	called := false
	ast.Inspect(d, func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok {
			id, ok := c.Fun.(*ast.Ident)
			called = called || ok && id.Name == "recover"
		}
		return true
	})
	return called
}

func isCall(n ast.Node, x, name string) bool {
	c, ok := n.(*ast.CallExpr)
	if !ok {
		return false
	}
	sel, ok := c.Fun.(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != name {
		return false
	}
	id, ok := sel.X.(*ast.Ident)
	return ok && id.Name == x
}

func mentions(n ast.Node, name string) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		found = found || ok && id.Name == name
		return !found
	})
	return found
}

// unguarded gives the goroutines of a package that a panic in them would make
// the end of the process: those that run neither a function that begins with a
// recover nor nothing but waiting.
func unguarded(files []*ast.File) (found []string) {
	safe := map[string]bool{}
	for _, file := range files {
		for _, decl := range file.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && fn.Body != nil && recovers(fn.Body) {
				safe[fn.Name.Name] = true
			}
		}
	}
	for _, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			g, ok := n.(*ast.GoStmt)
			if !ok {
				return true
			}
			lit, ok := g.Call.Fun.(*ast.FuncLit)
			if ok && recovers(lit.Body) {
				return true
			}
			ok = false
			ast.Inspect(g.Call, func(n ast.Node) bool {
				if c, isCall := n.(*ast.CallExpr); isCall {
					if sel, isSel := c.Fun.(*ast.SelectorExpr); isSel {
						ok = ok || safe[sel.Sel.Name]
					}
				}
				return true
			})
			if !ok {
				found = append(found, fmt.Sprintf("%s begins a goroutine that does not recover", file.Name.Name))
			}
			return true
		})
	}
	return found
}

func TestNoCallEscapesItsRecord(t *testing.T) {
	var pipeline, below []*ast.File
	sources(t, func(dir string, file *ast.File, test bool) {
		switch {
		case test:
		case dir == "executor":
			pipeline = append(pipeline, file)
		case slices.Contains(callPackages, dir):
			below = append(below, file)
		}
	})
	for _, found := range append(leaks(pipeline), unguarded(pipeline)...) {
		t.Errorf("package executor: %s", found)
	}
	for _, file := range below {
		ast.Inspect(file, func(n ast.Node) bool {
			if n != nil {
				around(file.Name.Name, n, func(format string, args ...any) {
					if found := fmt.Sprintf(format, args...); strings.Contains(found, "ends the process") || strings.Contains(found, "in the audit log") {
						t.Error(found)
					}
				})
			}
			return true
		})
	}
}

// wholePipeline is the least that passes.
const wholePipeline = `package executor
func (e *Engine) Call(ctx context.Context, in Call) Result {
	r := e.receive(in)
	err := e.guarded(ctx, r)
	if errors.Is(err, errSuspended) {
		return Result{InputRequired: r.ask}
	}
	return e.record(ctx, r, err)
}
func (e *Engine) guarded(ctx context.Context, r *run) (err error) {
	defer func() { if p := recover(); p != nil { err = e.panicked(r, p) } }()
	return run(e.lookup, e.validate, e.decide, e.limit, e.approve, e.enforce)
}
func (e *Engine) approve(ctx context.Context, r *run) error { return errSuspended }
func (e *Engine) settle(ctx context.Context, r *run) error { return e.decide(ctx, r) }
func (e *Engine) record(ctx context.Context, r *run, err error) Result { return e.closed(ctx, r) }
func (e *Engine) closed(ctx context.Context, r *run) (err error) {
	defer func() { recover() }()
	return e.Audit.Close(ctx, r.body)
}
func (e *Engine) beside() {
	go func() { e.under() }()
}
func (e *Engine) under() { defer func() { recover() }() }
`

// TestEscapesAreFound: the check above can fail.
func TestEscapesAreFound(t *testing.T) {
	const more = "func (e *Engine) more(ctx context.Context, r *run) "
	for name, c := range map[string]struct{ old, new, want string }{
		"nothing":                     {},
		"an early return":             {"err := e.guarded(ctx, r)", "if in.Name == \"\" { return Result{} }\nerr := e.guarded(ctx, r)", "returns without Engine.record"},
		"a bare return":               {"return e.record(ctx, r, err)", "e.record(ctx, r, err)\nreturn", "returns without Engine.record"},
		"a return in a closure":       {"r := e.receive(in)", "r := func() *run { if bad { return nil }; return e.record }()", "returns without Engine.record"},
		"an end that is no question":  {"return Result{InputRequired: r.ask}", "return Result{}", "returns without Engine.record"},
		"another condition":           {"errors.Is(err, errSuspended)", "err != nil", "returns without Engine.record"},
		"no recover":                  {"defer func() { if p := recover(); p != nil { err = e.panicked(r, p) } }()", "", "Engine.guarded does not begin with a deferred recover"},
		"recover that comes late":     {"defer func() { recover() }()\n\treturn e.Audit.Close", "e.prepare()\ndefer func() { recover() }()\n\treturn e.Audit.Close", "Engine.closed does not begin"},
		"a step elsewhere":            {"", more + "error { return e.enforce(ctx, r) }", "runs the step enforce"},
		"a step repeated elsewhere":   {"", more + "error { return e.decide(ctx, r) }", "runs the step decide"},
		"a second pipeline":           {"", more + "error { return e.guarded(ctx, r) }", "uses guarded"},
		"a second close":              {"", more + "error { return e.Audit.Close(ctx, r.body) }", "closes a call in the audit log"},
		"a close by the way":          {"", more + "error { return e.closed(ctx, r) }", "uses closed"},
		"a record by the way":         {"", more + "Result { return e.record(ctx, r, nil) }", "uses record"},
		"a call that is left":         {"", more + "error { return errSuspended }", "leaves a call to go on"},
		"the end of the process":      {"", more + "{ os.Exit(1) }", "ends the process"},
		"the end of the goroutine":    {"", more + "{ runtime.Goexit() }", "ends the process or its goroutine"},
		"a log line that ends it":     {"", more + "{ e.Logger.Fatal().Msg(\"no\") }", "logs with Fatal"},
		"a goroutine without recover": {"e.under() }()", "e.other() }()", "does not recover"},
		"a pipeline that was renamed": {"func (e *Engine) Call(", "func (e *Engine) Run(", "there is no Engine.Call"},
	} {
		t.Run(name, func(t *testing.T) {
			text := wholePipeline
			if c.old == "" {
				text += c.new
			} else if text = strings.Replace(text, c.old, c.new, 1); text == wholePipeline {
				t.Fatal("nothing was replaced")
			}
			file, err := parser.ParseFile(token.NewFileSet(), "bad.go", text, 0)
			if err != nil {
				t.Fatal(err)
			}
			found := strings.Join(append(leaks([]*ast.File{file}), unguarded([]*ast.File{file})...), "\n")
			if c.want == "" && found != "" || !strings.Contains(found, c.want) {
				t.Errorf("found %q, want %q", found, c.want)
			}
		})
	}
}
