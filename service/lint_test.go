package service

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolwarrant/toolwarrant/catalog"
	"github.com/toolwarrant/toolwarrant/lint"
	"github.com/toolwarrant/toolwarrant/resolver"
)

func builtinRules(t *testing.T) *resolver.Resolver {
	t.Helper()
	policy, err := resolver.New(context.Background(), resolver.Options{Policy: resolver.Builtin, Operator: resolver.Operator{BasePath: t.TempDir()}})
	if err != nil {
		t.Fatal(err)
	}
	return policy
}

// TestBundledToolsLintClean: no bundled tool has a finding, and none is
// silenced, whether it is read as served or from the folder it lies in.
func TestBundledToolsLintClean(t *testing.T) {
	if testing.Short() {
		t.Skip("long, and no goroutines of its own")
	}
	policy := builtinRules(t)
	report, err := lint.Run(context.Background(), []string{filepath.Join("..", "catalog", "tools")}, LintOptions(policy, operator, ""))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range report.Findings {
		t.Errorf("%s: %s: %s", f.File, f.RuleID, f.Message)
	}
	var silenced strings.Builder
	if err := lint.SuppressionsText(&silenced, report); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(silenced.String(), "0 suppressions in 88 files") {
		t.Errorf("findings are silenced:\n%s", &silenced)
	}
	c, err := catalog.Open(context.Background(), catalog.Options{Preset: "everything"})
	if err != nil {
		t.Fatal(err)
	}
	tools, err := c.List(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if len(tools) != 88 || report.Summary.Files != len(tools) {
		t.Errorf("%d tools, %d documents checked", len(tools), report.Summary.Files)
	}
	for _, tool := range tools {
		found, err := policy.Findings(context.Background(), resolver.Tool{Spec: tool.Spec, Source: string(tool.Source), ManifestEnv: tool.Env}, operator)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found {
			t.Errorf("%s as served: %s: %s", tool.Spec.Name, f.ID, f.Message)
		}
	}
}

// TestLintOfChangedBundledTool: a copy counts as the bundled tool to the
// letter only. What somebody changed has no grants.
func TestLintOfChangedBundledTool(t *testing.T) {
	policy := builtinRules(t)
	for _, tc := range []struct {
		name   string
		change func(code string) string
		want   string
	}{
		{"to the letter", func(code string) string { return code }, ""},
		{"with a comment more", func(code string) string { return "// changed\n" + code }, "env-not-granted env-not-granted"},
	} {
		dir := filepath.Join(t.TempDir(), "mine")
		if err := os.CopyFS(dir, os.DirFS(filepath.Join("..", "catalog", "tools", "searchNaver"))); err != nil {
			t.Fatal(err)
		}
		action := filepath.Join(dir, "action.js")
		code, err := os.ReadFile(action)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(action, []byte(tc.change(string(code))), 0o600); err != nil {
			t.Fatal(err)
		}
		report, err := lint.Run(context.Background(), []string{dir}, LintOptions(policy, operator, ""))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range report.Findings {
			got = append(got, f.RuleID)
		}
		if strings.Join(got, " ") != tc.want {
			t.Errorf("%s: %v, want %s", tc.name, got, tc.want)
		}
	}
}
