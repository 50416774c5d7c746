package attack

import (
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/toolwarrant/toolwarrant/approval"
	"github.com/toolwarrant/toolwarrant/approval/approvaltest"
	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/catalog"
	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/executor"
	"github.com/toolwarrant/toolwarrant/executor/secret"
	"github.com/toolwarrant/toolwarrant/executor/worker"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/resolver"
	"github.com/toolwarrant/toolwarrant/spec"
)

// pipeline gives the engine its tools and its decision.
type pipeline struct {
	tools  map[string]*catalog.Tool
	limits worker.Limits
	rig    *rig
}

func (p *pipeline) Lookup(_ context.Context, name string) (*catalog.Tool, error) {
	if tool, ok := p.tools[name]; ok {
		return tool, nil
	}
	return nil, fault.New(fault.NotFound, "unknown-tool", "there is no tool %q", name)
}

func (p *pipeline) Exposed(*catalog.Tool) (bool, string) { return true, "" }

func (p *pipeline) Visible(context.Context, decision.Principal, []resolver.Tool) ([]bool, error) {
	return []bool{true}, nil
}

func (p *pipeline) Artefact(string) (resolver.Artefact, bool) { return resolver.Artefact{}, false }

func (p *pipeline) Resolve(context.Context, resolver.Request) (*decision.Decision, error) {
	policy := p.rig.policy
	policy.MaxStatements, policy.TimeoutSeconds = p.limits.MaxStatements, max(1, p.limits.TimeoutMillis/1000)
	policy.MaxMemoryBytes, policy.MaxOutputBytes, policy.MaxLogLines = p.limits.MaxMemoryBytes, p.limits.MaxOutputBytes, p.limits.MaxLogLines
	return &decision.Decision{
		DecisionID: "d", DecidedAt: "2026-01-01T00:00:00.000Z", Allow: true, PolicyRevision: "sha256:0", ProfileChain: []string{},
		EffectivePolicy: policy, RiskLevel: "L3", RiskSignals: []decision.Signal{}, Reasons: []decision.Reason{},
		HumanInTheLoop: decision.HumanInTheLoop{Mode: "DISABLED", Channels: []string{}},
		Isolation:      decision.IsolationMinimum{Minimum: "in-process"},
	}, nil
}

var everyRecord = flag.Bool("every-record", false, "send each attack through the pipeline in TestRecords, not one of each class")

// TestRecords sends one attack of each class through the whole pipeline, or
// all of them, and reads its code out of the audit log.
func TestRecords(t *testing.T) {
	g := newRig(t)
	defer g.Close()
	dir := t.TempDir()
	log, err := audit.Open(dir, audit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p := &pipeline{tools: map[string]*catalog.Tool{}, rig: g}
	e, err := executor.New(executor.Components{
		Catalog: p, Policy: p, Audit: log, Runtime: g.Runtime, Keys: approvaltest.Keys{"k"}, Broker: g.opts,
		Approvals: approval.NewGate(&approvaltest.Memory{}, approvaltest.Keys{"k"}, nil),
		Secrets:   secret.New(filepath.Join(t.TempDir(), "none"), func(string) (string, bool) { return "", false }),
		Now:       time.Now, Logger: zerolog.Nop(),
	})
	if err != nil {
		t.Fatal(err)
	}
	want, seen := map[string]string{}, map[string]int{}
	for _, a := range attacks() {
		// Sources that a document cannot carry never get this far.
		if a.process && inProcess(g) || !*everyRecord && (strings.HasPrefix(a.want, "= ") || seen[a.class] > 0) || len(a.code) > 60_000 || strings.Contains(a.code, "\x00") {
			continue
		}
		doc, _ := json.Marshal(map[string]any{"name": "attack", "codeType": "Javascript", "code": a.code, "params": []any{},
			"staticVariables": []any{map[string]string{"BASE": g.base}}})
		s, errs := spec.Parse("tool.json", doc)
		if len(errs) > 0 {
			t.Logf("%s/%s: no such document: %v", a.class, a.name, errs[0])
			continue
		}
		seen[a.class]++
		p.tools["attack"] = &catalog.Tool{Spec: s, Source: catalog.SourceUser, State: catalog.StateActive}
		p.limits = g.call(a.code, a.limits).Limits
		res := e.Call(t.Context(), executor.Call{Name: "attack", Origin: decision.OriginCLIRun, Principal: decision.Principal{Subject: "local", Method: "none"}})
		if ok := strings.HasPrefix(a.want, "= "); ok != (res.Err == nil) {
			t.Errorf("%s/%s ended with %v", a.class, a.name, res.Err)
		}
		want[res.CallID] = a.want
	}
	if err := log.Shutdown(context.Background()); err != nil {
		t.Fatal(err)
	}
	closed := 0
	raw, err := os.ReadFile(log.Path())
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(raw)) {
		var r struct {
			Phase, CallID, Outcome string
			Error                  *struct{ Code, Reason string }
			Isolation              *worker.Isolation
		}
		if json.Unmarshal([]byte(line), &r) != nil || r.Phase != "close" {
			continue
		}
		closed++
		switch ended := want[r.CallID]; {
		case strings.HasPrefix(ended, "= "):
			if r.Error != nil || r.Outcome != "OK" {
				t.Errorf("the record says %s %+v, want %s", r.Outcome, r.Error, ended)
			}
		case r.Error == nil || r.Error.Code+"/"+r.Error.Reason != ended || r.Outcome != "ERROR":
			t.Errorf("the record says %s %+v, want %s", r.Outcome, r.Error, ended)
		}
		if r.Isolation == nil || r.Isolation.Mode != g.Isolation().Mode {
			t.Errorf("the record says isolation %+v", r.Isolation)
		}
	}
	if closed != len(want) || closed < 12 {
		t.Errorf("%d close records for %d calls", closed, len(want))
	}
	t.Logf("%d records, by class %v", closed, seen)
}
