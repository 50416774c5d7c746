package main

import (
	"context"
	"os/exec"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestServeStdio is a client that starts the server itself and talks to it
// over standard input and output, in both eras.
func TestServeStdio(t *testing.T) {
	for _, version := range []string{"2026-07-28", "2025-11-25"} {
		t.Run(version, func(t *testing.T) {
			home := t.TempDir()
			asked := 0
			client := mcp.NewClient(&mcp.Implementation{Name: "sdk", Version: "1"}, &mcp.ClientOptions{
				ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
					asked++
					return &mcp.ElicitResult{Action: "accept"}, nil
				},
			})
			server := exec.Command("toolwarrant", append([]string{"serve", "--stdio", "--home", home}, few...)...)
			s, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: server}, &mcp.ClientSessionOptions{ProtocolVersion: version})
			if err != nil {
				t.Fatal(err)
			}
			list, err := s.ListTools(t.Context(), nil)
			if err != nil || len(list.Tools) != len(fewNames) {
				t.Fatalf("%d tools, %v", len(list.Tools), err)
			}
			res, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "base64", Arguments: map[string]any{"text": "hello world"}})
			if err != nil || res.IsError || res.Content[0].(*mcp.TextContent).Text != "aGVsbG8gd29ybGQ=" {
				t.Errorf("base64: %+v, %v", res, err)
			}
			res, err = s.CallTool(t.Context(), &mcp.CallToolParams{Name: "writeTextFile", Arguments: map[string]any{"path": "a.txt", "content": "x"}})
			if err != nil || res.IsError || asked != 1 || !written(home, "a.txt") {
				t.Errorf("writeTextFile: %+v, %v, asked %d times", res, err, asked)
			}
			if err := s.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
			for _, r := range records(t, home) {
				if r.str("phase") == "close" && r.str("origin") != "mcp-stdio" {
					t.Errorf("a close record has the origin %v", r["origin"])
				}
			}
			verifyWhole(t, home)
		})
	}
}
