package admin

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/toolwarrant/toolwarrant/config"
	"github.com/toolwarrant/toolwarrant/resolver"
	"github.com/toolwarrant/toolwarrant/spec"
)

// secretive hides what is tagged so from authors.
const secretive = `package toolwarrant.access

import rego.v2

hidden contains {"id": "for-root-alone", "message": "no", "path": ""} if {
	"secret" in input.tool.tags
	input.principal.subject != "root"
}
`

func secretivePolicy(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := resolver.WriteBuiltin(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(dir, "policy_test")); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"policy_test/one_test.rego": "package one_test\n\nimport rego.v2\n\ntest_one if true\n",
		"rego/access/more.rego":     secretive,
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestDraftsTellOfNoHiddenTool: who makes or changes a draft learns nothing
// about tools that are hidden, by their name, a toolId or the toolId that
// follows from their name.
func TestDraftsTellOfNoHiddenTool(t *testing.T) {
	policy := secretivePolicy(t)
	g := &rig{t: t, svc: installation(t, func(c *config.Config) { c.Policy.Path = policy })}
	g.start()
	document := func(name, more string) string {
		return fmt.Sprintf(`{"document": {"name": %q, %s "description": "Shouts a text. Returns a string.", "codeType": "Javascript", "params": [], "code": "return 1;"}}`, name, more)
	}
	const id = "0e8e2f9c-6f2c-4d59-9d2a-9a2b51b4b6d8"
	g.want(201, "root", "POST", "/drafts", document("payroll", `"tags": ["secret"],`))
	g.want(201, "root", "POST", "/drafts", document("wages", fmt.Sprintf(`"tags": ["secret"], "toolId": %q,`, id)))
	g.want(404, "ann", "GET", "/catalog/payroll", nil)

	// What has the name or the toolId of a hidden tool, and what has not.
	for _, c := range []struct{ name, more string }{
		{"payroll", ""}, {"harmless", ""}, {"pension", fmt.Sprintf(`"toolId": %q,`, id)},
		{"bonus", `"toolId": "5b1d5a52-5a50-4c0e-a8b6-3c9f2f0a9d11",`}, {id, ""}, {spec.DeriveToolID("payroll"), ""},
	} {
		made := g.want(201, "ann", "POST", "/drafts", document(c.name, c.more))
		got := made.str("toolId")
		if got == id || got == spec.DeriveToolID(c.name) || got == "5b1d5a52-5a50-4c0e-a8b6-3c9f2f0a9d11" {
			t.Errorf("%s: the toolId %s follows from the document, so that another one would tell", c.name, got)
		}
		for _, by := range []string{"/catalog/" + c.name, "/drafts/" + got} {
			if found := g.want(200, "ann", "GET", by, nil); found.str("toolId") != got {
				t.Errorf("%s: %s is %s", c.name, by, found.raw)
			}
		}
	}

	// A change of the name, too.
	mine := g.want(201, "ann", "POST", "/drafts", document("mine", ""))
	renamed := g.want(200, "ann", "PUT", "/drafts/"+mine.str("toolId"), document("wages", ""), "If-Match", mine.header.Get("ETag"))
	if renamed.str("toolId") != mine.str("toolId") {
		t.Errorf("renamed: %s", renamed.raw)
	}

	// The hidden ones are as they were, and what is seen is refused as ever.
	if found := g.want(200, "root", "GET", "/drafts/"+id, nil); found.str("name") != "wages" {
		t.Errorf("the toolId leads to %s", found.raw)
	}
	g.failed(g.want(409, "ann", "POST", "/drafts", document("harmless", "")), "SPEC_INVARIANT", "name-conflict")
	g.failed(g.want(409, "ann", "POST", "/drafts", document("base64", "")), "SPEC_INVARIANT", "name-conflict")
	g.failed(g.want(409, "root", "POST", "/drafts", document("payroll", "")), "SPEC_INVARIANT", "name-conflict")
}
