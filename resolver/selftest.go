package resolver

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/storage"
	"github.com/open-policy-agent/opa/v1/tester"

	"github.com/toolwarrant/toolwarrant/fault"
)

// testTimeout bounds one test rule; a loaded machine is not a failing test.
const testTimeout = time.Minute

// testsTimeout bounds the tests of a policy together: an activation waits for
// them, and so does whoever started "policy test". A variable for the tests of
// this package, which do not wait that long.
var testsTimeout = 2 * time.Minute

// TestResult is one test, or one named case of a table test.
type TestResult struct {
	Name    string `json:"name"` // package and rule, then the case
	File    string `json:"file"`
	Line    int    `json:"line"`
	Passed  bool   `json:"passed"`
	Skipped bool   `json:"skipped"`
	Message string `json:"message"` // why it failed, or ""
}

// Tally counts tests.
type Tally struct {
	Passed  int `json:"passed"`
	Failed  int `json:"failed"`
	Skipped int `json:"skipped"`
}

// TestReport is the outcome of a policy's own tests, sorted by name.
type TestReport struct {
	Policy   string `json:"policy"`
	Revision string `json:"revision"`
	Tally
	Tests []TestResult `json:"tests"`
}

// OK reports whether the policy may be activated.
func (r *TestReport) OK() bool { return r.Failed == 0 && r.Passed > 0 }

// TestPolicy compiles a policy with its layers and runs its tests. An error
// means that the policy could not be tested at all, or not within two minutes
// (policy-too-slow); failed tests are in the report.
func TestPolicy(ctx context.Context, o Options) (*TestReport, error) {
	s, err := readSource(ctx, o)
	if err != nil {
		return nil, err
	}
	e, err := newEngine(ctx, s, o.Operator)
	if err != nil {
		return nil, err
	}
	report, err := runTests(ctx, s)
	if err != nil {
		return nil, err
	}
	report.Revision = e.revision
	return report, nil
}

// runTests runs the test modules of a policy, under the capabilities that the
// policy itself has.
func runTests(ctx context.Context, s *source) (*TestReport, error) {
	files := maps.Clone(s.rego)
	maps.Copy(files, s.tests)
	modules, err := parse(s, files)
	if err != nil {
		return nil, err
	}
	store, err := loadData(s)
	if err != nil {
		return nil, err
	}
	report := &TestReport{Policy: s.name, Tests: []TestResult{}}
	within, cancel := context.WithTimeout(ctx, testsTimeout)
	defer cancel()
	var slowest slow
	err = storage.Txn(ctx, store, storage.TransactionParams{}, func(txn storage.Transaction) error {
		run, err := newTestRun(within, s, store, txn, modules)
		if err != nil {
			return err
		}
		run.all(within, func(res *tester.Result) {
			slowest.note(res)
			report.add(res, modules)
		})
		return nil
	})
	if err != nil {
		return nil, compileFault(s.name, "its tests cannot run: %v", err).Because(err)
	}
	if err := ctx.Err(); err != nil {
		return nil, unavailable("canceled", "the tests of the policy %s were interrupted", s.name).Because(err)
	}
	if within.Err() != nil {
		return nil, fault.New(fault.PolicyUnavailable, "policy-too-slow",
			"the tests of the policy %s did not end within %s, the slowest were %s", s.name, testsTimeout, slowest)
	}
	slices.SortFunc(report.Tests, func(a, b TestResult) int { return strings.Compare(a.Name, b.Name) })
	return report, nil
}

// slow are the slowest tests, the slowest first.
type slow []*tester.Result

const maxSlow = 3 // that an error names

func (s *slow) note(res *tester.Result) {
	*s = append(*s, res)
	slices.SortStableFunc(*s, func(a, b *tester.Result) int { return cmp.Compare(b.Duration, a.Duration) })
	*s = (*s)[:min(len(*s), maxSlow)]
}

func (s slow) String() string {
	var names []string
	for _, res := range s {
		t := named(res)
		names = append(names, fmt.Sprintf("%s (%s:%d) with %s", t.Name, t.File, t.Line, res.Duration.Round(time.Millisecond)))
	}
	return strings.Join(names, ", ")
}

// named says which test a result is of, and where that stands.
func named(res *tester.Result) TestResult {
	one := TestResult{Name: strings.TrimPrefix(res.Package, "data.") + "." + res.Name}
	if res.Location != nil {
		one.File, one.Line = res.Location.File, res.Location.Row
	}
	return one
}

// add counts a result, one by one where a table test names its cases.
func (r *TestReport) add(res *tester.Result, modules map[string]*ast.Module) {
	one := named(res)
	one.Passed, one.Skipped = res.Pass(), res.Skip
	if res.Error != nil {
		one.Message = firstLine(res.Error)
	}
	if len(res.SubResults) == 0 || res.Error != nil {
		r.count(one)
		return
	}
	for names, sub := range res.SubResults.Iter {
		if len(sub.SubResults) > 0 {
			continue
		}
		c := one
		c.Name, c.Passed = fmt.Sprintf("%s[%s]", one.Name, strings.Join(names, "/")), !sub.Fail
		if row := rowOf(modules[one.File], one.Line, names); row > 0 {
			c.Line = row
		}
		r.count(c)
	}
}

// rowOf is the line at which the case of a table test is written: that of the
// key with its name, in the rule that starts at line. It is 0 where the table
// is not written out there.
func rowOf(m *ast.Module, line int, names []string) (row int) {
	if m == nil {
		return 0
	}
	for _, rule := range m.Rules {
		if rule.Loc() == nil || rule.Loc().Row != line {
			continue
		}
		ast.WalkTerms(rule.Body, func(t *ast.Term) bool {
			if o, ok := t.Value.(ast.Object); ok && row == 0 {
				o.Foreach(func(k, _ *ast.Term) {
					if k.Location != nil && k.Value.Compare(ast.String(names[len(names)-1])) == 0 {
						row = k.Location.Row
					}
				})
			}
			return row > 0
		})
	}
	return row
}

func (r *TestReport) count(t TestResult) {
	switch {
	case t.Skipped:
		r.Skipped++
	case t.Passed:
		r.Passed++
	default:
		r.Failed++
		if t.Message == "" {
			t.Message = "the test does not hold"
		}
	}
	r.Tests = append(r.Tests, t)
}

// refuse is the error of a policy that does not pass, or nil.
func (r *TestReport) refuse() error {
	if r.OK() {
		return nil
	}
	if r.Failed == 0 {
		return fault.New(fault.PolicyUnavailable, "policy-tests-failed",
			"the policy %s has no tests under policy_test; a policy without tests is not put into force", r.Policy)
	}
	var first TestResult
	for _, t := range r.Tests {
		if !t.Passed && !t.Skipped {
			first = t
			break
		}
	}
	return fault.New(fault.PolicyUnavailable, "policy-tests-failed",
		"%d of %d tests of the policy %s fail, first %s (%s:%d); \"toolwarrant policy test\" lists them",
		r.Failed, r.Failed+r.Passed, r.Policy, first.Name, first.File, first.Line)
}
