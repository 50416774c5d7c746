package resolver

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/fault"
)

func TestResolvePlainTool(t *testing.T) {
	r := newResolver(t, Options{Operator: Operator{BasePath: "/base"}})
	s := doc(t, nil)
	d, err := r.Resolve(context.Background(), request(s))
	if err != nil {
		t.Fatal(err)
	}
	if d.DecisionID == "" || d.DecidedAt != "2026-01-02T12:00:00.000Z" || d.PolicyRevision != r.Revision() {
		t.Errorf("ids: %q %q %q", d.DecisionID, d.DecidedAt, d.PolicyRevision)
	}
	if !strings.HasPrefix(r.Revision(), "sha256:") || len(r.Revision()) != 71 {
		t.Errorf("revision %q", r.Revision())
	}
	want := decision.EffectivePolicy{
		AllowClasses: []string{"java.lang.*", "java.math.*", "java.text.*", "java.time.*", "java.util.*"},
		DenyClasses: []string{
			"java.lang.Class", "java.lang.ClassLoader", "java.lang.Process", "java.lang.ProcessBuilder",
			"java.lang.Runtime", "java.lang.System", "java.lang.Thread", "java.lang.ThreadGroup",
			"java.lang.invoke.*", "java.lang.reflect.*", "java.util.ServiceLoader", "java.util.spi.*",
		},
		Network:       decision.Network{Mode: "blocked", Hosts: []string{}, HostsDeny: []string{}, Ports: []int{}, PrivateHosts: []string{}},
		FS:            decision.FS{BasePath: "/base"},
		Env:           []string{},
		MaxStatements: 500000, TimeoutSeconds: 30, MaxMemoryBytes: 128 << 20, MaxOutputBytes: 1 << 20, MaxLogLines: 1000,
	}
	if diff := cmp.Diff(want, d.EffectivePolicy); diff != "" {
		t.Errorf("effective policy (-want +got):\n%s", diff)
	}
	if !d.Allow || d.RiskLevel != "L0" || d.HumanInTheLoop.Mode != "DISABLED" || d.HumanInTheLoop.Source != "default" {
		t.Errorf("allow %v, level %s, approval %+v", d.Allow, d.RiskLevel, d.HumanInTheLoop)
	}
	raw, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(raw), "null") {
		t.Errorf("a field is null: %s", raw)
	}
}

// The levels of the canonical examples, Safe Tool Spec section 17.
func TestCanonicalExamples(t *testing.T) {
	r := newResolver(t, Options{})
	for _, tt := range []struct {
		name  string
		set   map[string]any
		level string
	}{
		{"17.1 base64", map[string]any{}, "L0"},
		{"17.2 getUpbitTicker", map[string]any{"networkMode": "allowlist", "hostsAllow": []string{"api.upbit.com"}}, "L3"},
		{"17.3 searchNaver", map[string]any{"networkMode": "allowlist", "hostsAllow": []string{"openapi.naver.com"}}, "L3"},
		{"17.4 extractPageContent", map[string]any{"networkMode": "strict"}, "L3"},
		{"17.5 readTextFile", map[string]any{"fileRead": true}, "L3"},
		{"17.6 writeTextFile", map[string]any{"fileWrite": true}, "L4"},
		{"17.7 evalExpression", nil, "L0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fields := map[string]any{}
			if tt.set != nil {
				fields = overrides(tt.set)
			}
			d, err := r.Resolve(context.Background(), request(doc(t, fields)))
			if err != nil {
				t.Fatal(err)
			}
			if d.RiskLevel != tt.level {
				t.Errorf("level %s, want %s", d.RiskLevel, tt.level)
			}
			if want := tt.level != "L0"; d.HumanInTheLoop.Required() != want {
				t.Errorf("approval required = %v, want %v", d.HumanInTheLoop.Required(), want)
			}
		})
	}
}

// TestDeclaredWidening: what a document asks for beyond the baseline is a level
// that is seen before it is published, and a human is asked from L3 on.
func TestDeclaredWidening(t *testing.T) {
	r := newResolver(t, Options{})
	for _, tt := range []struct {
		name, level, signal string
		set                 map[string]any
	}{
		{"a named API server", "L3", "network-allowlist", map[string]any{"networkMode": "allowlist", "hostsAllow": []string{"api.internal.example"}}},
		{"raw reading of files", "L4", "allow-file-read", map[string]any{"addAllowClasses": []string{"java.io.File"}}},
		{"raw writing of files", "L5", "allow-file-write", map[string]any{"addAllowClasses": []string{"java.io.FileWriter"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d, err := r.Resolve(context.Background(), request(doc(t, overrides(tt.set))))
			if err != nil {
				t.Fatal(err)
			}
			if d.RiskLevel != tt.level || !d.HumanInTheLoop.Required() {
				t.Errorf("level %s, want %s; approval %+v", d.RiskLevel, tt.level, d.HumanInTheLoop)
			}
			if !slices.ContainsFunc(d.RiskSignals, func(s decision.Signal) bool { return s.ID == tt.signal }) {
				t.Errorf("no signal %s in %+v", tt.signal, d.RiskSignals)
			}
		})
	}
}

func TestEmptyOverridesEqualNone(t *testing.T) {
	r := newResolver(t, Options{})
	var got []decision.Decision
	for _, fields := range []map[string]any{nil, overrides(map[string]any{}), {"sandboxOverrides": nil}} {
		d, err := r.Resolve(context.Background(), request(doc(t, fields)))
		if err != nil {
			t.Fatal(err)
		}
		d.DecisionID = ""
		got = append(got, *d)
	}
	for _, other := range got[1:] {
		if diff := cmp.Diff(got[0], other); diff != "" {
			t.Errorf("the decisions differ:\n%s", diff)
		}
	}
}

func TestRejections(t *testing.T) {
	r := newResolver(t, Options{Operator: Operator{BasePath: "/base", Roots: []string{"/data"}}})
	for _, tt := range []struct {
		name            string
		set             map[string]any
		reason, pointer string
	}{
		{"overlap", map[string]any{"addAllowClasses": []string{"x.Y", "a.B"}, "addDenyClasses": []string{"a.B"}}, "class-overlap", "/sandboxOverrides/addAllowClasses/1"},
		{"baseline deny", map[string]any{"addAllowClasses": []string{"java.lang.System"}}, "class-overlap", "/sandboxOverrides/addAllowClasses/0"},
		{"dead grant", map[string]any{"addAllowClasses": []string{"java.lang.reflect.Method"}}, "dead-grant", "/sandboxOverrides/addAllowClasses/0"},
		{"open", map[string]any{"networkMode": "open"}, "open-mode-not-allowed", "/sandboxOverrides/networkMode"},
		{"absolute outside", map[string]any{"fsBasePath": "/etc"}, "base-path-outside", "/sandboxOverrides/fsBasePath"},
		{"relative outside", map[string]any{"fsBasePath": "../x"}, "base-path-outside", "/sandboxOverrides/fsBasePath"},
		{"dots outside", map[string]any{"fsBasePath": "/base/../etc"}, "base-path-outside", "/sandboxOverrides/fsBasePath"},
		{"beside", map[string]any{"fsBasePath": "/based"}, "base-path-outside", "/sandboxOverrides/fsBasePath"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := r.Resolve(context.Background(), request(doc(t, overrides(tt.set))))
			f := wantFault(t, err, fault.ResolverReject, tt.reason)
			if f.Pointer != tt.pointer || f.File != "probe.json" || f.Line == 0 {
				t.Errorf("at %s:%d %s, want %s", f.File, f.Line, f.Pointer, tt.pointer)
			}
		})
	}
	for _, path := range []string{"/base", "/base/a/../b", "sub/dir", ".", "/data/x"} {
		if _, err := r.Resolve(context.Background(), request(doc(t, overrides(map[string]any{"fsBasePath": path, "fileRead": true})))); err != nil {
			t.Errorf("fsBasePath %q: %v", path, err)
		}
	}
}

func TestAllViolationsAreKept(t *testing.T) {
	r := newResolver(t, Options{})
	_, err := r.Resolve(context.Background(), request(doc(t, overrides(map[string]any{
		"networkMode": "open", "fsBasePath": "/etc", "addAllowClasses": []string{"java.lang.System"},
	}))))
	rejected, ok := err.(*Rejection)
	if !ok {
		t.Fatalf("%T is not a *Rejection", err)
	}
	var got []string
	for _, f := range rejected.All {
		got = append(got, f.Reason)
	}
	if diff := cmp.Diff([]string{"class-overlap", "base-path-outside", "open-mode-not-allowed"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestOperatorOpens(t *testing.T) {
	r := newResolver(t, Options{Operator: Operator{BasePath: "/base", AllowOpenMode: true, PrivateHosts: []string{"DB.internal:8080"}}})
	d, err := r.Resolve(context.Background(), request(doc(t, overrides(map[string]any{"networkMode": "open"}))))
	if err != nil || d.RiskLevel != "L4" {
		t.Errorf("open: %v, %v", d, err)
	}
	d, err = r.Resolve(context.Background(), request(doc(t, overrides(map[string]any{"networkMode": "allowlist", "hostsAllow": []string{"db.INTERNAL"}}))))
	if err != nil {
		t.Fatal(err)
	}
	if d.RiskLevel != "L4" || len(d.EffectivePolicy.Network.PrivateHosts) != 1 || d.EffectivePolicy.Network.PrivateHosts[0] != "db.internal:8080" {
		t.Errorf("private host: level %s, %v", d.RiskLevel, d.EffectivePolicy.Network)
	}
}

func TestGrants(t *testing.T) {
	r := newResolver(t, Options{Operator: Operator{Grants: []Grant{{Names: []string{"NAVER_*"}, Tools: []string{"searchNaver"}}, {Names: []string{"*"}, Sources: []string{"shop"}}}}})
	fields := map[string]any{"staticVariables": []map[string]string{
		{"a": "${NAVER_ID}"}, {"b": "x${OTHER}y${TOOLWARRANT_HOME}"},
	}}
	for _, tt := range []struct {
		name, source string
		manifest     []string
		want         []string
	}{
		{"searchNaver", "user", nil, []string{"NAVER_ID"}},
		{"another", "user", nil, []string{}},
		{"another", "user", []string{"OTHER"}, []string{}},
		{"another", "builtin", []string{"OTHER", "TOOLWARRANT_HOME"}, []string{"OTHER"}},
		{"another", "shop", nil, []string{"NAVER_ID", "OTHER"}},
	} {
		fields["name"] = tt.name
		req := request(doc(t, fields))
		req.Tool.Source, req.Tool.ManifestEnv = tt.source, tt.manifest
		d, err := r.Resolve(context.Background(), req)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, d.EffectivePolicy.Env); diff != "" {
			t.Errorf("%s from %s: %s", tt.name, tt.source, diff)
		}
	}
}

func TestHostileInput(t *testing.T) {
	r := newResolver(t, Options{})
	req := request(doc(t, nil))
	req.Args = json.RawMessage(`{"x":"` + strings.Repeat("a", maxInputBytes) + `"}`)
	_, err := r.Resolve(context.Background(), req)
	wantFault(t, err, fault.PolicyUnavailable, "input-too-large")

	req.Args = json.RawMessage(`{"x":`)
	_, err = r.Resolve(context.Background(), req)
	wantFault(t, err, fault.InvalidArguments, "not-json")

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = newResolver(t, Options{}).Resolve(ctx, request(doc(t, nil)))
	wantFault(t, err, fault.PolicyUnavailable, "canceled")

	_, err = r.Resolve(context.Background(), Request{})
	wantFault(t, err, fault.Internal, "no-spec")
}
