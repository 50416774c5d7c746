package lint

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/spec"
)

// staleOnce is a policy that finds a posture stale until it is the one that
// derive gives.
func staleOnce(_ context.Context, s *spec.Spec, _ []string) ([]*fault.Error, []Finding, error) {
	if s.ToolSafety != nil && s.ToolSafety.Capabilities.Network.Mode != "strict" {
		return nil, []Finding{{RuleID: "safety-stale", Severity: Warning, Message: "m", Pointer: "/toolSafety/capabilities"}}, nil
	}
	return nil, nil, nil
}

func deriveStrict(context.Context, *spec.Spec) (*spec.ToolSafety, error) {
	return &spec.ToolSafety{
		Version: "1.0", Category: spec.ToolSafetyCategory{Source: "user", ID: "WEB"},
		Capabilities: spec.Capabilities{Network: spec.CapabilityNetwork{Mode: "strict"}},
	}, nil
}

// TestFixIsIdempotent: every form of a document is written once, and a second
// run finds nothing to do.
func TestFixIsIdempotent(t *testing.T) {
	dir := tree(t, map[string]string{
		"single.json":      `{"code":"return 1","codeType":"Javascript","name":"a","toolSafety":{"category":{"source":"team"},"capabilities":{"network":{"mode":"blocked"}}}}`,
		"folder/spec.json": "{\n\t\"codeType\": \"Javascript\",\n\t\"name\": \"b\"\n}\n",
		"folder/action.js": "return 2",
		"bundle.json":      `{"toolSpecs":[{"code":"return 1","codeType":"Javascript","name":"c"},{"name":"d","code":"return 1","codeType":"Javascript"}]}`,
		"broken.json":      `{"codeType":"Javascript"}`,
	})
	o := Options{Resolve: staleOnce, Derive: deriveStrict}
	found, _, err := Fixes(context.Background(), []string{dir}, o)
	if err != nil || len(found) != 4 {
		t.Fatalf("%d fixes, %v", len(found), err)
	}
	for _, f := range found {
		if err := f.Apply(); err != nil {
			t.Fatal(err)
		}
	}
	if again, _, err := Fixes(context.Background(), []string{dir}, o); err != nil || len(again) != 0 {
		t.Errorf("a second run has %d fixes, %v", len(again), err)
	}
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	single := read("single.json")
	if !strings.Contains(single, `"strict"`) || !strings.Contains(single, `"source":"team"`) || !strings.HasPrefix(single, `{"toolId":"`) {
		t.Errorf("single.json: %s", single)
	}
	if got := read("folder/spec.json"); strings.Contains(got, `"code":`) || strings.Index(got, `"name"`) > strings.Index(got, `"codeType"`) || read("folder/action.js") != "return 2" {
		t.Errorf("folder: %s", got)
	}
	if got := read("broken.json"); got != `{"codeType":"Javascript"}` {
		t.Errorf("an invalid document was changed: %s", got)
	}
}

// TestDiffWritesNothing: a diff is what a fix would do.
func TestDiffWritesNothing(t *testing.T) {
	const text = "{\n  \"codeType\": \"Javascript\",\n  \"name\": \"b\",\n  \"code\": \"return 1\"\n}\n"
	dir := tree(t, map[string]string{"a.json": text})
	found, _, err := Fixes(context.Background(), []string{dir}, Options{})
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	var b bytes.Buffer
	if err := found[0].Diff(&b); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"--- a/", "+++ b/", "\n+  \"toolId\": ", "\n+  \"draft\": true", "\n-  \"codeType\": \"Javascript\",\n"} {
		if !strings.Contains(b.String(), line) {
			t.Errorf("the diff lacks %q:\n%s", line, b.String())
		}
	}
	if got, err := os.ReadFile(filepath.Join(dir, "a.json")); err != nil || string(got) != text {
		t.Errorf("%s, %v", got, err)
	}
}

// TestBundledToolsAreTidy: the form that a fix writes is the form of the tools
// that come with the program.
func TestBundledToolsAreTidy(t *testing.T) {
	found, _, err := Fixes(context.Background(), []string{"../catalog/tools"}, Options{})
	if err != nil || len(found) != 0 {
		t.Errorf("%d fixes, %v", len(found), err)
	}
}

func TestStandardInputIsNotFixed(t *testing.T) {
	s, errs := spec.Parse(stdinName, []byte(document("")))
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	if err := (Fix{File: stdinName, old: s, new: s}).Apply(); fault.From(err) == nil || fault.From(err).Code != fault.Usage {
		t.Errorf("got %v", err)
	}
}
