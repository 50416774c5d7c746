package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestCeilingEverywhere: a ceiling on the level and a choice of categories in
// a profile refuse with one sentence, whoever meets them.
func TestCeilingEverywhere(t *testing.T) {
	if testing.Short() {
		t.Skip("runs many commands, one after the other")
	}
	home, policy, tools := t.TempDir(), filepath.Join(t.TempDir(), "p"), t.TempDir()
	command := func(args ...string) (string, error) {
		out, err := exec.Command("toolwarrant", append(args, "--home", home, "--policy", policy)...).CombinedOutput()
		return string(out), err
	}
	if out, err := exec.Command("toolwarrant", "policy", "init", policy).CombinedOutput(); err != nil {
		t.Fatal(string(out))
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(policy, "cue", "bindings.cue"), `package toolwarrant

profiles: desk: constraints: {
	riskLevel: <="L3"
	category:  "TEXT" | "FILE"
}
bindings: [{profile: "desk", tag: "desk"}]
`)
	body := `"description": "Writes a note. Returns its name.", "tags": ["desk"], "codeType": "Javascript", "code": "return 1;", "draft": false,`
	write(filepath.Join(tools, "note.json"), `{"name": "note", "category": "FILE", `+body+`
 "sandboxOverrides": {"fileWrite": true}}`)
	write(filepath.Join(tools, "stock.json"), `{"name": "stock", `+body+`
 "category": "FINANCE"}`)
	server := exec.Command("toolwarrant", "serve", "--stdio", "--home", home, "--policy", policy, "--catalog", tools)
	s, err := mcp.NewClient(&mcp.Implementation{Name: "sdk", Version: "1"}, nil).Connect(t.Context(), &mcp.CommandTransport{Command: server}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, tc := range []struct{ name, at, says string }{
		{"note", "note.json:2:36", `profile "desk" (cue/bindings.cue:4) demands riskLevel: <="L3", but the tool is "L4" (file-write) at /sandboxOverrides/fileWrite`},
		{"stock", "stock.json:2:14", `profile "desk" (cue/bindings.cue:5) demands category: "TEXT" | "FILE", but the tool is of "FINANCE" at /category`},
	} {
		path := filepath.Join(tools, tc.name+".json")
		for _, args := range [][]string{{"resolve", path}, {"run", path}, {"lint", path}} {
			out, err := command(args...)
			if err == nil || !strings.Contains(out, tc.says) || !strings.Contains(out, tc.at) {
				t.Errorf("%v: %v\n%s", args, err, out)
			}
		}
		out, _ := command("lint", path, "--format", "sarif")
		quoted, _ := json.Marshal(tc.says)
		if !strings.Contains(out, strings.Trim(strings.NewReplacer(`\u003c`, `<`).Replace(string(quoted)), `"`)) {
			t.Errorf("SARIF has other words:\n%s", out)
		}
		res, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: tc.name, Arguments: map[string]any{}})
		if err != nil {
			t.Fatal(err)
		}
		if text := res.Content[0].(*mcp.TextContent).Text; !res.IsError || !strings.Contains(text, tc.says) {
			t.Errorf("over MCP: %s", text)
		}
	}
}
