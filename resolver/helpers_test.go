package resolver

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/spec"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// doc is a minimal document with further fields.
func doc(t testing.TB, fields map[string]any) *spec.Spec {
	t.Helper()
	all := map[string]any{"name": "probe", "code": "return 1", "codeType": "Javascript"}
	maps.Copy(all, fields)
	raw, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return parseDoc(t, raw)
}

func parseDoc(t testing.TB, raw []byte) *spec.Spec {
	t.Helper()
	s, faults := spec.Parse("probe.json", raw)
	if len(faults) > 0 {
		t.Fatalf("the document is bad: %v", faults[0])
	}
	return s
}

func overrides(o map[string]any) map[string]any { return map[string]any{"sandboxOverrides": o} }

func request(s *spec.Spec) Request {
	return Request{
		Tool:      Tool{Spec: s, Source: "user"},
		Principal: decision.Principal{Subject: "local", Method: "none", ClientID: "test", Groups: []string{"staff"}, Untrusted: true},
		Origin:    decision.OriginMCPHTTP,
		Args:      json.RawMessage(`{}`),
		Now:       noon,
	}
}

func newResolver(t testing.TB, o Options) *Resolver {
	t.Helper()
	r, err := New(context.Background(), o)
	if err != nil {
		t.Fatalf("New: %v", err)
	}
	return r
}

// policyFolder writes the embedded policy into a folder, with one test in the
// place of its own ones, and changes files.
func policyFolder(t testing.TB, changes map[string]string) string {
	t.Helper()
	dir := fullPolicyFolder(t, nil)
	if err := os.RemoveAll(filepath.Join(dir, "policy_test")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "policy_test"), 0o755); err != nil {
		t.Fatal(err)
	}
	change(t, dir, map[string]string{"policy_test/one_test.rego": "package one_test\n\nimport rego.v2\n\ntest_one if true\n"})
	change(t, dir, changes)
	return dir
}

// fullPolicyFolder is the embedded policy with all of its tests.
func fullPolicyFolder(t testing.TB, changes map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "policy")
	if err := WriteBuiltin(dir); err != nil {
		t.Fatalf("WriteBuiltin: %v", err)
	}
	change(t, dir, changes)
	return dir
}

func change(t testing.TB, dir string, changes map[string]string) {
	t.Helper()
	for name, text := range changes {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func wantFault(t *testing.T, err error, code fault.Code, reason string) *fault.Error {
	t.Helper()
	if err == nil {
		t.Fatalf("no error; want %s (%s)", code, reason)
	}
	f := fault.From(err)
	if f.Code != code || f.Reason != reason {
		t.Fatalf("error %v; want %s (%s)", err, code, reason)
	}
	if f.Message == "" {
		t.Errorf("the error has no message")
	}
	return f
}
