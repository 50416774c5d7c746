//lint:file-ignore SA1019 the suite asks for what 2026-07-28 deprecates as well

package main

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// sealer makes states that a client cannot make up. Those of governed calls are
// sealed by package approval; a fixture has no such call.
type sealer struct{ key [32]byte }

func newSealer() *sealer {
	s := &sealer{}
	_, _ = rand.Read(s.key[:]) // never fails
	return s
}

func (s *sealer) seal(word string) string { return word + "." + s.sum(word) }

func (s *sealer) sum(word string) string {
	h := hmac.New(sha256.New, s.key[:])
	_, _ = h.Write([]byte(word))
	return hex.EncodeToString(h.Sum(nil))
}

// open gives the word of a state; false for one that was not sealed here.
func (s *sealer) open(state string) (string, bool) {
	word, sum, ok := strings.Cut(state, ".")
	return word, ok && hmac.Equal([]byte(sum), []byte(s.sum(word)))
}

func ask(message, property, kind string) *mcp.ElicitParams {
	schema, err := json.Marshal(map[string]any{
		"type": "object", "properties": map[string]any{property: map[string]any{"type": kind}}, "required": []string{property},
	})
	if err != nil {
		panic(err) // maps of text
	}
	return &mcp.ElicitParams{Mode: "form", Message: message, RequestedSchema: json.RawMessage(schema)}
}

func sample(prompt string, tokens int64) *mcp.CreateMessageParams {
	return &mcp.CreateMessageParams{Messages: []*mcp.SamplingMessage{{Role: "user", Content: &mcp.TextContent{Text: prompt}}}, MaxTokens: tokens}
}

func wants(state string, requests mcp.InputRequestMap) *mcp.CallToolResult {
	return &mcp.CallToolResult{InputRequests: requests, RequestState: state}
}

// accepted gives the text of an accepted form; false when there is none.
func accepted(responses mcp.InputResponseMap, key, property string) (string, bool) {
	e, ok := responses[key].(*mcp.ElicitResult)
	if !ok || e.Action != "accept" {
		return "", false
	}
	s, ok := e.Content[property].(string)
	return s, ok
}

var errState = &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the requestState was not made here"}

// roundTools ask by their answers, as 2026-07-28 wants it.
func (f *fixtures) roundTools() map[string]tool {
	return map[string]tool{
		"test_input_required_result_elicitation": {about: "Asks for a name.", do: func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			if name, ok := accepted(r.Params.InputResponses, "user_name", "name"); ok {
				return text("Hello, " + name + "!"), nil
			}
			return wants("", mcp.InputRequestMap{"user_name": ask("What is your name?", "name", "string")}), nil
		}},
		"test_input_required_result_sampling": {about: "Asks the model of the client.", do: func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			if _, ok := r.Params.InputResponses["capital_question"]; ok {
				return text("The model has answered."), nil
			}
			return wants("", mcp.InputRequestMap{"capital_question": sample("What is the capital of France?", 100)}), nil
		}},
		"test_input_required_result_list_roots": {about: "Asks for the roots of the client.", do: func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			if roots, ok := r.Params.InputResponses["client_roots"].(*mcp.ListRootsResult); ok {
				said := "Roots:"
				for _, root := range roots.Roots {
					said += " " + root.URI
				}
				return text(said), nil
			}
			return wants("", mcp.InputRequestMap{"client_roots": &mcp.ListRootsParams{}}), nil
		}},
		"test_input_required_result_request_state":   {about: "Asks, and keeps a state.", do: f.confirming},
		"test_input_required_result_tampered_state":  {about: "Asks, and refuses a state that it did not make.", do: f.confirming},
		"test_input_required_result_multiple_inputs": {about: "Asks for three things at once.", do: f.multiple},
		"test_input_required_result_multi_round":     {about: "Asks twice.", do: f.twice},
		"test_input_required_result_capabilities": {about: "Asks only what the client can answer.", do: func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			if len(r.Params.InputResponses) > 0 {
				return text("answered"), nil
			}
			requests := mcp.InputRequestMap{}
			if c := r.ClientCapabilities(); c != nil {
				if c.Sampling != nil {
					requests["capital_question"] = sample("What is the capital of France?", 100)
				}
				if c.Elicitation != nil {
					requests["user_name"] = ask("What is your name?", "name", "string")
				}
			}
			if len(requests) == 0 {
				return text("there is nothing that the client could be asked"), nil
			}
			return wants("", requests), nil
		}},
	}
}

func (f *fixtures) confirming(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if r.Params.RequestState == "" {
		return wants(f.states.seal("confirm"), mcp.InputRequestMap{"confirm": ask("Please confirm", "ok", "boolean")}), nil
	}
	if word, ok := f.states.open(r.Params.RequestState); !ok || word != "confirm" {
		return nil, errState
	}
	return text("state-ok"), nil
}

func (f *fixtures) multiple(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	requests := mcp.InputRequestMap{
		"user_name": ask("What is your name?", "name", "string"), "greeting": sample("Generate a greeting", 50), "client_roots": &mcp.ListRootsParams{},
	}
	complete := true
	for key := range requests {
		complete = complete && r.Params.InputResponses[key] != nil
	}
	if !complete {
		return wants(f.states.seal("multiple"), requests), nil
	}
	if word, ok := f.states.open(r.Params.RequestState); !ok || word != "multiple" {
		return nil, errState
	}
	return text("all three are answered"), nil
}

func (f *fixtures) twice(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if r.Params.RequestState == "" {
		return wants(f.states.seal("one"), mcp.InputRequestMap{"step1": ask("Step 1: What is your name?", "name", "string")}), nil
	}
	switch word, ok := f.states.open(r.Params.RequestState); {
	case !ok:
		return nil, errState
	case word == "one":
		return wants(f.states.seal("two"), mcp.InputRequestMap{"step2": ask("Step 2: What is your favorite color?", "color", "string")}), nil
	}
	return text("both steps are answered"), nil
}
