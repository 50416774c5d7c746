package server

import (
	"context"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/toolwarrant/toolwarrant/catalog"
	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/executor"
	"github.com/toolwarrant/toolwarrant/resolver"
	"github.com/toolwarrant/toolwarrant/service"
)

// governed is the Caller of an open installation.
type governed struct {
	s *service.Service
	// views remembers what a tool looks like under one policy revision: the
	// listing of many tools is then one question to the policy, not one each.
	views *lru.Cache[viewKey, ToolView]
}

type viewKey struct{ revision, name, digest string }

// rememberedViews bounds the memory of governed.
const rememberedViews = 20_000

// Governed serves the tools of s, each call through its pipeline.
func Governed(s *service.Service) Caller {
	views, err := lru.New[viewKey, ToolView](rememberedViews)
	if err != nil { // only a size below one is an error
		panic(err)
	}
	return &governed{s: s, views: views}
}

// Call implements Caller.
func (g *governed) Call(ctx context.Context, c CallRequest) CallResult {
	r := g.s.Engine.Call(ctx, executor.Call{
		Principal: c.Principal, Origin: c.Origin, Name: c.Tool, Args: c.Args, TraceID: c.TraceID,
		Asker: c.Asker, State: c.State, Answer: c.Answer,
	})
	out := CallResult{CallID: r.CallID, Value: r.Value, Err: r.Err}
	if r.Decision != nil {
		out.DecisionID = r.Decision.DecisionID
	}
	if p := r.Pending; p != nil {
		out.ErrExtra = map[string]any{"approvalId": p.ApprovalID, "retryAfterMs": p.RetryAfterMs}
	}
	if in := r.InputRequired; in != nil {
		out.InputRequired = &InputRequired{State: in.State, Prompt: in.Prompt, ExpirySeconds: in.ExpirySeconds}
	}
	return out
}

// Tools implements Caller.
func (g *governed) Tools(ctx context.Context, p decision.Principal) ([]ToolView, string, error) {
	policy := g.s.Policy.Revision()
	tools, err := g.s.Visible(ctx, p)
	if err != nil {
		return nil, "", err
	}
	views := make([]ToolView, 0, len(tools))
	for _, t := range tools {
		key := viewKey{policy, t.Spec.Name, t.Spec.Digest()}
		v, known := g.views.Get(key)
		if !known {
			o, err := g.s.Outlook(ctx, t, p)
			if err != nil {
				continue // a tool that the policy rejects cannot be called either
			}
			v = view(t, o)
			g.views.Add(key, v)
		}
		views = append(views, v)
	}
	return views, policy + "/" + g.s.Catalog.Revision(), nil
}

// view is the model's part of a tool: name, description and parameters, with
// hints that follow from what the decision lets it do.
func view(t *catalog.Tool, o resolver.Outlook) ToolView {
	p := o.EffectivePolicy
	network := p.Network.Mode != "blocked"
	readOnly := !network && !p.FS.Write && o.RiskLevel < "L4"
	destructive := p.FS.Write || o.RiskLevel == "L5"
	v := ToolView{Name: t.Spec.Name, Description: t.Spec.Description, InputSchema: t.Spec.InputSchema()}
	v.Annotations.ReadOnly, v.Annotations.OpenWorld = &readOnly, &network
	if !readOnly {
		v.Annotations.Destructive = &destructive
	}
	return v
}
