package server

import (
	"context"

	"github.com/toolwarrant/toolwarrant/catalog"
	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/executor"
	"github.com/toolwarrant/toolwarrant/resolver"
	"github.com/toolwarrant/toolwarrant/service"
)

// governed is the Caller of an open installation.
type governed struct {
	*executor.Engine
	lists *lister
}

// Governed serves the tools of s, each call through its pipeline.
func Governed(s *service.Service) Caller { return governed{s.Engine, newLister(s, maxListBytes)} }

// Tools implements Caller.
func (g governed) Tools(ctx context.Context, p decision.Principal) (*List, error) {
	return g.lists.list(ctx, p)
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
