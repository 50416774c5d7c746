package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestArgumentRule takes the example of docs/policy.md at its word: rules by
// argument, written in Rego alone, with their test, at work over MCP.
func TestArgumentRule(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "policy.md"))
	if err != nil {
		t.Fatal(err)
	}
	home, policy := t.TempDir(), filepath.Join(t.TempDir(), "p")
	command := func(args ...string) string {
		t.Helper()
		out, err := exec.Command("toolwarrant", append(args, "--home", home)...).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	command("policy", "init", policy)
	blocks := regexp.MustCompile("(?s)```rego\n(# ((?:rego|policy_test)/site/[a-z_]+\\.rego).*?)```").FindAllStringSubmatch(strings.ReplaceAll(string(page), "\r\n", "\n"), -1)
	if len(blocks) != 7 {
		t.Fatalf("the example has %d files", len(blocks))
	}
	for _, b := range blocks {
		if b[2] == "rego/site/record.rego" { // an example of two rules, of another section
			continue
		}
		file := filepath.Join(policy, filepath.FromSlash(b[2]))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(b[1]), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if out := command("policy", "test", policy); !strings.Contains(out, " 0 failed") {
		t.Fatal(out)
	}
	if out := command("policy", "lint", policy); !strings.HasPrefix(out, "0 errors, 0 warnings") {
		t.Fatal(out)
	}

	asked := 0
	client := mcp.NewClient(&mcp.Implementation{Name: "sdk", Version: "1"}, &mcp.ClientOptions{
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			asked++
			return &mcp.ElicitResult{Action: "accept"}, nil
		},
	})
	server := exec.Command("toolwarrant", "serve", "--stdio", "--home", home, "--policy", policy)
	s, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: server}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, tc := range []struct {
		path, says string
		asked      int
	}{
		{"reports/a.md", "", 1},
		{"reports/a.SH", "site-no-scripts", 1},
		{"a.md", "nobody can let it through", 1}, // by somebody else than the caller
		{"a.md", "nobody can let it through", 1}, // nor at the second time
		{"reports/../a.md", "APPROVAL_PENDING", 1},
		{"./reports/b.md", "APPROVAL_PENDING", 1},
		{"reports//b.md", "APPROVAL_PENDING", 1},
		{"reports/b.md/.", "APPROVAL_PENDING", 1},
		{"reports/b.sh/.", "site-no-scripts", 1},
		{"b.sh/", "site-no-scripts", 1},
		{"./reports/../b.SH.", "site-no-scripts", 1},
	} {
		res, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "writeTextFile", Arguments: map[string]any{"path": tc.path, "content": "x"}})
		if err != nil {
			t.Fatal(err)
		}
		text := res.Content[0].(*mcp.TextContent).Text
		if res.IsError != (tc.says != "") || !strings.Contains(text, tc.says) || asked != tc.asked {
			t.Errorf("%s: asked %d times in all, %s", tc.path, asked, text)
		}
	}
	if out := command("approvals", "list"); !strings.Contains(out, "    needs a second person, and the caller is not authenticated") {
		t.Error(out)
	}
	if !written(home, "reports/a.md") || written(home, "a.md") || written(home, "reports/b.sh") || written(home, "b.sh") {
		t.Error("what was written is not what was allowed")
	}
}
