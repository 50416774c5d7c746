package service

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/rs/zerolog"

	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/executor"
	"github.com/toolwarrant/toolwarrant/fault"
)

func openedWithShadow(t testing.TB, home string, flags map[string]any) *Service {
	t.Helper()
	s, err := Open(t.Context(), Options{Home: home, Config: settings(t, flags), Logger: zerolog.Nop(), Shadow: true})
	check(t, err)
	t.Cleanup(func() { s.Close(context.Background()) })
	check(t, s.Started(t.Context(), "test"))
	return s
}

// inTheShadow checks the revision of the shadow's bundle and the reason of its
// last error.
func inTheShadow(t *testing.T, s *Service, revision, reason string) {
	t.Helper()
	st, got := s.ShadowStatus(), ""
	if st.LastError != nil {
		got = st.LastError.Reason
	}
	if st.Bundle != revision || got != reason {
		t.Fatalf("shadow %q, error %q; want %q and %q", st.Bundle, got, revision, reason)
	}
}

func renewShadow(t *testing.T, s *Service, news bool, reason string) {
	t.Helper()
	got, err := s.RenewShadow(t.Context())
	if f := fault.From(err); got != news || (err != nil) != (reason != "") || err != nil && (f.Reason != reason || !strings.Contains(f.Message, "shadow")) {
		t.Fatalf("renewing: news %t, %v; want %t, %q", got, err, news, reason)
	}
}

// lines gives the records of an installation by what they are.
func lines(t testing.TB, s *Service) (closes []audit.Record, events map[string]int, objects map[string]int) {
	t.Helper()
	events, objects = map[string]int{}, map[string]int{}
	check(t, audit.Scan(context.Background(), []string{s.Audit.Path()}, func(l audit.Line) error {
		r, err := l.Decode()
		if err != nil {
			return err
		}
		switch l.Head.Phase {
		case audit.PhaseClose:
			closes = append(closes, r)
		case audit.PhaseEvent:
			events[*r.Kind]++
		case audit.PhaseObject:
			objects[*r.Kind]++
		}
		return nil
	}))
	return closes, events, objects
}

// TestShadowIsRenewed by itself: a bundle at a URL comes, breaks and comes
// back, and the policy in force has nothing to do with it.
func TestShadowIsRenewed(t *testing.T) {
	p, shelf, home := newPublisher(t), newShelf(t), t.TempDir()
	shelf.put(p.bundle(1), false)
	flags := map[string]any{"policy.shadow": shelf.URL + "/p.tar.gz", "policy.keys": []string{p.public}}
	s := openedWithShadow(t, home, flags)
	inForce(t, s, "", "")
	inTheShadow(t, s, "1", "")
	renewShadow(t, s, false, "")
	shelf.put(p.bundle(2), false)
	renewShadow(t, s, true, "")
	inTheShadow(t, s, "2", "")
	shelf.put([]byte("broken"), false)
	renewShadow(t, s, true, "bundle-unreadable")
	renewShadow(t, s, false, "") // told once
	inTheShadow(t, s, "2", "bundle-unreadable")
	inForce(t, s, "", "")
	if err := s.Reload(t.Context()); err == nil || fault.From(err).Reason != "bundle-unreadable" {
		t.Errorf("a reload by hand: %v", err)
	}
	_, events, objects := lines(t, s)
	want := map[string]int{"policy.activate": 1, "shadow.activate": 2, "shadow.refuse": 2, "reload": 1}
	if diff := cmp.Diff(want, events); diff != "" || objects["policy"] != 2 {
		t.Errorf("events (-want +got):\n%s\nobjects %v", diff, objects)
	}
	check(t, s.Close(context.Background()))

	// The last good one serves a start, as it does for the policy in force.
	s = openedWithShadow(t, home, flags)
	inTheShadow(t, s, "2", "bundle-unreadable")
	check(t, s.Close(context.Background()))

	// Who does not serve other people does not load it.
	s = opened(t, t.TempDir(), settings(t, map[string]any{"policy.shadow": filepath.Join(home, "nowhere")}))
	if s.ShadowStatus() != nil || s.ShadowEvery(1) != 0 {
		t.Error("there is a shadow policy")
	}
	renewShadow(t, s, false, "")
	check(t, s.Reload(t.Context()))
}

// TestStartWithoutTheShadow: who asks for a shadow policy gets it, or no
// start and the reason.
func TestStartWithoutTheShadow(t *testing.T) {
	p := newPublisher(t)
	fails := filepath.Join(t.TempDir(), "fails")
	check(t, os.CopyFS(fails, os.DirFS(p.dir)))
	check(t, os.WriteFile(filepath.Join(fails, "policy_test", "one_test.rego"), []byte("package one_test\n\nimport rego.v2\n\ntest_one if false\n"), 0o600))
	unsigned := filepath.Join(t.TempDir(), "p.tar.gz")
	p.key = nil
	check(t, os.WriteFile(unsigned, p.bundle(1), 0o600))
	for name, c := range map[string]struct {
		flags  map[string]any
		reason string
	}{
		"nothing there":        {map[string]any{"policy.shadow": filepath.Join(p.dir, "nowhere")}, "policy-missing"},
		"its own tests fail":   {map[string]any{"policy.shadow": fails}, "policy-tests-failed"},
		"unsigned":             {map[string]any{"policy.shadow": unsigned, "policy.keys": []string{p.public}}, "bundle-unsigned"},
		"a folder, not signed": {map[string]any{"policy.shadow": p.dir, "policy.keys": []string{p.public}, "policy.require-signature": true}, "bundle-unsigned"},
		"a URL with a word":    {map[string]any{"policy.shadow": "https://user:word@policies.example.com/p"}, "policy-url"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Open(t.Context(), Options{Home: t.TempDir(), Config: settings(t, c.flags), Logger: zerolog.Nop(), Shadow: true})
			if f := fault.From(err); err == nil || f.Reason != c.reason || !strings.Contains(f.Message, "shadow policy") {
				t.Errorf("start: %v, want %s", err, c.reason)
			}
		})
	}
}

// TestShadowUnderLoad: the shadow policy changes while calls run. None is
// lost, none is decided by it, and the records show what it said.
func TestShadowUnderLoad(t *testing.T) {
	p, shelf := newPublisher(t), newShelf(t)
	bundles := [][]byte{p.bundle(0), p.bundle(1), p.bundle(2)}
	shelf.put(bundles[0], false)
	s := openedWithShadow(t, t.TempDir(), map[string]any{"policy.shadow": shelf.URL + "/p.tar.gz", "policy.keys": []string{p.public}, "policy.shadow-wait-millis": 10_000})
	stop := make(chan struct{})
	var calls atomic.Int64
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			who := decision.Principal{Subject: fmt.Sprint("load-", i), Method: "none", Groups: []string{}, Scopes: []string{}, Untrusted: true}
			for {
				select {
				case <-stop:
					return
				default:
				}
				out := s.Engine.Call(context.Background(), executor.Call{Principal: who, Name: "base64", Args: json.RawMessage(`{"text":"hello world"}`), Origin: decision.OriginMCPHTTP})
				calls.Add(1)
				if out.Err != nil || string(out.Value) != `"aGVsbG8gd29ybGQ="` || out.Decision.PolicyRevision != s.Policy.Revision() {
					t.Errorf("a call is lost: %v %s", out.Err, out.Value)
					return
				}
			}
		})
	}
	rounds := 6
	if testing.Short() {
		rounds = 2
	}
	for n := 1; n <= rounds; n++ {
		shelf.put(bundles[n%len(bundles)], false)
		renewShadow(t, s, true, "")
	}
	close(stop)
	wg.Wait()
	closes, _, _ := lines(t, s)
	said, failed := map[string]int{}, map[string]int{}
	for _, r := range closes {
		switch {
		case r.Shadow == nil:
			t.Fatal("a record says nothing of the shadow")
		case r.Shadow.Error != nil:
			failed[*r.Shadow.Error.Reason]++
		default:
			said[*r.Shadow.Kind]++
		}
	}
	t.Logf("%d calls: %v, without an answer %v", calls.Load(), said, failed)
	if int64(len(closes)) != calls.Load() || said["same"] == 0 {
		t.Errorf("%d records of %d calls: %v %v", len(closes), calls.Load(), said, failed)
	}
	for reason := range failed { // a machine under load may be late, and nothing else
		if reason != "shadow-late" && reason != "eval-timeout" {
			t.Errorf("a shadow decision failed with %s", reason)
		}
	}
}

// TestShadowThatIsSlow: rules that go on and on over one call hold nothing up
// and fail nothing; other calls are answered as before.
func TestShadowThatIsSlow(t *testing.T) {
	p := newPublisher(t)
	p.write("rego/access/slow.rego", `package toolwarrant.access

import rego.v2

reasons contains {"id": "slow", "message": "slow", "path": "/text"} if {
	input.call.args.text == "slow"
	some i in numbers.range(1, 100000)
	some j in numbers.range(1, 100000)
	i * j == -1
}
`)
	s := openedWithShadow(t, t.TempDir(), map[string]any{"policy.shadow": p.dir})
	who := decision.Principal{Subject: "local", Method: "none", Groups: []string{}, Scopes: []string{}, Untrusted: true}
	for _, text := range []string{"slow", "quick"} {
		out := s.Engine.Call(t.Context(), executor.Call{Principal: who, Name: "base64", Args: json.RawMessage(`{"text":"` + text + `"}`), Origin: decision.OriginMCPHTTP})
		if out.Err != nil || out.Value == nil {
			t.Errorf("%s: %v", text, out.Err)
		}
	}
	closes, _, _ := lines(t, s)
	if e := closes[0].Shadow.Error; e == nil || *e.Reason != "shadow-late" && *e.Reason != "eval-timeout" {
		t.Errorf("the shadow says %+v", closes[0].Shadow)
	}
	if closes[1].Shadow == nil {
		t.Error("the second call has no shadow")
	}
}

// TestMetrics shows both policies and what came of them.
func TestMetrics(t *testing.T) {
	p := newPublisher(t)
	file := filepath.Join(t.TempDir(), "p.tar.gz")
	put := func(raw []byte) { check(t, os.WriteFile(file, raw, 0o600)) }
	put(p.bundle(1))
	s := openedWithShadow(t, t.TempDir(), map[string]any{"policy.shadow": file})
	put([]byte("broken"))
	renewShadow(t, s, true, "bundle-unreadable")
	s.Metrics.Decided("denied")
	s.Metrics.Shadowed("newly-denied")
	s.Metrics.Shadowed("newly-denied")
	w := httptest.NewRecorder()
	promhttp.HandlerFor(s.Metrics, promhttp.HandlerOpts{}).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	got := map[string]float64{}
	for line := range strings.Lines(strings.ReplaceAll(w.Body.String(), `"`, "")) {
		name, value, ok := strings.Cut(strings.TrimSpace(line), "} ")
		if !ok {
			continue
		}
		v, err := strconv.ParseFloat(value, 64)
		check(t, err)
		got[name+"}"] = v
	}
	for name, want := range map[string]float64{
		"toolwarrant_policy_info{bundle=,revision=" + s.Policy.Revision() + ",role=policy}":                1,
		"toolwarrant_policy_info{bundle=1,revision=" + s.ShadowStatus().Revision + ",role=shadow}":         1,
		"toolwarrant_policy_last_error_info{code=POLICY_UNAVAILABLE,reason=bundle-unreadable,role=shadow}": 1,
		"toolwarrant_policy_activations_total{result=activated,role=policy}":                               1,
		"toolwarrant_policy_activations_total{result=activated,role=shadow}":                               1,
		"toolwarrant_policy_activations_total{result=refused,role=shadow}":                                 1,
		"toolwarrant_policy_activations_total{result=refused,role=policy}":                                 0,
		"toolwarrant_policy_decisions_total{outcome=denied}":                                               1,
		"toolwarrant_policy_decisions_total{outcome=allowed}":                                              0,
		"toolwarrant_shadow_decisions_total{result=newly-denied}":                                          2,
		"toolwarrant_shadow_decisions_total{result=same}":                                                  0,
		"toolwarrant_shadow_decisions_total{result=failed}":                                                0,
		"toolwarrant_policy_activated_timestamp_seconds{role=shadow}":                                      float64(s.ShadowStatus().ActivatedAt.UnixMilli()) / 1000,
	} {
		if v, ok := got[name]; !ok || v != want {
			t.Errorf("%s is %v, want %v (there: %t)", name, v, want, ok)
		}
	}
}

// BenchmarkShadow is a call of a small tool, in-process, one at a time, with a
// shadow policy and without.
func BenchmarkShadow(b *testing.B) {
	for _, shadow := range []string{"", "builtin"} {
		b.Run("shadow="+shadow, func(b *testing.B) {
			s := openedWithShadow(b, b.TempDir(), map[string]any{"policy.shadow": shadow, "policy.shadow-wait-millis": 10_000})
			who := decision.Principal{Subject: "local", Method: "none", Groups: []string{}, Scopes: []string{}, Untrusted: true}
			for b.Loop() {
				if out := s.Engine.Call(b.Context(), executor.Call{Principal: who, Name: "base64", Args: json.RawMessage(`{"text":"hello world"}`), Origin: decision.OriginMCPHTTP}); out.Err != nil {
					b.Fatal(out.Err)
				}
			}
		})
	}
}
