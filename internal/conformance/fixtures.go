package main

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/server"
)

// tool is a fixture: what a list says of it, and what it does with the request
// as the library read it.
type tool struct {
	about  string
	schema string // "" = no arguments
	do     func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error)
}

// fixtures are the Caller that the suite calls. Safe for concurrent use.
type fixtures struct {
	tools   map[string]tool
	changed func() // says that the list of tools is another
	states  *sealer

	mu      sync.Mutex
	extra   bool // whether the list has one tool more
	prompts bool // the same for the prompts
	servers []*mcp.Server
}

func newFixtures() *fixtures {
	f := &fixtures{tools: map[string]tool{}, states: newSealer()}
	maps.Copy(f.tools, contentTools())
	maps.Copy(f.tools, sessionTools())
	maps.Copy(f.tools, f.roundTools())
	maps.Copy(f.tools, f.triggers())
	return f
}

// Call implements server.Caller.
func (f *fixtures) Call(ctx context.Context, c server.CallRequest) server.CallResult {
	t, ok := f.tools[c.Tool]
	req := server.WireRequest(ctx)
	if !ok || req == nil {
		return server.CallResult{Err: fault.New(fault.NotFound, "unknown-tool", "there is no tool %q", c.Tool)}
	}
	res, err := t.do(ctx, req)
	return server.CallResult{Wire: &server.Wire{Result: res, Err: err}}
}

// Tools implements server.Caller.
func (f *fixtures) Tools(context.Context, decision.Principal) (*server.List, error) {
	var views []server.ToolView
	for name, t := range f.tools {
		v := server.ToolView{Name: name, Description: t.about}
		if t.schema != "" {
			v.InputSchema = json.RawMessage(t.schema)
		}
		views = append(views, v)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.extra {
		views = append(views, server.ToolView{Name: "test_extra", Description: "Comes and goes."})
	}
	slices.SortFunc(views, func(a, b server.ToolView) int { return cmp.Compare(a.Name, b.Name) })
	return server.NewList(views)
}

// triggers change what the server offers.
func (f *fixtures) triggers() map[string]tool {
	return map[string]tool{
		"test_trigger_tool_change": {about: "Changes the list of tools.", do: func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			f.mu.Lock()
			f.extra = !f.extra
			f.mu.Unlock()
			f.changed()
			return text("the list of tools has changed"), nil
		}},
		"test_trigger_prompt_change": {about: "Changes the list of prompts.", do: func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.prompts = !f.prompts
			for _, s := range f.servers {
				if f.prompts {
					s.AddPrompt(&mcp.Prompt{Name: "test_extra_prompt", Description: "Comes and goes."}, simplePrompt)
				} else {
					s.RemovePrompts("test_extra_prompt")
				}
			}
			return text("the list of prompts has changed"), nil
		}},
	}
}

func text(s string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: s}}}
}

func failed(s string) *mcp.CallToolResult {
	res := text(s)
	res.IsError = true
	return res
}

// Refused implements server.Caller; nobody is authenticated here.
func (f *fixtures) Refused(context.Context, server.RefusedRequest) error { return nil }
