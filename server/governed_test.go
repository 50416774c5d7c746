package server

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rs/zerolog"

	"github.com/toolwarrant/toolwarrant/config"
	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/resolver"
	"github.com/toolwarrant/toolwarrant/service"
)

// installation is an open installation whose catalog and policy a test changes.
type installation struct {
	*service.Service
	t             *testing.T
	tools, policy string // folders
	home          string
}

// byClient hides from a client what its name says: a policy that tells callers
// apart by the one thing that tells them apart without authentication.
const byClient = `package toolwarrant.access

import rego.v2

# METADATA
# title: A client does not see the tools that it is named after
# labels:
#   id: test-by-client
hidden contains {"id": "test-by-client", "message": "no", "path": ""} if {
	some word in split(input.principal.clientId, "-")
	word == input.tool.name
}
`

// install opens an installation with the named tools, the fields of which are
// added to those of a plain document, and one of the bundled ones.
func install(t *testing.T, tools map[string]map[string]any, rules ...map[string]any) *installation {
	t.Helper()
	dir := t.TempDir()
	i := &installation{t: t, home: filepath.Join(dir, "home"), tools: filepath.Join(dir, "tools"), policy: filepath.Join(dir, "policy")}
	if err := os.Mkdir(i.tools, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, fields := range tools {
		i.write(name, fields)
	}
	plainPolicy(t, i.policy, byClient)
	i.rules(rules...)
	cfg, err := config.Load("", nil, map[string]any{
		"runtime.isolation": "in-process", "catalog.trust-folders": true, "catalog.dirs": []string{i.tools}, "policy.path": i.policy,
		"catalog.include.names": []string{"base64"}, // in the place of the preset
		"secrets.grants":        []any{map[string]any{"names": []any{"TEST_KEY"}, "tools": []any{"t_keyed"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if i.Service, err = service.Open(context.Background(), service.Options{Home: i.home, Config: cfg, Logger: zerolog.Nop()}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := i.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return i
}

// plainPolicy writes the built-in policy into a folder, with one test in the
// place of its own ones and one more module.
func plainPolicy(t *testing.T, dir, module string) {
	t.Helper()
	if err := resolver.WriteBuiltin(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(dir, "policy_test")); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "policy_test", "one_test.rego"), "package one_test\n\nimport rego.v2\n\ntest_one if true\n")
	writeFile(t, filepath.Join(dir, "rego", "access", "more.rego"), module)
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (i *installation) write(name string, fields map[string]any) {
	i.t.Helper()
	doc := map[string]any{
		"name": name, "toolId": "test." + name, "draft": false, "code": "return 1", "codeType": "Javascript",
		"description": "Gives one.", "humanInTheLoop": map[string]any{"mode": "DISABLED"},
	}
	maps.Copy(doc, fields)
	raw, err := json.Marshal(doc)
	if err != nil {
		i.t.Fatal(err)
	}
	writeFile(i.t, filepath.Join(i.tools, name+".json"), string(raw))
}

// rules puts rules of access into the settings of the policy.
func (i *installation) rules(rules ...map[string]any) {
	i.t.Helper()
	i.access("rules", append([]map[string]any{}, rules...))
}

// access sets one of the settings of the policy of who may call and see what.
func (i *installation) access(name string, value any) {
	i.t.Helper()
	file := filepath.Join(i.policy, "rego", "data.json")
	raw, err := os.ReadFile(file)
	if err != nil {
		i.t.Fatal(err)
	}
	var data map[string]map[string]map[string]map[string]any
	if err := json.Unmarshal(raw, &data); err != nil {
		i.t.Fatal(err)
	}
	data["toolwarrant"]["settings"]["access"][name] = value
	if raw, err = json.Marshal(data); err != nil {
		i.t.Fatal(err)
	}
	writeFile(i.t, file, string(raw))
}

// tell makes what was written count.
func (i *installation) tell() {
	i.t.Helper()
	if err := i.Reload(context.Background()); err != nil {
		i.t.Fatal(err)
	}
}

func hide(tools ...string) map[string]any {
	return map[string]any{"id": "test-hide", "effect": "hide", "tools": tools}
}

// rejected are fields that the layers refuse: the operator does not allow it.
var rejected = map[string]any{"sandboxOverrides": map[string]any{"networkMode": "open"}}

func toolNames(t *testing.T, cs *mcp.ClientSession) []string {
	t.Helper()
	var names []string
	for tool, err := range cs.Tools(context.Background(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, tool.Name)
	}
	return names
}

// A tool that is hidden from its caller and one whose policy is rejected as
// well answer like a tool that nobody has heard of, in every field but the id
// of the call, whatever the arguments are.
func TestHiddenAnswersLikeUnknown(t *testing.T) {
	i := install(t, map[string]map[string]any{
		"t_plain": nil, "t_rejct": rejected, "t_hiden": nil, "t_hidrj": rejected,
	}, hide("t_hiden", "t_hidrj"))
	caller := Governed(i.Service)
	_, url := start(t, caller)

	answer := func(t *testing.T, cs *mcp.ClientSession, tool string, args any) string {
		t.Helper()
		res := callTool(t, cs, tool, args)
		e := errorOf(t, res)
		id, ok := e["callId"].(string)
		if !ok || id == "" || e["decisionId"] != nil {
			t.Errorf("%s: %v", tool, e)
		}
		b, err := json.Marshal(res)
		if err != nil {
			t.Fatal(err)
		}
		return strings.NewReplacer(id, "CALL", tool, "TOOL").Replace(string(b))
	}
	check := func(t *testing.T, cs *mcp.ClientSession) {
		t.Helper()
		for _, args := range []any{nil, map[string]any{}, map[string]any{"not-a-parameter": 1}} {
			want := answer(t, cs, "t_nobdy", args)
			if !strings.Contains(want, `"code":"NOT_FOUND"`) || !strings.Contains(want, `there is no tool \"TOOL\"`) {
				t.Errorf("an unknown tool: %s", want)
			}
			for _, tool := range []string{"t_hiden", "t_hidrj", "test.t_hidrj"} {
				if d := cmp.Diff(want, answer(t, cs, tool, args)); d != "" {
					t.Errorf("%s, arguments %v (-unknown +got):\n%s", tool, args, d)
				}
			}
			// What is rejected and not hidden says so: the test is about hiding.
			if got := answer(t, cs, "t_rejct", args); !strings.Contains(got, `"code":"RESOLVER_REJECT"`) {
				t.Errorf("a rejected tool: %s", got)
			}
		}
		if names := toolNames(t, cs); slices.Contains(names, "t_hidrj") || slices.Contains(names, "t_rejct") || !slices.Contains(names, "t_plain") {
			t.Errorf("the list has %v", names)
		}
	}
	for _, v := range versions {
		t.Run("http "+v, func(t *testing.T) { check(t, connect(t, url, v, "agent", nil)) })
	}
	for _, v := range versions[:2] {
		t.Run("stdio "+v, func(t *testing.T) { check(t, overStdio(t, caller, v, nil)) })
	}

	// The answer on the wire, with its status and headers.
	wire := func(tool string) string {
		status, answer, text := raw{t: t, url: url}.post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+tool+`","arguments":{},`+askingMeta+`}}`,
			"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", tool)
		id := answer["result"].(map[string]any)["_meta"].(map[string]any)[metaCallID].(string)
		return strings.NewReplacer(id, "CALL", tool, "TOOL").Replace(text) + fmt.Sprint(" ", status)
	}
	if d := cmp.Diff(wire("t_nobdy"), wire("t_hidrj")); d != "" {
		t.Errorf("on the wire (-unknown +got):\n%s", d)
	}
}

// Who sees what is asked anew when the policy or the catalog changes, and no
// caller gets the list of another.
func TestListFollowsPolicyAndCatalog(t *testing.T) {
	i := install(t, map[string]map[string]any{"t_one": nil, "t_two": nil, "t_three": nil})
	_, url := start(t, Governed(i.Service))
	sees := func(client string) string {
		t.Helper()
		var own []string
		for _, name := range toolNames(t, connect(t, url, "2026-07-28", client, nil)) {
			if strings.HasPrefix(name, "t_") {
				own = append(own, name)
			}
		}
		return strings.Join(own, " ")
	}
	want := func(when, client, tools string) {
		t.Helper()
		for range 2 { // the second one is remembered
			if got := sees(client); got != tools {
				t.Errorf("%s: %s sees %q, want %q", when, client, got, tools)
			}
		}
	}
	want("at first", "agent", "t_one t_three t_two")
	want("at first", "not-t_two", "t_one t_three")
	want("at first", "not-t_one-t_two", "t_three")
	want("at first", "other", "t_one t_three t_two")

	i.rules(hide("t_three"))
	i.tell()
	want("hidden by a policy", "agent", "t_one t_two")
	want("hidden by a policy", "not-t_two", "t_one")

	i.rules()
	i.tell()
	want("the policy of before", "agent", "t_one t_three t_two")

	tool, err := i.Catalog.Lookup(context.Background(), "t_one")
	if err != nil {
		t.Fatal(err)
	}
	me := decision.Principal{Subject: "uid:0", Method: "local", Groups: []string{}, Scopes: []string{}}
	if err := i.Draft(context.Background(), me, tool); err != nil {
		t.Fatal(err)
	}
	want("a draft", "agent", "t_three t_two")
	want("a draft", "not-t_two", "t_three")
	if res, err := i.Publish(context.Background(), me, tool, "", service.TestOptions{}); err != nil || res.Err != nil {
		t.Fatal(err, res.Err)
	}
	want("published", "agent", "t_one t_three t_two")

	i.write("t_two", map[string]any{"description": "Gives two."})
	i.write("t_four", nil)
	i.tell()
	want("a new tool", "agent", "t_four t_one t_three t_two")
	for tool, err := range connect(t, url, "2026-07-28", "agent", nil).Tools(context.Background(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		if tool.Name == "t_two" && tool.Description != "Gives two." {
			t.Errorf("the list has the text of before: %q", tool.Description)
		}
	}
}

// A secret that comes or goes moves its tool in and out of the list.
func TestListFollowsSecrets(t *testing.T) {
	i := install(t, map[string]map[string]any{
		"t_keyed": {"staticVariables": []map[string]any{{"key": "${TEST_KEY}"}}}, "t_plain": nil,
	})
	_, url := start(t, Governed(i.Service))
	cs := connect(t, url, "2025-11-25", "agent", nil)
	has := func() bool { return slices.Contains(toolNames(t, cs), "t_keyed") }
	if has() {
		t.Error("a tool without its secret is listed")
	}
	writeFile(i.t, filepath.Join(i.home, "secrets.yaml"), "TEST_KEY: value\n")
	settles(t, "the tool does not come", has)
	if err := os.Remove(filepath.Join(i.home, "secrets.yaml")); err != nil {
		t.Fatal(err)
	}
	settles(t, "the tool does not go", func() bool { return !has() })
}
