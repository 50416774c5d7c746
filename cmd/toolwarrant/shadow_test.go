package main

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/toolwarrant/toolwarrant/schemas"
)

// shadowPolicy makes a policy folder that denies a word and asks a person
// where the built-in one does not.
func shadowPolicy(t *testing.T, home string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "next")
	if _, errs, status := toolwarrant(t, home, "policy", "init", dir); status != 0 {
		t.Fatal(errs)
	}
	data := filepath.Join(dir, "rego", "data.json")
	raw, err := os.ReadFile(data)
	if err != nil {
		t.Fatal(err)
	}
	asks := bytes.Replace(raw, []byte(`"requiredTools": []`), []byte(`"requiredTools": ["uuid"]`), 1)
	if bytes.Equal(asks, raw) {
		t.Fatal("the setting was not changed")
	}
	if err := os.RemoveAll(filepath.Join(dir, "policy_test")); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"rego/data.json": string(asks),
		"rego/access/words.rego": "package toolwarrant.access\n\nimport rego.v2\n\n" +
			`reasons contains {"id": "no-such-words", "message": sprintf("%s is no word for tools", [input.call.args.text]), "path": "/text"} if {` +
			"\n\tcontains(input.call.args.text, \"forbidden\")\n}\n",
		"policy_test/words_test.rego": "package toolwarrant.words_test\n\nimport rego.v2\n\nimport data.toolwarrant.access\n\n" +
			`test_words if "no-such-words" in {r.id | some r in access.reasons} with input as {"call": {"args": {"text": "forbidden"}}}` + "\n",
	} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestShadowOverMCP: a shadow policy that would deny, and that would ask,
// changes no answer; the records say what it would have done, are of the
// format, and are counted and decided again by the command line.
func TestShadowOverMCP(t *testing.T) {
	home := t.TempDir()
	next := shadowPolicy(t, home)
	p := serve(t, home, []string{"TOOLWARRANT_POLICY_SHADOW_WAIT_MILLIS=10000"}, "--shadow-policy", next)
	s := sdkClient(t, p.url, "2025-11-25", nil)
	call := func(tool string, args map[string]any) *mcp.CallToolResult {
		t.Helper()
		res, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	for _, c := range []struct {
		tool string
		args map[string]any
		says string // nothing in particular when ""
		fail bool
	}{
		{"base64", map[string]any{"text": "hello world"}, "aGVsbG8gd29ybGQ=", false},
		{"base64", map[string]any{"text": "forbidden"}, "Zm9yYmlkZGVu", false},
		{"uuid", nil, "", false},
		{"base64", map[string]any{"nothing": 1}, "INVALID_ARGUMENTS", true},
		{"nosuch", nil, "NOT_FOUND", true},
	} {
		res := call(c.tool, c.args)
		if text := res.Content[0].(*mcp.TextContent).Text; res.IsError != c.fail || !strings.Contains(text, c.says) {
			t.Errorf("%s %v: %s", c.tool, c.args, text)
		}
	}
	get := func(path string) string {
		t.Helper()
		resp, err := http.Get(strings.TrimSuffix(p.url, "/mcp") + path)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, _ := io.ReadAll(resp.Body)
		return string(body)
	}
	metrics := get("/metrics")
	for _, line := range []string{
		`toolwarrant_shadow_decisions_total{result="same"} 1`, `toolwarrant_shadow_decisions_total{result="newly-denied"} 1`,
		`toolwarrant_shadow_decisions_total{result="approval-changed"} 1`, `toolwarrant_policy_decisions_total{outcome="allowed"} 3`,
		`toolwarrant_policy_activations_total{result="activated",role="shadow"} 1`,
	} {
		if !strings.Contains(metrics, line+"\n") {
			t.Errorf("/metrics lacks %s:\n%s", line, metrics)
		}
	}
	health := get("/healthz")
	p.stop()

	var all []record
	for _, r := range records(t, home) {
		if r.str("phase") == "close" {
			all = append(all, r)
		}
	}
	if len(all) != 5 {
		t.Fatalf("%d close records", len(all))
	}
	for i, kind := range []string{"same", "newly-denied", "approval-changed", "", ""} {
		if got := all[i].str("shadow", "kind"); got != kind {
			t.Errorf("record %d: the shadow says %q, want %q: %v", i, got, kind, all[i]["shadow"])
		}
	}
	revision := all[0].str("shadow", "revision")
	if revision == "" || revision == all[0].str("policy", "revision") || !strings.Contains(health, `"shadow":{"revision":"`+revision+`"`) {
		t.Errorf("shadow %s, policy %s, health %s", revision, all[0].str("policy", "revision"), health)
	}
	ofFormat(t, home)
	verifyWhole(t, home)

	out, errs, status := toolwarrant(t, home, "policy", "shadow", filepath.Join(home, "audit"))
	for _, line := range []string{"calls                  5\n", "same                   1\n", "would be denied        1\n", "approval would change  1\n", "shadow not asked       2\n", "no-such-words       1 ", revision} {
		if !strings.Contains(out, line) {
			t.Errorf("policy shadow lacks %q (status %d, %s):\n%s", line, status, errs, out)
		}
	}
	// Decided again, the log gives the same answers, those of the shadow too.
	if out, errs, status := toolwarrant(t, home, "policy", "replay", filepath.Join(home, "audit"), "--policy", "recorded", "--fail-on", "any"); status != 0 {
		t.Errorf("replay: %d %s %s", status, out, errs)
	}
	if out, errs, _ := toolwarrant(t, home, "policy", "replay", filepath.Join(home, "audit"), "--policy", next); !strings.Contains(out, "newly denied               1\n") ||
		!strings.Contains(out, "approval changed           1\n") {
		t.Errorf("replay under the shadow policy: %s %s", out, errs)
	}
}

// ofFormat checks every line of the log against its schema.
func ofFormat(t *testing.T, home string) {
	t.Helper()
	const name = "audit.schema.json"
	text, err := schemas.FS.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(name, doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile(name)
	if err != nil {
		t.Fatal(err)
	}
	log, err := os.ReadFile(auditFile(home))
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(log) {
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(line))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(v); err != nil {
			t.Errorf("%v\n%.1000s", err, line)
		}
	}
}
