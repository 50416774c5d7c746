//lint:file-ignore SA1019 the suite asks for what 2026-07-28 deprecates as well

package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// options declare what the suite looks for beside tools.
func (f *fixtures) options(o *mcp.ServerOptions) {
	o.Capabilities.Logging = &mcp.LoggingCapabilities{}
	o.Capabilities.Prompts = &mcp.PromptCapabilities{ListChanged: true}
	o.Capabilities.Resources = &mcp.ResourceCapabilities{ListChanged: true, Subscribe: true}
	o.SubscribeHandler = func(context.Context, *mcp.SubscribeRequest) error { return nil }
	o.UnsubscribeHandler = func(context.Context, *mcp.UnsubscribeRequest) error { return nil }
	o.CompletionHandler = func(context.Context, *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
		return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: []string{"paris", "park", "party"}, Total: 3}}, nil
	}
}

func prompt(contents ...mcp.Content) *mcp.GetPromptResult {
	res := &mcp.GetPromptResult{}
	for _, c := range contents {
		res.Messages = append(res.Messages, &mcp.PromptMessage{Role: "user", Content: c})
	}
	return res
}

func simplePrompt(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	return prompt(&mcp.TextContent{Text: "This is a simple prompt for testing."}), nil
}

// features adds prompts and resources to one entrance.
func (f *fixtures) features(s *mcp.Server) {
	f.mu.Lock()
	f.servers = append(f.servers, s)
	f.mu.Unlock()

	s.AddPrompt(&mcp.Prompt{Name: "test_simple_prompt", Description: "A prompt."}, simplePrompt)
	s.AddPrompt(&mcp.Prompt{Name: "test_prompt_with_arguments", Description: "A prompt with arguments.", Arguments: []*mcp.PromptArgument{
		{Name: "arg1", Description: "The first.", Required: true}, {Name: "arg2", Description: "The second.", Required: true},
	}}, func(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return prompt(&mcp.TextContent{Text: fmt.Sprintf("Prompt with arguments: arg1='%s', arg2='%s'", r.Params.Arguments["arg1"], r.Params.Arguments["arg2"])}), nil
	})
	s.AddPrompt(&mcp.Prompt{Name: "test_prompt_with_embedded_resource", Description: "A prompt with a resource.", Arguments: []*mcp.PromptArgument{
		{Name: "resourceUri", Description: "What to embed.", Required: true},
	}}, func(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return prompt(resource(r.Params.Arguments["resourceUri"], "text/plain", "Embedded resource content for testing."),
			&mcp.TextContent{Text: "Please process the embedded resource above."}), nil
	})
	s.AddPrompt(&mcp.Prompt{Name: "test_prompt_with_image", Description: "A prompt with a picture."}, func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return prompt(&mcp.ImageContent{Data: redPixel(), MIMEType: "image/png"}, &mcp.TextContent{Text: "Please analyze the image above."}), nil
	})
	s.AddPrompt(&mcp.Prompt{Name: "test_input_required_result_prompt", Description: "A prompt that asks."}, func(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		if about, ok := accepted(r.Params.InputResponses, "user_context", "context"); ok {
			return prompt(&mcp.TextContent{Text: "Use this: " + about}), nil
		}
		return &mcp.GetPromptResult{InputRequests: mcp.InputRequestMap{"user_context": ask("What context should the prompt use?", "context", "string")}}, nil
	})

	fixed := func(uri, name, mime string, content mcp.ResourceContents) {
		s.AddResource(&mcp.Resource{URI: uri, Name: name, Description: "A resource.", MIMEType: mime}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			c := content
			c.URI, c.MIMEType = uri, mime
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{&c}}, nil
		})
	}
	fixed("test://static-text", "text", "text/plain", mcp.ResourceContents{Text: "This is the content of the static text resource."})
	fixed("test://static-binary", "picture", "image/png", mcp.ResourceContents{Blob: redPixel()})
	fixed("test://watched-resource", "watched", "text/plain", mcp.ResourceContents{Text: "Watched."})
	s.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: "test://template/{id}/data", Name: "template", Description: "A family of resources.", MIMEType: "application/json"},
		func(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			id := strings.TrimSuffix(strings.TrimPrefix(r.Params.URI, "test://template/"), "/data")
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{
				URI: r.Params.URI, MIMEType: "application/json", Text: fmt.Sprintf(`{"id":%q,"templateTest":true,"data":%q}`, id, "Data for ID: "+id),
			}}}, nil
		})
}
