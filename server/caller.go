package server

import (
	"context"
	"encoding/json"

	"github.com/toolwarrant/toolwarrant/approval"
	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/fault"
)

// Caller is what stands behind the door. Implementations are safe for
// concurrent use.
type Caller interface {
	// Call runs one governed call to its end, or as far as it gets before a
	// human has to answer. It must return when ctx ends.
	Call(ctx context.Context, c CallRequest) CallResult
	// Tools lists what this principal may see now.
	Tools(ctx context.Context, p decision.Principal) (*List, error)
	// Refused puts a request on record that was not authenticated. An error is
	// that it could not be; the request is refused in any case.
	Refused(ctx context.Context, r RefusedRequest) error
}

// CallRequest is one tools/call, whatever wire it came over.
type CallRequest struct {
	Principal decision.Principal
	Tool      string
	Args      json.RawMessage // as sent; nil when the client sent none
	Origin    decision.Origin
	TraceID   string // W3C trace-id, 32 lower-case hex digits, or ""
	// TraceParent is the valid traceparent that TraceID was taken from, or "".
	TraceParent string
	// Asker is nil when the client cannot be asked in-band.
	Asker approval.Asker
	// State is the requestState that the client brought back; "" on a first
	// call. Nothing about it has been checked.
	State string
	// Answer is the answer that came together with State; "" when none did.
	Answer approval.Action
	// Running is called when the code of the tool starts to run; nil when
	// nobody wants to know.
	Running func()
}

// CallResult is the end of a call, or the question that stands before it.
// Exactly one of Value, Err and InputRequired counts: InputRequired before
// Err before Value.
type CallResult struct {
	CallID     string
	DecisionID string
	Value      json.RawMessage // what the tool returned; nil or "null" is a result too
	Err        *fault.Error
	// ErrExtra are further fields of the error for the client, such as
	// approvalId and retryAfterMs.
	ErrExtra map[string]any
	// Note tells the model what it has to know of the result, "" = nothing.
	Note string
	// InputRequired asks the client to ask its human and to retry. Only for
	// calls whose Asker has the channel approval.ChannelInputRequired.
	InputRequired *InputRequired
	// Wire is the answer of a Caller that speaks the protocol itself, and goes
	// before all of the above; nil for every governed call.
	Wire *Wire
}

// Refuser is a Caller that also records calls which the protocol refused before
// they could be made: the record is all there is of them.
type Refuser interface {
	// Refuse records that a call ended with f. Of c, Principal, Tool, Origin and
	// TraceID are set as far as they are known.
	Refuse(ctx context.Context, c CallRequest, f *fault.Error)
}

// InputRequired is a question that the client puts to its human.
type InputRequired struct {
	State         string // sealed; comes back in CallRequest.State
	Prompt        string
	ExpirySeconds int64
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
