package resolver

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/storage"
	"github.com/open-policy-agent/opa/v1/tester"
)

// oddTests are tests of every kind, most of which do not hold.
const oddTests = `package odd_test

import rego.v2

test_holds if true

test_fails if false

test_false := false

test_text := "yes"

test_number := 1

test_twice if true

test_twice if 1 == 2

todo_test_later if false

test_table[name] if {
	some name, ok in {"good": true, "bad": false, "worse": false}
	ok
}

test_no_cases[name] if {
	some name, ok in {}
	ok
}

test_all_fail[name] if {
	some name in ["a", "b"]
	name == "c"
}

test_values[name] := ok if {
	some name, ok in {"true": true, "false": false, "text": "x", "null": null, "nested": {"a": true, "b": false, "c": {}}}
}

test_nested[group][name] if {
	some group, cases in {"g": {"a": 1, "b": 2}, "h": {"a": 2}}
	some name, n in cases
	n == 1
}

test_numbered[i] if {
	some i, n in [1, 2, 1]
	n == 1
}

test_set contains "x"

test_set contains "y" if false

test_function(x) := x

deep.test_inside.a if true

deep.test_inside.b if false

test_division if 1 / 0 == 1

test_conversion[name] if {
	some name, text in {"number": "1", "word": "one"}
	to_number(text) == 1
}

test_conflict := x if {
	some x in [true, false]
}

helper if false
`

// TestSameAsOPA: a test holds where it holds for OPA's own tester, and its
// cases have the same names.
func TestSameAsOPA(t *testing.T) {
	ctx := context.Background()
	s, err := readSource(ctx, Options{})
	if err != nil {
		t.Fatal(err)
	}
	maps.DeleteFunc(s.tests, func(name string, _ []byte) bool { // the longest, and like the others
		return strings.HasPrefix(name, "policy_test/lint/")
	})
	small := *s
	small.tests = map[string][]byte{"policy_test/odd_test.rego": []byte(oddTests)}
	for name, s := range map[string]*source{"the built-in policy": s, "tests of every kind": &small} {
		if name != "tests of every kind" && testing.Short() {
			continue // long, and the same code
		}
		ours, theirs := outcomes(t, s, false), outcomes(t, s, true)
		if len(theirs) < 15 {
			t.Errorf("%s: only %d tests", name, len(theirs))
		}
		if diff := cmp.Diff(theirs, ours); diff != "" {
			t.Errorf("%s: OPA's tester (-), this one (+):\n%s", name, diff)
		}
	}
}

// outcome is what a result says; times and traces differ.
type outcome struct {
	File             string
	Row              int
	Fail, Skip, Pass bool
	Error            string
	Cases            map[string]bool // by name, whether it fails
}

// outcomes runs the tests of a policy, by OPA's tester or by this package.
func outcomes(t *testing.T, s *source, opa bool) map[string]outcome {
	t.Helper()
	ctx := context.Background()
	files := maps.Clone(s.rego)
	maps.Copy(files, s.tests)
	modules, err := parse(s, files)
	if err != nil {
		t.Fatal(err)
	}
	store, err := loadData(s)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]outcome{}
	note := func(res *tester.Result) {
		o := outcome{File: res.Location.File, Row: res.Location.Row, Fail: res.Fail, Skip: res.Skip, Pass: res.Pass(), Cases: map[string]bool{}}
		if res.Error != nil {
			o.Error = reasonsOf(res.Error)
		}
		for names, sub := range res.SubResults.Iter {
			o.Cases[strings.Join(names, "/")] = sub.Fail
		}
		all[res.Package+"."+res.Name] = o
	}
	err = storage.Txn(ctx, store, storage.TransactionParams{}, func(txn storage.Transaction) error {
		if !opa {
			run, err := newTestRun(ctx, s, store, txn, modules)
			if err == nil {
				run.all(ctx, note)
			}
			return err
		}
		results, err := tester.NewRunner().SetCompiler(ast.NewCompiler().WithCapabilities(s.capabilities)).
			SetStore(store).SetModules(modules).RaiseBuiltinErrors(true).SetTimeout(testTimeout).RunTests(ctx, txn)
		if err != nil {
			return err
		}
		for res := range results {
			note(res)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// reasonsOf is the first line of an error; where there are several, OPA shows
// them in another form.
func reasonsOf(err error) string {
	var joined interface{ Unwrap() []error }
	if errors.As(err, &joined) {
		err = joined.Unwrap()[0]
	}
	lines := slices.Collect(strings.Lines(err.Error()))
	return strings.Trim(lines[0], "[]\n")
}
