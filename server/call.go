package server

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolwarrant/toolwarrant/approval"
	"github.com/toolwarrant/toolwarrant/executor"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/internal/optional"
)

// metaCallID is where a result names its call for the logs of the client.
const metaCallID = "dev.toolwarrant/callId"

// call serves one tools/call, of any protocol version, over any transport.
func (d *door) call(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if by, ok := d.caller.(Speaker); ok {
		return by.Speak(ctx, req)
	}
	c := d.toCall(req)
	p := d.progressOf(ctx, req)
	c.Running = p.running()
	if c.Asker != nil && p != nil {
		c.Asker = asking{c.Asker, p}
	}
	defer p.stop()
	return toResult(d.safeCall(ctx, c), c), nil
}

// toCall reads the decoded request. What it leaves out has no influence.
func (d *door) toCall(req *mcp.CallToolRequest) executor.Call {
	c := executor.Call{
		Principal: d.principal(req.Extra, req.ClientInfo()),
		Name:      req.Params.Name,
		Args:      req.Params.Arguments,
		Origin:    d.origin,
	}
	c.TraceID, c.TraceParent = traceOf(req)
	era := eraOf(req)
	if era == eraModern {
		// inputResponses without the state that we sealed are made up.
		if req.Params.RequestState != "" {
			c.State, c.Answer = req.Params.RequestState, answerOf(req.Params.InputResponses)
		}
	}
	if canAsk(req.ClientCapabilities()) {
		switch era {
		case eraModern:
			c.Asker = deferred{}
		case eraLegacy:
			c.Asker = elicitor{req.Session, c.Principal, d.gone(req.Extra)}
		}
	}
	return c
}

// safeCall turns a panic below into an INTERNAL result of this one call.
func (d *door) safeCall(ctx context.Context, c executor.Call) (res executor.Result) {
	defer func() {
		if p := recover(); p != nil {
			d.log.Error().Str("tool", c.Name).Str("panic", panicText(p)).Bytes("stack", debug.Stack()).Msg("panic in a tool call")
			res = executor.Result{Err: internalError()}
		}
	}()
	return d.caller.Call(ctx, c)
}

// panicText is what the log may show of a panic: the message of the Go run time,
// else the kind of the value alone, which could hold text of a call.
func panicText(p any) string {
	if err, ok := p.(runtime.Error); ok {
		return err.Error()
	}
	return fmt.Sprintf("%T", p)
}

func internalError() *fault.Error {
	return fault.New(fault.Internal, "unexpected", "toolwarrant itself failed; the operator finds the cause in its log")
}

// toResult writes the outcome for the client. A question is passed on only to
// a client that can be asked that way; for any other it is a refusal.
func toResult(r executor.Result, c executor.Call) *mcp.CallToolResult {
	if in := r.InputRequired; in != nil {
		if c.Asker != nil && c.Asker.Channel() == approval.ChannelInputRequired && in.State != "" {
			return &mcp.CallToolResult{
				Meta:          mcp.Meta{metaCallID: r.CallID, "dev.toolwarrant/expirySeconds": in.ExpirySeconds},
				Content:       []mcp.Content{}, // null is no content in any version
				InputRequests: mcp.InputRequestMap{inputKey: question(in.Prompt)},
				RequestState:  in.State,
			}
		}
		r.Err = approval.Denied(approval.ReasonUnsupported)
	}
	if r.Err == nil && len(r.Value) > 0 && !jsontext.Value(r.Value).IsValid() {
		r.Err = internalError()
	}
	if r.Err != nil {
		return failure(r)
	}
	res := &mcp.CallToolResult{Meta: mcp.Meta{metaCallID: r.CallID}, Content: []mcp.Content{}}
	if r.Note != "" {
		defer func() { res.Content = append(res.Content, &mcp.TextContent{Text: r.Note}) }()
	}
	if len(r.Value) == 0 {
		return res
	}
	text := string(r.Value)
	switch jsontext.Value(r.Value).Kind() {
	case '"':
		if s, err := jsontext.AppendUnquote(nil, []byte(r.Value)); err == nil {
			text = string(s)
		}
	case '{':
		res.StructuredContent = r.Value
	}
	res.Content = append(res.Content, &mcp.TextContent{Text: text})
	return res
}

// failureView is a failure as a program reads it. The last two are there where
// another attempt makes sense.
type failureView struct {
	CallID       *string    `json:"callId"`
	Code         fault.Code `json:"code"`
	DecisionID   *string    `json:"decisionId"`
	Message      *string    `json:"message"`
	Reason       *string    `json:"reason"`
	ApprovalID   string     `json:"approvalId,omitempty"`
	RetryAfterMs int64      `json:"retryAfterMs,omitempty"`
}

// failure is a result that the model can read and a program can evaluate.
func failure(r executor.Result) *mcp.CallToolResult {
	v := failureView{
		CallID: optional.Of(r.CallID), Code: r.Err.Code, Message: optional.Of(r.Err.Message), Reason: optional.Of(r.Err.Reason),
		ApprovalID: r.ApprovalID, RetryAfterMs: r.RetryAfterMs,
	}
	if r.Decision != nil {
		v.DecisionID = optional.Of(r.Decision.DecisionID)
	}
	return &mcp.CallToolResult{
		Meta: mcp.Meta{metaCallID: r.CallID}, IsError: true, StructuredContent: map[string]failureView{"error": v},
		Content: []mcp.Content{&mcp.TextContent{Text: strings.TrimSpace(tell(r) + " " + r.Note)}},
	}
}

// tell says it to the model: what happened, whether anything ran, and whether
// trying again makes sense.
func tell(r executor.Result) string {
	e := r.Err
	text := string(e.Code)
	if e.Reason != "" {
		text += " (" + e.Reason + ")"
	}
	text += ": " + e.Message
	if !strings.HasSuffix(text, ".") && !strings.HasSuffix(text, "?") {
		text += "."
	}
	switch {
	case e.Code == fault.ApprovalPending:
		if r.RetryAfterMs > 0 {
			text += fmt.Sprintf(" Wait at least %d ms between attempts.", r.RetryAfterMs)
		}
	case e.Code == fault.RateLimited && r.RetryAfterMs > 0:
		text += fmt.Sprintf(" Wait at least %d ms before the next attempt. The tool was not run.", r.RetryAfterMs)
	case e.Code == fault.ApprovalDenied:
		if !strings.HasSuffix(e.Message, "for this request.") { // which says so itself
			text += " The tool was not run. Do not call it again for this request."
		}
	case e.Code.Outcome() == fault.Denied:
		text += " The tool was not run."
	}
	return text
}
