package catalog

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/spec"
)

// docJSON is a small valid spec document.
func docJSON(id, name, code string, draft bool, more ...string) string {
	extra := strings.Join(more, "")
	return fmt.Sprintf(`{
  "toolId": %q,
  "name": %q,
  "description": "Returns one.",
  "category": "UTILS",
  "params": [],
  "code": %q,
  "codeType": "Javascript",
  "draft": %v%s
}
`, id, name, code, draft, extra)
}

func writeFile(t testing.TB, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func mustOpen(t testing.TB, o Options) *Catalog {
	t.Helper()
	c, err := Open(context.Background(), o)
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	return c
}

func lookup(t testing.TB, c *Catalog, name string) *Tool {
	t.Helper()
	tool, err := c.Lookup(context.Background(), name)
	if err != nil {
		t.Fatalf("Lookup(%s): %v", name, err)
	}
	return tool
}

func list(t testing.TB, c *Catalog) []*Tool {
	t.Helper()
	tools, err := c.List(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return tools
}

// exposed lists the names that c serves.
func exposed(t testing.TB, c *Catalog) []string {
	t.Helper()
	var names []string
	for _, tool := range list(t, c) {
		if ok, _ := c.Exposed(tool); ok {
			names = append(names, tool.Spec.Name)
		}
	}
	return names
}

func setPass(t testing.TB, c *Catalog, tool *Tool) {
	t.Helper()
	err := c.SetPass(context.Background(), tool.Spec.ToolID, &Pass{
		PassedDigest: tool.Spec.Digest(), Mode: "live", Runtime: "test", PolicyRevision: "test",
	})
	if err != nil {
		t.Fatalf("SetPass: %v", err)
	}
}

// keep changes what is kept.
func keep(t testing.TB, c *Catalog, edit func(*Kept)) {
	t.Helper()
	changed, err := c.Keep(context.Background(), func(k *Kept) error { edit(k); return nil }, func(Kept, Kept) error { return nil })
	if err != nil || !changed {
		t.Fatalf("Keep: changed %v, %v", changed, err)
	}
}

// choose keeps a choice for one tool; "" takes it back.
func choose(t testing.TB, c *Catalog, name, choice string) {
	t.Helper()
	id := lookup(t, c, name).Spec.ToolID
	keep(t, c, func(k *Kept) {
		if k.Choices[id] = choice; choice == "" {
			delete(k.Choices, id)
		}
	})
}

func wantFault(t testing.TB, err error, code fault.Code, reason string, words ...string) {
	t.Helper()
	f := fault.From(err)
	if f == nil || f.Code != code || f.Reason != reason {
		t.Fatalf("got %v, want %s (%s)", err, code, reason)
	}
	for _, w := range words {
		if !strings.Contains(f.Error(), w) {
			t.Errorf("%q does not say %q", f.Error(), w)
		}
	}
}

func findingReasons(c *Catalog) []string {
	var reasons []string
	for _, f := range c.Findings() {
		reasons = append(reasons, f.Reason)
	}
	return reasons
}

// smallBundle is a bundled catalog of the given tools: name -> category and tags.
func smallBundle(t testing.TB, presets string, tools map[string]string) *bundle {
	t.Helper()
	fsys := fstest.MapFS{
		"vocabulary.json": {Data: []byte(`{"version":1,"categories":[{"id":"WEB","displayName":"Web","order":1}],"tags":["korea"]}`)},
		"presets.json":    {Data: []byte(presets)},
	}
	var entries []string
	for name, rest := range tools {
		doc := fmt.Sprintf(`{"toolId":"id-%s","name":%q,"description":"Returns one.",%s,"params":[],"codeType":"Javascript","draft":false}`, name, name, rest)
		fsys["tools/"+name+"/spec.json"] = &fstest.MapFile{Data: []byte(doc)}
		fsys["tools/"+name+"/action.js"] = &fstest.MapFile{Data: []byte("return 1;\n")}
		s, errs := spec.Parse("spec.json", joinCode([]byte(doc), "return 1;\n"))
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		entries = append(entries, fmt.Sprintf(`%q:{"digest":%q,"env":[]}`, name, s.Digest()))
	}
	fsys["manifest.json"] = &fstest.MapFile{Data: []byte(`{"version":1,"tools":{` + strings.Join(entries, ",") + `}}`)}
	b, err := readBundle(fsys)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
