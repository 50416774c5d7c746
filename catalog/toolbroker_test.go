package catalog_test

import (
	"context"
	"strings"
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
		recording, _, err := catalog.Fixtures(tool)
		if err != nil {
			t.Fatal(err)
		}
		opts.Fetcher = recorded{t, recording}
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
	t *testing.T
	catalog.Recording
}

// Fetch implements broker.Fetcher.
func (r recorded) Fetch(_ context.Context, req egress.Request) (*egress.Response, *worker.Failure) {
	if req.MaxLength == nil {
		r.t.Errorf("the request for %s has no maxLength", req.URL)
	}
	header := func(name string) string {
		for _, h := range req.Headers {
			if strings.EqualFold(h.Name, name) {
				return h.Value
			}
		}
		return ""
	}
	f, ok := r.Match(catalog.Sent{Method: req.Method, URL: req.URL, Header: header, Body: req.Body})
	if !ok {
		r.t.Errorf("no fixture for %s %s with headers %v and the body %s", req.Method, req.URL, req.Headers, req.Body)
		return nil, &worker.Failure{Code: "HELPER_RUNTIME", Reason: "io", Message: "no fixture"}
	}
	resp := &egress.Response{Status: f.Response.Status, URL: req.URL, Body: f.Response.Bytes()}
	for name, value := range f.Response.Headers {
		resp.Headers = append(resp.Headers, egress.Header{Name: name, Value: value})
	}
	return resp, nil
}
