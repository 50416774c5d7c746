package impact

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/resolver"
)

// Policy names one side of a comparison.
type Policy struct {
	Name     string `json:"policy"` // as the user named it
	Revision string `json:"revision"`
}

// Question is on whose behalf, and when, the policies are asked.
type Question struct {
	Principal decision.Principal
	Origin    decision.Origin
	Now       time.Time
}

// Tool is a tool for which the two policies differ.
type Tool struct {
	Name    string   `json:"name"`
	ToolID  string   `json:"toolId"`
	Changes []Change `json:"changes"`
}

// Has reports whether a change goes in direction d.
func (t Tool) Has(d Direction) bool {
	return slices.ContainsFunc(t.Changes, func(c Change) bool { return c.Direction == d })
}

// DiffSummary counts tools. One that is wider in one thing and tighter in
// another counts as both.
type DiffSummary struct {
	Compared  int `json:"compared"`
	Differ    int `json:"differ"`
	Widened   int `json:"widened"`
	Tightened int `json:"tightened"`
}

// DiffReport is what a change of policy changes, tool by tool.
type DiffReport struct {
	Old     Policy      `json:"old"`
	New     Policy      `json:"new"`
	Tools   []Tool      `json:"tools"` // those that differ, by name
	Summary DiffSummary `json:"summary"`
}

// Diff puts every tool to both policies and reports where the answers differ,
// to a call and to its publishing.
// It asks about the tools, not about calls: rules that read arguments see
// none. A policy that cannot decide about a tool is an error that names both.
func Diff(ctx context.Context, old, new *resolver.Resolver, tools []resolver.Tool, q Question) (*DiffReport, error) {
	r := &DiffReport{
		Old: Policy{old.Policy(), old.Revision()}, New: Policy{new.Policy(), new.Revision()}, Tools: []Tool{},
		Summary: DiffSummary{Compared: len(tools)},
	}
	if q.Now.IsZero() {
		q.Now = time.Now() // one moment for both: a rule may read the time
	}
	all, err := authors(ctx, q, old, new)
	if err != nil {
		return nil, err
	}
	for _, tool := range tools {
		before, err := ask(ctx, old, tool, q)
		if err != nil {
			return nil, err
		}
		after, err := ask(ctx, new, tool, q)
		if err != nil {
			return nil, err
		}
		changes := Compare(before, after)
		if before.Decision != nil && after.Decision != nil {
			published, err := publishing(ctx, old, new, tool, all)
			if err != nil {
				return nil, err
			}
			changes = append(changes, published...)
		}
		if len(changes) > 0 {
			r.add(Tool{Name: tool.Spec.Name, ToolID: tool.Spec.ToolID, Changes: changes})
		}
	}
	slices.SortFunc(r.Tools, func(a, b Tool) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ToolID, b.ToolID))
	})
	return r, nil
}

func (r *DiffReport) add(t Tool) {
	r.Tools = append(r.Tools, t)
	r.Summary.Differ++
	if t.Has(Widened) {
		r.Summary.Widened++
	}
	if t.Has(Tightened) {
		r.Summary.Tightened++
	}
}

// Refused reports whether a gate does not let the new policy pass.
func (r *DiffReport) Refused(g Gate) bool {
	return g.Refuses(r.Summary.Widened > 0, r.Summary.Differ > 0)
}

// ask puts one question about a tool to one policy.
func ask(ctx context.Context, p *resolver.Resolver, tool resolver.Tool, q Question) (Answer, error) {
	d, err := p.Resolve(ctx, resolver.Request{Tool: tool, Principal: q.Principal, Origin: q.Origin, Now: q.Now})
	seen := []bool{false}
	if err == nil {
		seen, err = p.Visible(ctx, q.Principal, []resolver.Tool{tool})
	}
	a, err := AnswerOf(d, err, seen != nil && seen[0])
	if err != nil {
		return Answer{}, about(err, p, tool)
	}
	return a, nil
}

// about says which policy could not decide about which tool.
func about(err error, p *resolver.Resolver, tool resolver.Tool) error {
	f := fault.From(err)
	out := *f
	out.Message = "the policy " + p.Policy() + " has no answer about the tool " + tool.Spec.Name + ": " + f.Message
	return out.Because(err)
}
