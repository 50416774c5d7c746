package catalog

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolwarrant/toolwarrant/spec"
)

func TestNameConflicts(t *testing.T) {
	weather := "eb35a905-4074-4589-805b-4dfd67353fb0"
	for _, tc := range []struct {
		name     string
		docs     []string // files of an operator folder, in order
		findings int
		served   []string // of them
	}{
		{"a bundled name", []string{docJSON("id-1", "base64", "return 1;", false)}, 1, nil},
		{"a bundled name in other letters", []string{docJSON("id-1", "Base64", "return 1;", false)}, 1, nil},
		{"a bundled id", []string{docJSON(weather, "mine", "return 1;", false)}, 1, nil},
		{"a bundled id as a name", []string{docJSON("id-1", weather, "return 1;", false)}, 1, nil},
		{"a bundled name as an id", []string{docJSON("base64", "mine", "return 1;", false)}, 1, nil},
		{"a bundled name in a draft", []string{docJSON("id-1", "base64", "return 1;", true)}, 1, nil},
		{"one id twice", []string{docJSON("id-1", "a", "return 1;", false), docJSON("id-1", "b", "return 1;", false)}, 1, []string{"a"}},
		{"one name twice", []string{docJSON("id-1", "a", "return 1;", false), docJSON("id-2", "a", "return 2;", false)}, 1, []string{"a"}},
		{"one name in two spellings", []string{docJSON("id-1", "abc", "return 1;", false), docJSON("id-2", "ABC", "return 2;", false)}, 1, []string{"abc"}},
		{"a draft may share a name", []string{docJSON("id-1", "a", "return 1;", true), docJSON("id-2", "a", "return 2;", false)}, 0, []string{"a"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			for i, doc := range tc.docs {
				writeFile(t, filepath.Join(dir, fmt.Sprintf("%d.json", i)), doc)
			}
			c := mustOpen(t, Options{TrustDirs: true, Dirs: []string{dir}, Preset: "everything"})
			if got := c.Findings(); len(got) != tc.findings {
				t.Errorf("findings: %v", got)
			}
			var served []string
			for _, tool := range list(t, c) {
				if ok, _ := c.Exposed(tool); ok && tool.Source == SourceUser {
					served = append(served, tool.Spec.Name)
				}
			}
			if diff := cmp.Diff(tc.served, served); diff != "" {
				t.Error(diff)
			}
			for _, name := range []string{"base64", weather} {
				if tool := lookup(t, c, name); tool.Source != SourceBuiltin || tool.State != StateActive {
					t.Errorf("%s leads to the %s tool %s", name, tool.Source, tool.Path)
				}
			}
			if tc.name == "a draft may share a name" && lookup(t, c, "a").Spec.ToolID != "id-2" {
				t.Error("the name leads to the draft")
			}
		})
	}
}

// TestBrokenRulesMakeADraft: what can be read but breaks rules between its
// fields is there to be shown and mended, and is not served.
func TestBrokenRulesMakeADraft(t *testing.T) {
	home := t.TempDir()
	own := filepath.Join(home, "catalog", "twice.json")
	twice := `, "x-keep": 1, "params": [{"name": "a", "description": "d", "required": true, "type": "STRING"}, {"name": "a", "description": "d", "required": false, "type": "STRING"}]`
	text := strings.Replace(docJSON("id-twice", "twice", "return 1;", false, twice), "\n  \"params\": [],", "", 1)
	writeFile(t, own, text)
	operator := t.TempDir()
	writeFile(t, filepath.Join(operator, "empty.json"), docJSON("id-empty", "empty", " ", false))
	writeFile(t, filepath.Join(operator, "good.json"), docJSON("id-good", "good", "return 1;", false))

	c := mustOpen(t, Options{TrustDirs: true, Home: home, Dirs: []string{operator}})
	wantState(t, c, "twice", StateDraft, "its document cannot run: missing-test-value")
	wantState(t, c, "empty", StateDraft, "its document cannot run: empty-code")
	wantState(t, c, "good", StateActive, "")
	tool := lookup(t, c, "twice")
	var reasons []string
	for _, f := range tool.Findings {
		reasons = append(reasons, f.Reason)
	}
	if diff := cmp.Diff([]string{"missing-test-value", "duplicate-param"}, reasons); diff != "" {
		t.Error(diff)
	}
	if len(c.Findings()) != 3 {
		t.Errorf("findings: %v", c.Findings())
	}
	setPass(t, c, tool) // as a state file would say that somebody wrote
	wantState(t, c, "twice", StateDraft, "its document cannot run")
	if got := exposed(t, c); slices.Contains(got, "twice") || slices.Contains(got, "empty") || !slices.Contains(got, "good") {
		t.Errorf("served: %v", got)
	}

	mended, ferrs := spec.Parse("mended", []byte(docJSON("id-twice", "twice", "return 1;", true, `, "x-keep": 1`)))
	if len(ferrs) > 0 {
		t.Fatal(ferrs)
	}
	if _, err := c.ReplaceDraft(context.Background(), tool, mended, nil); err != nil {
		t.Fatal(err)
	}
	wantState(t, c, "twice", StateDraft, "says draft")
	if n := len(lookup(t, c, "twice").Findings); n != 0 {
		t.Errorf("%d findings after it was mended", n)
	}
}

func TestBrokenToolIsNamedAndTheRestLoads(t *testing.T) {
	home := t.TempDir()
	dir := filepath.Join(home, "catalog")
	bad := filepath.Join(dir, "bad.json")
	writeFile(t, bad, `{"name": "bad", "code": 1}`)
	writeFile(t, filepath.Join(dir, "cut.json"), `{"name": "cu`)
	writeFile(t, filepath.Join(dir, "good.json"), docJSON("id-good", "good", "return 1;", true))
	c := mustOpen(t, Options{Home: home})
	wantState(t, c, "good", StateDraft, "says draft")
	var files []string
	for _, f := range c.Findings() {
		files = append(files, filepath.Base(f.File))
	}
	slices.Sort(files)
	if diff := cmp.Diff([]string{"bad.json", "cut.json"}, slices.Compact(files)); diff != "" {
		t.Error(diff)
	}
	writeFile(t, bad, docJSON("id-bad", "bad", "return 1;", true))
	reload(t, c)
	wantState(t, c, "bad", StateDraft, "says draft")
}
