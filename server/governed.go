package server

import (
	"context"

	"github.com/toolwarrant/toolwarrant/catalog"
	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/executor"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/resolver"
	"github.com/toolwarrant/toolwarrant/service"
)

// governed is the Caller of an open installation.
type governed struct {
	s     *service.Service
	lists *lister
}

// Governed serves the tools of s, each call through its pipeline.
func Governed(s *service.Service) Caller {
	return &governed{s: s, lists: newLister(s, maxListBytes)}
}

// Call implements Caller.
func (g *governed) Call(ctx context.Context, c CallRequest) CallResult {
	r := g.s.Engine.Call(ctx, executor.Call{
		Principal: c.Principal, Origin: c.Origin, Name: c.Tool, Args: c.Args, TraceID: c.TraceID, TraceParent: c.TraceParent,
		Asker: c.Asker, State: c.State, Answer: c.Answer, Running: c.Running,
	})
	out := CallResult{CallID: r.CallID, Value: r.Value, Err: r.Err, Note: r.Note}
	if r.Decision != nil {
		out.DecisionID = r.Decision.DecisionID
	}
	if p := r.Pending; p != nil {
		out.ErrExtra = map[string]any{"approvalId": p.ApprovalID, "retryAfterMs": p.RetryAfterMs}
	}
	if r.RetryAfterMs > 0 {
		out.ErrExtra = map[string]any{"retryAfterMs": r.RetryAfterMs}
	}
	if in := r.InputRequired; in != nil {
		out.InputRequired = &InputRequired{State: in.State, Prompt: in.Prompt, ExpirySeconds: in.ExpirySeconds}
	}
	return out
}

// Refuse implements Refuser.
func (g *governed) Refuse(ctx context.Context, c CallRequest, f *fault.Error) {
	g.s.Engine.Refuse(ctx, executor.Call{Principal: c.Principal, Origin: c.Origin, Name: c.Tool, TraceID: c.TraceID}, f)
}

// Tools implements Caller.
func (g *governed) Tools(ctx context.Context, p decision.Principal) (*List, error) {
	return g.lists.list(ctx, p)
}

// Refused implements Caller.
func (g *governed) Refused(ctx context.Context, r RefusedRequest) error {
	return g.s.Engine.Refused(ctx, executor.Refusal(r))
}

// hints are what a decision lets a tool do, as far as a list tells.
type hints uint8

const (
	hintReadOnly hints = 1 << iota
	hintOpenWorld
	hintDestructive
)

func hintsOf(o resolver.Outlook) hints {
	var h hints
	p := o.EffectivePolicy
	network := p.Network.Mode != "blocked"
	if network {
		h |= hintOpenWorld
	}
	switch {
	case !network && !p.FS.Write && o.RiskLevel < "L4":
		h |= hintReadOnly
	case p.FS.Write || o.RiskLevel == "L5":
		h |= hintDestructive
	}
	return h
}

// view is the model's part of a tool: name, description and parameters, with
// hints that follow from what the decision lets it do.
func view(t *catalog.Tool, h hints) ToolView {
	is := func(hint hints) *bool { b := h&hint != 0; return &b }
	v := ToolView{Name: t.Spec.Name, Description: t.Spec.Description, InputSchema: t.Spec.InputSchema(), OutputSchema: t.Spec.OutputSchema()}
	v.Annotations.ReadOnly, v.Annotations.OpenWorld = is(hintReadOnly), is(hintOpenWorld)
	if h&hintReadOnly == 0 {
		v.Annotations.Destructive = is(hintDestructive)
	}
	return v
}
