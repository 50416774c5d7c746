package cue_test

import (
	"encoding/json"
	"io/fs"
	"strings"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/toolwarrant/toolwarrant/rego"
	"github.com/toolwarrant/toolwarrant/schemas"
)

// TestRegoReadsTheInput: every reference of the policy into its input is one
// that the format has. A rule about a field that never comes would never
// match, and nobody would notice.
func TestRegoReadsTheInput(t *testing.T) {
	modules := map[string]string{}
	err := fs.WalkDir(rego.FS, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(p, ".rego") {
			return err
		}
		text, err := fs.ReadFile(rego.FS, p)
		modules[p] = string(text)
		return err
	})
	if err != nil || len(modules) == 0 {
		t.Fatal(modules, err)
	}
	if errs := checkRego(t, modules); len(errs) > 0 {
		t.Error(errs)
	}
	modules["typo.rego"] = "package typo\n\nimport rego.v2\n\nx if input.tool.nmae == \"x\"\n"
	if errs := checkRego(t, modules); len(errs) == 0 {
		t.Error("a reference to input.tool.nmae passed the check")
	}
}

func checkRego(t *testing.T, modules map[string]string) ast.Errors {
	t.Helper()
	text, err := fs.ReadFile(schemas.FS, "input.json")
	if err != nil {
		t.Fatal(err)
	}
	var schema any
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	set := ast.NewSchemaSet()
	set.Put(ast.SchemaRootRef, schema)
	parsed := map[string]*ast.Module{}
	for name, src := range modules {
		if parsed[name], err = ast.ParseModule(name, src); err != nil {
			t.Fatal(err)
		}
	}
	c := ast.NewCompiler().WithSchemas(set).WithStrict(true)
	c.Compile(parsed)
	return c.Errors
}
