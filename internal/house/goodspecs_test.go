package house

import (
	"context"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/resolver"
	"github.com/toolwarrant/toolwarrant/spec"
)

// TestGoodSpecsHoldNoSecrets: what the bundled tools and the documents of the
// tests hold looks random to nobody, so that a finding is worth a look.
func TestGoodSpecsHoldNoSecrets(t *testing.T) {
	ctx := context.Background()
	policy, err := resolver.New(ctx, resolver.Options{Operator: resolver.Operator{BasePath: t.TempDir(), AllowOpenMode: true}})
	if err != nil {
		t.Fatal(err)
	}
	read := 0
	err = filepath.WalkDir(filepath.Join("..", ".."), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == ".git" || d.Name() == "node_modules") {
			return fs.SkipDir
		}
		slashed := filepath.ToSlash(path)
		if d.IsDir() || filepath.Ext(path) != ".json" || !strings.Contains(slashed, "/testdata/") && !strings.Contains(slashed, "/catalog/tools/") {
			return nil
		}
		if d.Name() == "spec.json" {
			path = filepath.Dir(path) // with its action.js
		}
		docs, err := spec.Load(path)
		if err != nil {
			return nil // no document
		}
		for _, doc := range docs {
			if doc.Spec == nil || len(doc.Errors) > 0 {
				continue
			}
			found, err := policy.Findings(ctx, resolver.Tool{Spec: doc.Spec, Source: "user"}, decision.Principal{})
			if err != nil {
				continue // the layers reject it
			}
			read++
			for _, f := range found {
				if strings.HasPrefix(f.ID, "secret-") {
					t.Errorf("%s: %s at %s", path, f.ID, f.Pointer)
				}
			}
		}
		return nil
	})
	if err != nil || read < 12 {
		t.Fatalf("%d documents, %v", read, err)
	}
	t.Logf("%d documents", read)
}
