package catalog_test

import (
	"context"
	"testing"
	"time"

	"github.com/toolwarrant/toolwarrant/catalog"
	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/executor/broker"
	"github.com/toolwarrant/toolwarrant/executor/egress"
	"github.com/toolwarrant/toolwarrant/executor/worker"
	"github.com/toolwarrant/toolwarrant/resolver"
)

// builtinPolicy is the embedded policy, compiled once for a test.
func builtinPolicy(t *testing.T, o resolver.Operator) *resolver.Resolver {
	t.Helper()
	if o.BasePath == "" {
		o.BasePath = t.TempDir()
	}
	policy, err := resolver.New(context.Background(), resolver.Options{Policy: resolver.Builtin, Operator: o})
	if err != nil {
		t.Fatal(err)
	}
	return policy
}

func decide(t *testing.T, policy *resolver.Resolver, tool *catalog.Tool) *decision.Decision {
	t.Helper()
	d, err := policy.Resolve(context.Background(), resolver.Request{
		Tool:      resolver.Tool{Spec: tool.Spec, Source: string(tool.Source), ManifestEnv: tool.Env},
		Principal: decision.Principal{Subject: "local", Method: "none"},
		Origin:    decision.OriginCLITest, Now: time.Now(),
	})
	if err != nil {
		t.Fatalf("%s: %v", tool.Spec.Name, err)
	}
	return d
}

// newBroker serves a tool's effects under policy, its fetches from its
// fixtures unless opts name a network.
func newBroker(t *testing.T, tool *catalog.Tool, policy decision.EffectivePolicy, opts broker.Options) worker.Broker {
	t.Helper()
	if opts.Egress == nil {
		fixtures, _, err := catalog.Fixtures(tool)
		if err != nil {
			t.Fatal(err)
		}
		opts.Fetcher = recorded{t, fixtures}
	}
	b, err := broker.New(policy, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	return b
}

// recorded answers fetches from fixtures.
type recorded struct {
	t        *testing.T
	fixtures []catalog.Fixture
}

// Fetch implements broker.Fetcher.
func (r recorded) Fetch(_ context.Context, req egress.Request) (*egress.Response, *worker.Failure) {
	if req.MaxLength == nil {
		r.t.Errorf("the request for %s has no maxLength", req.URL)
	}
	f, ok := catalog.MatchFixture(r.fixtures, req.Method, req.URL)
	if !ok {
		r.t.Errorf("no fixture for %s %s", req.Method, req.URL)
		return nil, &worker.Failure{Code: "HELPER_RUNTIME", Reason: "io", Message: "no fixture"}
	}
	resp := &egress.Response{Status: f.Response.Status, URL: req.URL, Body: f.Response.Bytes()}
	for name, value := range f.Response.Headers {
		resp.Headers = append(resp.Headers, egress.Header{Name: name, Value: value})
	}
	return resp, nil
}
