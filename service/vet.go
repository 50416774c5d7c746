package service

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/toolwarrant/toolwarrant/catalog"
	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/resolver"
)

// vetTime and vetEach, for each tool, bound the decisions about a whole
// catalog: a policy that needs longer would make each list of tools wait.
const (
	vetTime = 30 * time.Second
	vetEach = 10 * time.Millisecond
)

// Vet asks a policy about every tool of the catalog, for a list and for a
// call. A decision is an answer, whether it allows or not, and so is a tool
// that the layers reject. A policy that gives none, or not in time, is not
// put into force: it would refuse every call of the tool.
func Vet(ctx context.Context, policy *resolver.Resolver, tools []*catalog.Tool) error {
	return vet(ctx, policy, tools, vetTime+time.Duration(len(tools))*vetEach)
}

func vet(ctx context.Context, policy *resolver.Resolver, tools []*catalog.Tool, within time.Duration) error {
	limited, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	who := decision.Principal{Subject: "local", Method: "none", Groups: []string{}, Scopes: []string{}, Untrusted: true}
	for _, t := range tools {
		for _, origin := range []decision.Origin{decision.OriginList, decision.OriginMCPHTTP} {
			req := resolver.Request{Tool: policyTool(t), Principal: who, Origin: origin}
			if origin != decision.OriginList {
				req.Args = json.RawMessage("{}")
			}
			// A decision that is made in no time may not notice that time is up.
			err := limited.Err()
			if err == nil {
				_, err = policy.Resolve(limited, req)
			}
			var rejected *resolver.Rejection
			switch {
			case err == nil, errors.As(err, &rejected):
			case ctx.Err() != nil:
				return fault.New(fault.PolicyUnavailable, "canceled", "the policy %s was not tried to the end", policy.Policy()).Because(ctx.Err())
			case limited.Err() != nil:
				return fault.New(fault.PolicyUnavailable, "policy-too-slow", "the policy %s did not decide about the %d tools of the catalog within %s", policy.Policy(), len(tools), within)
			default:
				f := fault.From(err)
				return fault.New(fault.PolicyUnavailable, "policy-catalog-failed", "the policy %s does not decide about the tool %s: %s (%s)", policy.Policy(), t.Spec.Name, f.Message, f.Reason).Because(err)
			}
		}
	}
	return nil
}

// Try does with a policy what a server does before it puts it into force: the
// policy's own tests, then every tool of the catalog. The tally is nil where
// the tests could not be run.
func Try(ctx context.Context, o resolver.Options, tools []*catalog.Tool) (*resolver.Tally, error) {
	var tally *resolver.Tally
	o.Tested = func(t resolver.Tally) { tally = &t }
	o.Vet = func(ctx context.Context, candidate *resolver.Resolver) error { return Vet(ctx, candidate, tools) }
	_, err := resolver.New(ctx, o)
	return tally, err
}
