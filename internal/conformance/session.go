//lint:file-ignore SA1019 the suite asks for what 2026-07-28 deprecates as well

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// schema2020 uses what JSON Schema 2020-12 brought; the list has to keep all of
// it.
const schema2020 = `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",` +
	`"$defs":{"address":{"$anchor":"addressDef","type":"object","properties":{"street":{"type":"string"},"city":{"type":"string"}}}},` +
	`"properties":{"name":{"type":"string"},"address":{"$ref":"#/$defs/address"},"contactMethod":{"type":"string","enum":["phone","email"]},` +
	`"phone":{"type":"string"},"email":{"type":"string"}},"allOf":[{"anyOf":[{"required":["phone"]},{"required":["email"]}]}],` +
	`"if":{"properties":{"contactMethod":{"const":"phone"}},"required":["contactMethod"]},"then":{"required":["phone"]},"else":{"required":["email"]},` +
	`"additionalProperties":false}`

const (
	askSchema = `{"type":"object","properties":{"username":{"type":"string","description":"User's response"},` +
		`"email":{"type":"string","description":"User's email address"}},"required":["username","email"]}`
	defaultsSchema = `{"type":"object","properties":{"name":{"type":"string","default":"John Doe"},"age":{"type":"integer","default":30},` +
		`"score":{"type":"number","default":95.5},"status":{"type":"string","enum":["active","inactive","pending"],"default":"active"},` +
		`"verified":{"type":"boolean","default":true}}}`
	enumsSchema = `{"type":"object","properties":{"untitledSingle":{"type":"string","enum":["option1","option2","option3"]},` +
		`"titledSingle":{"type":"string","oneOf":[{"const":"value1","title":"First Option"},{"const":"value2","title":"Second Option"}]},` +
		`"legacyEnum":{"type":"string","enum":["opt1","opt2","opt3"],"enumNames":["Option One","Option Two","Option Three"]},` +
		`"untitledMulti":{"type":"array","items":{"type":"string","enum":["option1","option2","option3"]}},` +
		`"titledMulti":{"type":"array","items":{"anyOf":[{"const":"value1","title":"First Choice"},{"const":"value2","title":"Second Choice"}]}}}}`
)

// step waits as long as the suite wants between two notifications.
func step(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(50 * time.Millisecond):
	}
}

func argument(req *mcp.CallToolRequest, name string) string {
	var args map[string]json.RawMessage
	var s string
	if json.Unmarshal(req.Params.Arguments, &args) == nil {
		_ = json.Unmarshal(args[name], &s) // what is no text is none
	}
	return s
}

// sessionTools notify the client of a call, or ask it something.
func sessionTools() map[string]tool {
	return map[string]tool{
		"test_tool_with_logging":            {about: "Logs three lines.", do: logging},
		"test_logging_tool":                 {about: "Logs three lines for those who want to hear of it.", do: logging},
		"test_tool_with_progress":           {about: "Tells of its progress.", do: progressing},
		"test_streaming_elicitation":        {about: "Answers as a stream.", do: progressing},
		"test_sampling":                     {about: "Asks the model of the client.", schema: `{"type":"object","properties":{"prompt":{"type":"string"}},"required":["prompt"]}`, do: sampling},
		"test_elicitation":                  {about: "Asks the user.", schema: `{"type":"object","properties":{"message":{"type":"string"}},"required":["message"]}`, do: eliciting(askSchema)},
		"test_elicitation_sep1034_defaults": {about: "Asks the user, with defaults.", do: eliciting(defaultsSchema)},
		"test_elicitation_sep1330_enums":    {about: "Asks the user for choices.", do: eliciting(enumsSchema)},
		"test_reconnection":                 {about: "Ends the stream of its answer early.", do: reconnecting},
		"test_missing_capability":           {about: "Needs a client that can sample.", do: needsSampling},
	}
}

func logging(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	for i, line := range []string{"Tool execution started", "Tool processing data", "Tool execution completed"} {
		if i > 0 {
			step(ctx)
		}
		if err := req.Session.Log(ctx, &mcp.LoggingMessageParams{Level: "info", Data: line}); err != nil {
			return nil, err
		}
	}
	return text("logged"), nil
}

func progressing(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	token := req.Params.GetProgressToken()
	for i, n := range []float64{0, 50, 100} {
		if i > 0 {
			step(ctx)
		}
		if token == nil {
			continue
		}
		if err := req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: n, Total: 100}); err != nil {
			return nil, err
		}
	}
	return text("done"), nil
}

func sampling(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	res, err := req.Session.CreateMessage(ctx, &mcp.CreateMessageParams{
		Messages: []*mcp.SamplingMessage{{Role: "user", Content: &mcp.TextContent{Text: argument(req, "prompt")}}}, MaxTokens: 100,
	})
	if err != nil {
		return failed("sampling failed"), nil
	}
	said := ""
	if t, ok := res.Content.(*mcp.TextContent); ok {
		said = t.Text
	}
	return text("LLM response: " + said), nil
}

func eliciting(schema string) func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		message := argument(req, "message")
		if message == "" {
			message = "Please review the values."
		}
		res, err := req.Session.Elicit(ctx, &mcp.ElicitParams{Message: message, RequestedSchema: json.RawMessage(schema)})
		if err != nil {
			return failed("elicitation failed"), nil
		}
		content, err := json.Marshal(res.Content)
		if err != nil {
			return nil, err
		}
		return text(fmt.Sprintf("Elicitation completed: action=%s, content=%s", res.Action, content)), nil
	}
}

func reconnecting(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if req.Extra != nil && req.Extra.CloseSSEStream != nil {
		req.Extra.CloseSSEStream(mcp.CloseSSEStreamArgs{RetryAfter: 100 * time.Millisecond})
	}
	step(ctx)
	return text("the answer came over another stream"), nil
}

func needsSampling(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if c := req.ClientCapabilities(); c == nil || c.Sampling == nil {
		return nil, &jsonrpc.Error{
			Code: mcp.CodeMissingRequiredClientCapabilities, Message: "the client cannot sample",
			Data: json.RawMessage(`{"requiredCapabilities":{"sampling":{}}}`),
		}
	}
	return text("the client can sample"), nil
}
