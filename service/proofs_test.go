package service

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolwarrant/toolwarrant/config"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/resolver"
)

// A policy that passed under this program is not tested again; everything
// that could make the outcome another one makes it be tested.
func TestProofs(t *testing.T) {
	kept := resolver.Tally{Passed: 3, Skipped: 1}
	for name, c := range map[string]struct {
		spoil func(t *testing.T, p *proofs, file string)
		ask   string
		want  bool
	}{
		"the same":               {want: true},
		"another content":        {ask: "b"},
		"another program":        {spoil: func(_ *testing.T, p *proofs, _ string) { p.program = func() string { return "other" } }},
		"no program":             {spoil: func(_ *testing.T, p *proofs, _ string) { p.program = func() string { return "" } }},
		"not JSON":               {spoil: write("{")},
		"of another":             {spoil: write(`{"content":"b","program":"x","tests":{"passed":3}}`)},
		"another program's file": {spoil: write(`{"content":"a","program":"y","tests":{"passed":3}}`)},
		"with a failure":         {spoil: write(`{"content":"a","program":"x","tests":{"passed":3,"failed":1}}`)},
		"no test":                {spoil: write(`{"content":"a","program":"x","tests":{"passed":0}}`)},
		"huge":                   {spoil: write(`{"content":"a","program":"x","tests":{"passed":3}}` + strings.Repeat(" ", maxProofBytes))},
		"a folder": {spoil: func(t *testing.T, _ *proofs, file string) {
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(file, 0o700); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProofs(t.TempDir())
			p.program = func() string { return "x" }
			if _, ok := p.Passed("a"); ok {
				t.Fatal("passed before anything was kept")
			}
			p.Keep("a", kept)
			if c.spoil != nil {
				c.spoil(t, p, p.file("a"))
			}
			if c.ask == "" {
				c.ask = "a"
			}
			got, ok := p.Passed(c.ask)
			if ok != c.want || ok && got != kept {
				t.Errorf("Passed = %+v, %t; want %t", got, ok, c.want)
			}
		})
	}
}

func write(text string) func(*testing.T, *proofs, string) {
	return func(t *testing.T, _ *proofs, file string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestProofsAreBounded(t *testing.T) {
	p := newProofs(t.TempDir())
	for i := range maxProofs + 5 {
		p.Keep(strings.Repeat("a", i+1), resolver.Tally{Passed: 1})
	}
	files, err := filepath.Glob(filepath.Join(p.dir, "*"))
	if err != nil || len(files) != maxProofs {
		t.Errorf("%d files, %v; want %d", len(files), err, maxProofs)
	}
}

// TestPolicyIsProvenOnce opens a policy again and again while a test of it is
// changed, and counts the runs that passed.
func TestPolicyIsProvenOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("long, and no goroutines of its own")
	}
	home, dir := t.TempDir(), filepath.Join(t.TempDir(), "policy")
	if err := resolver.WriteBuiltin(dir); err != nil {
		t.Fatal(err)
	}
	extra := filepath.Join(dir, "policy_test", "extra_test.rego")
	add := func(text string) {
		t.Helper()
		if err := os.WriteFile(extra, []byte("package extra_test\n\nimport rego.v2\n\n"+text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cfg, err := config.Load("", nil, map[string]any{"policy.path": dir})
	check(t, err)
	run := 0
	open := func() error {
		o := PolicyOptions(home, cfg)
		o.Proofs = counting{o.Proofs, &run}
		_, err := resolver.New(t.Context(), o)
		return err
	}
	for i, step := range []struct {
		test string
		runs int // in all
		code string
	}{
		{"test_a if true\n", 1, ""},
		{"test_a if true\n", 1, ""},
		{"test_a if false\n", 1, "policy-tests-failed"},
		{"test_a if false\n", 1, "policy-tests-failed"}, // a failure is not remembered
		{"test_a if 1 == 1\n", 2, ""},
		{"test_a if true\n", 2, ""},
	} {
		add(step.test)
		err := open()
		reason := ""
		if err != nil {
			reason = fault.From(err).Reason
		}
		if run != step.runs || reason != step.code {
			t.Errorf("step %d: %d runs passed, error %v", i, run, err)
		}
	}
}

// counting counts the runs of tests that passed.
type counting struct {
	resolver.Proofs
	kept *int
}

func (c counting) Keep(content string, t resolver.Tally) {
	*c.kept++
	c.Proofs.Keep(content, t)
}
