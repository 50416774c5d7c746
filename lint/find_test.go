package lint

import (
	"context"
	"path/filepath"
	"testing"
)

// TestOneOfTwoFiles: a hook names the files that changed; either stands for
// the tool, and both for one tool.
func TestOneOfTwoFiles(t *testing.T) {
	dir := tree(t, map[string]string{
		"t/spec.json": `{"name":"t","codeType":"Javascript"}`, "t/action.js": "return 1",
		"u/spec.json": document(""), "v/action.js": "return 1",
	})
	at := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	for name, paths := range map[string][]string{
		"spec.json":          {at("t/spec.json")},
		"action.js":          {at("t/action.js")},
		"both":               {at("t/spec.json"), at("t/action.js"), at("t")},
		"with code in it":    {at("u/spec.json")},
		"the same once more": {at("u/spec.json"), at("u/spec.json")},
	} {
		r, err := Run(context.Background(), paths, Options{})
		if err != nil || len(r.Findings) != 0 || r.Summary.Files != 1 {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
	r, err := Run(context.Background(), []string{at("v/action.js")}, Options{})
	if err != nil || r.OK() {
		t.Errorf("code without a document passed: %+v, %v", r, err)
	}
}
