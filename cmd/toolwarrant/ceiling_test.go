package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestCeilingEverywhere: a ceiling on the level, a choice of categories and
// what the shipped profile for regulated duties forbids refuse with one
// sentence, whoever meets them: resolve, run, lint, SARIF with its region, and
// a client over MCP.
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
bindings: [{profile: "desk", tag: "desk"}, {profile: "regulated", tag: "audited"}]
`)
	body := `"description": "Writes a note. Returns its name.", "tags": ["desk"], "codeType": "Javascript", "code": "return 1;", "draft": false,`
	write(filepath.Join(tools, "note.json"), `{"name": "note", "category": "FILE", `+body+`
 "sandboxOverrides": {"fileWrite": true}}`)
	write(filepath.Join(tools, "stock.json"), `{"name": "stock", `+body+`
 "category": "FINANCE"}`)
	audited := `{"description": "Asks for more. Returns one.", "tags": ["audited"], "codeType": "Javascript", "code": "return 1;", "draft": false,`
	write(filepath.Join(tools, "opens.json"), audited+` "name": "opens",
 "sandboxOverrides": {"networkMode": "open"}}`)
	write(filepath.Join(tools, "writes.json"), audited+` "name": "writes",
 "sandboxOverrides": {"fileWrite": true}}`)
	write(filepath.Join(tools, "starts.json"), audited+` "name": "starts",
 "sandboxOverrides": {"removeDenyClasses": ["java.lang.Runtime"]}}`)
	server := exec.Command("toolwarrant", "serve", "--stdio", "--home", home, "--policy", policy, "--catalog", tools)
	s, err := mcp.NewClient(&mcp.Implementation{Name: "sdk", Version: "1"}, nil).Connect(t.Context(), &mcp.CommandTransport{Command: server}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, tc := range []struct{ name, at, says string }{
		{"note", "note.json:2:36", `profile "desk" (cue/bindings.cue:4) demands riskLevel: <="L3", but the tool is "L4" (file-write) at /sandboxOverrides/fileWrite`},
		{"stock", "stock.json:2:14", `profile "desk" (cue/bindings.cue:5) demands category: "TEXT" | "FILE", but the tool is of "FINANCE" at /category`},
		{"opens", "opens.json:2:38", `profile "regulated" (cue/profiles/regulated.cue:11) demands network.mode: "blocked" | "allowlist", but the tool asks for "open" at /sandboxOverrides/networkMode`},
		{"writes", "writes.json:2:36", `profile "regulated" (cue/profiles/regulated.cue:14) demands fileWrite: false, but the tool asks for true at /sandboxOverrides/fileWrite`},
		{"starts", "starts.json:2:45", `profile "regulated" (cue/profiles/regulated.cue:15) demands riskLevel: <="L3", but the tool is "L5" (deny-removed-critical) at /sandboxOverrides/removeDenyClasses/0`},
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
		place := strings.Split(tc.at, ":")
		if region := regexp.MustCompile(`"region":\s*\{\s*"startLine":\s*` + place[1] + `,\s*"startColumn":\s*` + place[2] + `\b`); !region.MatchString(out) {
			t.Errorf("SARIF has no region %s:\n%s", tc.at, out)
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
