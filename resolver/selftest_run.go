package resolver

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/storage"
	"github.com/open-policy-agent/opa/v1/tester"
	"github.com/open-policy-agent/opa/v1/topdown"
)

// matchesNothing is the filter under which OPA's tester compiles and runs none.
const matchesNothing = `^$`

// testRun runs the test rules of a policy. OPA's tester finds the cases of a
// table test by a trace with the values of all variables at each step, which
// takes most of its time; this one notes the names of the cases and nothing
// else. What a test is and when it holds is the same, and a test compares them.
type testRun struct {
	compiler *ast.Compiler
	store    storage.Store
	txn      storage.Transaction
}

// newTestRun compiles the modules as OPA's tester does, which makes the rules
// of table tests tell their cases.
func newTestRun(ctx context.Context, s *source, store storage.Store, txn storage.Transaction, modules map[string]*ast.Module) (*testRun, error) {
	r := &testRun{compiler: ast.NewCompiler().WithCapabilities(s.capabilities), store: store, txn: txn}
	none, err := tester.NewRunner().SetCompiler(r.compiler).SetStore(store).SetModules(modules).
		Filter(matchesNothing).RunTests(ctx, txn)
	if err != nil {
		return nil, err
	}
	for range none { // its end
	}
	return r, nil
}

// all runs every test and calls each, one at a time, as they end. What has not
// begun when ctx ends does not run.
func (r *testRun) all(ctx context.Context, each func(*tester.Result)) {
	rules := make(chan *ast.Rule)
	results := make(chan *tester.Result)
	var running sync.WaitGroup
	for range runtime.NumCPU() {
		running.Go(func() {
			for rule := range rules {
				results <- r.one(ctx, rule)
			}
		})
	}
	go func() {
		for _, m := range r.compiler.Modules {
			for _, rule := range m.Rules {
				if name, _ := testName(rule); name != "" && ctx.Err() == nil {
					rules <- rule
				}
			}
		}
		close(rules)
		running.Wait()
		close(results)
	}()
	for res := range results {
		each(res)
	}
}

// testName is the part of a rule's name that makes it a test, and the reference
// up to there; what follows it names a case. It is "" for any other rule.
func testName(rule *ast.Rule) (string, ast.Ref) {
	ref := rule.Head.Ref().GroundPrefix()
	for i, term := range ref {
		var name string
		switch v := term.Value.(type) {
		case ast.Var:
			name = string(v)
		case ast.String:
			name = string(v)
		}
		if strings.HasPrefix(name, tester.TestPrefix) || strings.HasPrefix(name, tester.SkipTestPrefix) {
			return name, ref[:i+1]
		}
	}
	return "", nil
}

// one runs one test.
func (r *testRun) one(ctx context.Context, rule *ast.Rule) *tester.Result {
	name, ref := testName(rule)
	res := &tester.Result{
		Location: rule.Loc(), Package: rule.Module.Package.Path.String(), Name: ref.String(),
		SubResults: tester.SubResultMap{},
	}
	if strings.HasPrefix(name, tester.SkipTestPrefix) {
		res.Skip = true
		return res
	}
	ctx, cancel := context.WithTimeout(ast.WithCompiler(ctx, r.compiler), testTimeout)
	defer cancel()
	began := time.Now()
	defer func() { res.Duration = time.Since(began) }()

	var broken []topdown.Error // what built-in functions could not do
	query, err := rego.New(rego.Store(r.store), rego.Transaction(r.txn), rego.Compiler(r.compiler),
		rego.Query(rule.Module.Package.Path.Extend(ref).String()), rego.BuiltinErrorList(&broken)).PrepareForEval(ctx)
	if err != nil {
		res.Error = err
		return res
	}
	options := []rego.EvalOption{rego.EvalTransaction(r.txn)}
	table := rule.Head.DocKind() == ast.PartialObjectDoc
	var cases caseNames
	if table {
		options = append(options, rego.EvalQueryTracer(&cases))
	}
	set, err := query.Eval(ctx, options...)
	if err != nil {
		res.Error = err
		return res
	}
	for i := range broken {
		res.Error = errors.Join(res.Error, &broken[i])
	}
	switch {
	case len(set) == 0:
		res.Fail = true
	case table:
		res.Fail, res.SubResults = tableResults(set[0].Expressions[0].Value, cases)
	default:
		res.Fail = set[0].Expressions[0].Value != true
	}
	return res
}

// tableResults are the cases of a table test: those of its value, which hold,
// and those that it began and whose bodies did not get there.
func tableResults(value any, began caseNames) (failed bool, all tester.SubResultMap) {
	all = tester.SubResultMap{}
	cases, _ := value.(map[string]any)
	for name, v := range cases {
		all[name] = caseResult(name, v)
		failed = failed || all[name].Fail
	}
	for _, name := range began {
		failed = all.Update(*name, nil) || failed
	}
	return failed || value == nil, all
}

func caseResult(name string, value any) *tester.SubResult {
	res := &tester.SubResult{Name: name}
	switch v := value.(type) {
	case nil:
		res.Name = ""
	case map[string]any:
		res.Fail, res.SubResults = tableResults(v, nil)
	case bool:
		res.Fail = !v
	default:
		res.Fail = true
	}
	return res
}

// caseNames is a tracer that notes which cases a table test begins.
type caseNames []*ast.Array

func (*caseNames) Enabled() bool               { return true }
func (*caseNames) Config() topdown.TraceConfig { return topdown.TraceConfig{} }

func (n *caseNames) TraceEvent(e topdown.Event) {
	if e.Op != topdown.TestCaseOp {
		return
	}
	if call, ok := e.Node.(*ast.Expr); ok {
		if name, ok := call.Operand(0).Value.(*ast.Array); ok {
			*n = append(*n, name)
		}
	}
}
