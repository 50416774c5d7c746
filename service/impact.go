package service

import (
	"context"

	"github.com/toolwarrant/toolwarrant/catalog"
	"github.com/toolwarrant/toolwarrant/config"
	"github.com/toolwarrant/toolwarrant/impact"
	"github.com/toolwarrant/toolwarrant/resolver"
)

// Candidate compiles a policy that is looked at and not put into force: its
// own tests need not pass. It has what the operator of this installation set.
func Candidate(ctx context.Context, home string, cfg *config.Config, policy string) (*resolver.Resolver, error) {
	return resolver.New(ctx, resolver.Options{Policy: policy, Operator: Operator(home, cfg), Untested: true})
}

// DiffPolicies says what changes for the tools of this installation, active
// or not, from one policy to another.
func DiffPolicies(ctx context.Context, home string, cfg *config.Config, from, to string, q impact.Question) (*impact.DiffReport, error) {
	old, err := Candidate(ctx, home, cfg, from)
	if err != nil {
		return nil, err
	}
	new, err := Candidate(ctx, home, cfg, to)
	if err != nil {
		return nil, err
	}
	tools, err := OpenCatalog(ctx, home, cfg)
	if err != nil {
		return nil, err
	}
	all, err := tools.List(ctx)
	if err != nil {
		return nil, err
	}
	asked := make([]resolver.Tool, len(all))
	for i, t := range all {
		asked[i] = asPolicySees(t)
	}
	return impact.Diff(ctx, old, new, asked, q)
}

// asPolicySees is a tool of the catalog as the policy reads it.
func asPolicySees(t *catalog.Tool) resolver.Tool {
	return resolver.Tool{Spec: t.Spec, Source: string(t.Source), ManifestEnv: t.Env}
}
