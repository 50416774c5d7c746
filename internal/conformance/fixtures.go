package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/executor"
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

// Speak implements server.Speaker.
func (f *fixtures) Speak(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	t, ok := f.tools[req.Params.Name]
	if !ok {
		return failed(fmt.Sprintf("NOT_FOUND: there is no tool %q", req.Params.Name)), nil
	}
	return t.do(ctx, req)
}

// Call implements server.Caller; every call goes to Speak.
func (f *fixtures) Call(context.Context, executor.Call) executor.Result { return executor.Result{} }

// Refuse implements server.Caller; nothing is on record here.
func (f *fixtures) Refuse(context.Context, executor.Call, *fault.Error) executor.Result {
	return executor.Result{}
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
func (f *fixtures) Refused(context.Context, executor.Refusal) error { return nil }
