package server

import (
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/executor"
	"github.com/toolwarrant/toolwarrant/fault"
)

// Caller is what stands behind the door: the pipeline, and who may see what of
// it. *executor.Engine has all but Tools. Implementations are safe for
// concurrent use.
type Caller interface {
	// Call runs one governed call to its end, or as far as it gets before a
	// human has to answer. It must return when ctx ends.
	Call(ctx context.Context, c executor.Call) executor.Result
	// Refuse records that a call ended with f which the protocol refused before
	// it could be made: the record is all there is of it. Of c, Principal, Name,
	// Origin and TraceID are set as far as they are known.
	Refuse(ctx context.Context, c executor.Call, f *fault.Error) executor.Result
	// Refused puts a request on record that was not authenticated. An error is
	// that it could not be; the request is refused in any case.
	Refused(ctx context.Context, r executor.Refusal) error
	// Tools lists what this principal may see now.
	Tools(ctx context.Context, p decision.Principal) (*List, error)
}

// Speaker is a Caller that speaks the protocol itself: it gets each call as the
// library read it, of which nothing has been checked, in the place of Call, and
// its answer leaves as it is, an error as one of JSON-RPC. No Caller of an
// installation is one.
type Speaker interface {
	Caller
	Speak(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error)
}

// ToolView is what a model gets to see of a tool, and all it gets to see.
type ToolView struct {
	Name        string
	Title       string // "" = none
	Description string
	InputSchema json.RawMessage // JSON Schema of type object; the order of its properties is kept
	// OutputSchema is the JSON Schema of what structuredContent holds; nil = not
	// said.
	OutputSchema json.RawMessage
	Annotations  Annotations
}

// Annotations are hints about a tool; nil means not said.
type Annotations struct {
	ReadOnly, Destructive, OpenWorld, Idempotent *bool
}
