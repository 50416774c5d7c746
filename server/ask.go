package server

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolwarrant/toolwarrant/approval"
	"github.com/toolwarrant/toolwarrant/decision"
)

// inputKey names the one question of an input_required result.
const inputKey = "approval"

// confirmSchema asks for nothing but the action itself.
var confirmSchema = json.RawMessage(`{"type":"object","properties":{}}`)

func question(prompt string) *mcp.ElicitParams {
	return &mcp.ElicitParams{Mode: "form", Message: prompt, RequestedSchema: confirmSchema}
}

// canAsk reports whether the client declared that it can show a form. The
// library does not check it for 2026-07-28. A client that names no mode means
// forms (2025-06-18 had no modes).
func canAsk(c *mcp.ClientCapabilities) bool {
	return c != nil && c.Elicitation != nil && (c.Elicitation.Form != nil || c.Elicitation.URL == nil)
}

// deferred stands for a 2026-07-28 client: it is asked by the answer to its
// call and comes back.
type deferred struct{}

func (deferred) Channel() string { return approval.ChannelInputRequired }

func (deferred) Ask(context.Context, approval.Question) (approval.Answer, error) {
	return approval.Answer{Action: approval.ActionDeferred}, nil
}

// elicitor asks over an open session of an older protocol version.
type elicitor struct {
	session   *mcp.ServerSession
	principal decision.Principal
	gone      context.Context // ends when no answer can come any more
}

func (elicitor) Channel() string { return approval.ChannelElicitation }

// Ask waits for the client until ctx ends. No answer, an answer that is not
// one of the three words, and an error are all refusals, but for the end of the
// process: then nobody has refused anything.
func (e elicitor) Ask(ctx context.Context, q approval.Question) (approval.Answer, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(e.gone, func() { cancel(errGone) })()

	by := approval.Approver{Subject: e.principal.Subject, Method: approval.ChannelElicitation, Groups: e.principal.Groups}
	res, err := e.session.Elicit(ctx, question(q.Prompt))
	switch {
	case err == nil:
		return approval.Answer{Action: actionOf(res.Action), Approver: by}, nil
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return approval.Answer{Action: approval.ActionTimeout, Approver: by}, nil
	case errors.Is(context.Cause(ctx), errStopping):
		return approval.Answer{}, approval.ErrStopping
	case ctx.Err() != nil:
		return approval.Answer{Action: approval.ActionCancel, Approver: by}, nil
	}
	return approval.Answer{Action: approval.ActionCancel, Approver: by}, err
}

func actionOf(word string) approval.Action {
	switch word {
	case "accept":
		return approval.ActionAccept
	case "cancel":
		return approval.ActionCancel
	}
	return approval.ActionDecline
}

// answerOf is the answer that a 2026-07-28 client brought back: "" when it
// brought none to our question, a refusal when it is of another kind.
func answerOf(responses mcp.InputResponseMap) approval.Action {
	r, ok := responses[inputKey]
	if !ok {
		return ""
	}
	if e, ok := r.(*mcp.ElicitResult); ok {
		return actionOf(e.Action)
	}
	return approval.ActionDecline
}
