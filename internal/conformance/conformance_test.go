package main

import (
	"context"
	"encoding/json"
	"go/build"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rs/zerolog"
)

// Both eras see the fixtures over the same address: tools through the Caller,
// the rest through the extension.
func TestFixtures(t *testing.T) {
	hs := httptest.NewServer(newServer(zerolog.Nop()).Handler())
	defer hs.Close()
	for _, version := range []string{"2026-07-28", "2025-11-25"} {
		client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
			ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
				return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"name": "Alice", "username": "a", "email": "a@example.com"}}, nil
			},
		})
		cs, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: hs.URL + "/mcp", MaxRetries: -1, DisableStandaloneSSE: true},
			&mcp.ClientSessionOptions{ProtocolVersion: version})
		if err != nil {
			t.Fatal(err)
		}
		defer cs.Close()
		list, err := cs.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.IsSortedFunc(list.Tools, func(a, b *mcp.Tool) int { return strings.Compare(a.Name, b.Name) }) {
			t.Error("the list has no order")
		}
		for _, tool := range list.Tools {
			if tool.Description == "" || strings.HasPrefix(tool.Name, "toolwarrant") {
				t.Errorf("%s: %q %+v", version, tool.Name, tool)
			}
		}
		for name, want := range map[string]string{
			"test_simple_text": "simple text", "test_error_handling": "intentionally", "no-such-tool": "NOT_FOUND", "test_embedded_resource": "",
		} {
			res, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: name})
			if err != nil {
				t.Errorf("%s %s: %v", version, name, err)
				continue
			}
			raw, _ := json.Marshal(res.Content)
			if !strings.Contains(string(raw), want) {
				t.Errorf("%s %s: %s", version, name, raw)
			}
		}
		asking := map[string]string{"2026-07-28": "test_input_required_result_elicitation", "2025-11-25": "test_elicitation"}[version]
		res, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: asking, Arguments: map[string]any{"message": "?"}})
		if err != nil || res.IsError {
			t.Errorf("%s: %v %+v", version, err, res)
		}
		if p, err := cs.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "test_simple_prompt"}); err != nil || len(p.Messages) != 1 {
			t.Errorf("%s: %v %v", version, p, err)
		}
		if r, err := cs.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "test://template/7/data"}); err != nil || !strings.Contains(r.Contents[0].Text, `"id":"7"`) {
			t.Errorf("%s: %v %v", version, r, err)
		}
	}
}

// A state that was not sealed here is none.
func TestSealer(t *testing.T) {
	s, other := newSealer(), newSealer()
	for state, want := range map[string]bool{
		s.seal("one"): true, s.seal("one") + "x": false, other.seal("one"): false, "one": false, "": false, "two." + s.sum("one"): false,
	} {
		if _, ok := s.open(state); ok != want {
			t.Errorf("%q: %v", state, ok)
		}
	}
}

// Nothing that toolwarrant is built of knows this program.
func TestNotLinked(t *testing.T) {
	const module = "github.com/toolwarrant/toolwarrant/"
	seen := map[string]bool{}
	var visit func(path string)
	visit = func(path string) {
		dir, ours := strings.CutPrefix(path, module)
		if !ours || seen[path] {
			return
		}
		seen[path] = true
		pkg, err := build.ImportDir("../../"+dir, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range pkg.Imports {
			visit(p)
		}
	}
	visit(module + "cmd/toolwarrant")
	if !seen[module+"server"] {
		t.Error("the server is not found, so that nothing was looked at")
	}
	if seen[module+"internal/conformance"] {
		t.Error("the fixtures of the conformance suite are linked into toolwarrant")
	}
}
