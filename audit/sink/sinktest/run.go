package sinktest

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/audit/sink/spool"
	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/executor/mask"
	"github.com/toolwarrant/toolwarrant/fault"
)

// Destination is a server of a test and the way to it.
type Destination struct {
	Proxy *Proxy
	Sink  func(t *testing.T) audit.Sink // a new one, through the proxy
	Lines func() []string               // that arrived, in their order, repeated ones as well
	Raw   func() []byte                 // everything that arrived, as it came
}

// Run tries what every sink on the network has to do.
func Run(t *testing.T, start func(t *testing.T) Destination) {
	for _, mode := range []Mode{Up, Dead, Slow, Flap} {
		for _, required := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/required=%t", []string{"up", "dead", "slow", "flapping"}[mode], required), func(t *testing.T) {
				t.Parallel()
				newRig(t, start(t), required).mode(mode)
			})
		}
	}
	t.Run("restart", func(t *testing.T) { t.Parallel(); newRig(t, start(t), false).restart() })
	t.Run("bound", func(t *testing.T) { t.Parallel(); newRig(t, start(t), false).bound() })
	t.Run("secrets", func(t *testing.T) { t.Parallel(); newRig(t, start(t), true).secrets() })
}

// rig is a log with one sink behind a spool.
type rig struct {
	t        *testing.T
	to       Destination
	required bool
	dir      string
	max      int64
	timeout  time.Duration
	w        *audit.Writer
	calls    atomic.Int64
}

func newRig(t *testing.T, to Destination, required bool) *rig {
	// As long as a busy machine may need; where calls have to wait it out, mode
	// makes it shorter.
	return &rig{t: t, to: to, required: required, dir: t.TempDir(), timeout: 30 * time.Second}
}

func (r *rig) open() {
	r.t.Helper()
	s, err := spool.Open(filepath.Join(r.dir, "sinks", "test"), r.to.Sink(r.t), spool.Options{
		Required: r.required, MaxBytes: r.max, Timeout: r.timeout, Backoff: 2 * time.Millisecond, MaxBackoff: 20 * time.Millisecond, Batch: 20,
	})
	if err != nil {
		r.t.Fatal(err)
	}
	w, err := audit.Open(r.dir, audit.Options{Sinks: []audit.SinkOption{{Name: "test", Sink: s, Required: r.required}}})
	if err != nil && !r.required {
		r.t.Fatal(err)
	}
	r.w = w
	r.t.Cleanup(r.close)
}

func (r *rig) close() {
	if r.w != nil {
		_ = r.w.Shutdown(context.Background())
	}
}

// call is one close of a record.
func (r *rig) call() error {
	ok := fault.OK
	return r.w.Close(context.Background(), audit.Call{CallID: fmt.Sprint("call-", r.calls.Add(1)), Origin: decision.OriginCLIRun, Outcome: &ok,
		Params: json.RawMessage(`{"text":"é <&> \\n \u0000"}`)}, nil)
}

func (r *rig) must(n int) {
	r.t.Helper()
	for range n {
		if err := r.call(); err != nil {
			r.t.Fatalf("a call is refused: %v (%v)", err, errors.Unwrap(err))
		}
	}
}

// refused makes calls at once that have to be refused for the sink, each after
// the whole time that it may wait.
func (r *rig) refused(n int) {
	r.t.Helper()
	answers := make(chan error, n)
	for range n {
		go func() { answers <- r.call() }()
	}
	for range n {
		var f *fault.Error
		if err := <-answers; !errors.As(err, &f) || f.Code != fault.AuditUnavailable || f.Reason != audit.ReasonSink {
			r.t.Errorf("got %v, want AUDIT_UNAVAILABLE (sink)", err)
		}
	}
}

func (r *rig) eventually(what string, ok func() bool) {
	r.t.Helper()
	for end := time.Now().Add(90 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			r.t.Fatalf("%s did not come; %+v", what, r.w.Sinks())
		}
	}
}

func (r *rig) healthy() bool { return r.w.Health(context.Background()) == nil }

// logged is the log, which has to be whole.
func (r *rig) logged() []string {
	r.t.Helper()
	report, err := audit.Verify(context.Background(), []string{r.w.Path()}, audit.VerifyOptions{})
	if err != nil || !report.OK {
		r.t.Fatalf("%+v, %v", report, err)
	}
	b, err := os.ReadFile(r.w.Path())
	if err != nil {
		r.t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
}

// once takes out what came again. What is left is in the order of the first
// arrival.
func once(lines []string) (out []string) {
	seen := map[string]bool{}
	for _, l := range lines {
		if !seen[l] {
			seen[l] = true
			out = append(out, l)
		}
	}
	return out
}

// complete waits until the destination has the log, byte for byte and in
// order.
func (r *rig) complete() {
	r.t.Helper()
	r.eventually("the whole log", func() bool { return len(once(r.to.Lines())) >= len(r.logged()) })
	if got, want := once(r.to.Lines()), r.logged(); !slices.Equal(got, want) {
		r.t.Fatalf("%d lines arrived of %d; the first that differs: %s", len(got), len(want), differs(got, want))
	}
	r.eventually("an empty spool", func() bool { return r.w.Sinks()[0].Waiting == 0 })
	if st := r.w.Sinks()[0]; st.Lost != 0 || st.Err != nil {
		r.t.Errorf("%+v", st)
	}
}

func differs(a, b []string) string {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("%d: %s, want %s", i, a[i], b[i])
		}
	}
	return "none"
}

func (r *rig) mode(m Mode) {
	r.to.Proxy.Set(m)
	if m == Dead || m == Slow {
		r.timeout = 6 * time.Second
	}
	r.open()
	switch {
	case m == Up:
		r.must(50)
	case m == Flap && r.required:
		// Some are refused, some are not, as it flaps; who is refused is told.
		for range 50 {
			if err := r.call(); err != nil && fault.From(err).Reason != audit.ReasonSink {
				r.t.Fatal(err)
			}
		}
	case r.required:
		r.refused(5)
		if r.healthy() {
			r.t.Error("a log is healthy whose required sink is down")
		}
	default:
		r.must(50)
		r.eventually("the failure", func() bool { return m == Flap || r.w.Sinks()[0].Err != nil })
		if !r.healthy() {
			r.t.Error("a log is not healthy for a sink of best effort")
		}
	}
	if m == Dead && !r.required && r.w.Sinks()[0].Waiting == 0 {
		r.t.Error("nothing waits for a dead sink")
	}
	r.to.Proxy.Set(Up)
	r.eventually("health", r.healthy) // by itself, without a call
	r.must(10)
	r.complete()
}

// restart: what a process left goes out with the next one, in order.
func (r *rig) restart() {
	r.to.Proxy.Set(Dead)
	for range 3 {
		r.open()
		r.must(30)
		r.close()
	}
	if n := len(r.to.Lines()); n != 0 {
		r.t.Fatalf("%d lines arrived at a dead sink", n)
	}
	r.to.Proxy.Set(Up)
	r.open()
	r.must(1)
	r.complete()
}

// bound: what does not fit is counted, and the chain says how many; all else
// arrives in order.
func (r *rig) bound() {
	r.max = 20_000
	r.to.Proxy.Set(Dead)
	r.open()
	r.must(100)
	lost := r.w.Sinks()[0].Lost
	if lost == 0 {
		r.t.Fatal("the spool has no bound")
	}
	r.to.Proxy.Set(Up)
	event := fmt.Sprintf(`"kind":"sink.lost","principal":null,"detail":{"lines":%d,"reason":"full","sink":"test"}`, lost)
	has := func(lines []string) bool {
		return slices.ContainsFunc(lines, func(l string) bool { return strings.Contains(l, event) })
	}
	r.eventually("the record of the loss", func() bool { return has(r.logged()) })
	r.must(1)
	want := r.logged()
	want = slices.Delete(want, 100-int(lost), 100)
	r.eventually("the rest", func() bool { return len(once(r.to.Lines())) >= len(want) })
	if got := once(r.to.Lines()); !slices.Equal(got, want) {
		r.t.Errorf("%d lines arrived of %d; the first that differs: %s", len(got), len(want), differs(got, want))
	}
}

// corpus are secrets that the masks of tools are tried with.
var corpus = []string{
	"wxyz", "hunter22", "a b&c/d", "a\"b\nc", "a<b>c", "pässword", "tok~en*4 5/6?x=y\"z", "line one\nline two \n", "비밀번호", "Bücher-Geheim", "s3cr3t-value?>",
}

// forms are the spellings that must not get out.
func forms(secret string) []string {
	quoted, _ := json.Marshal(secret)
	var plain bytes.Buffer
	e := json.NewEncoder(&plain)
	e.SetEscapeHTML(false)
	_ = e.Encode(secret)
	return []string{
		secret, url.QueryEscape(secret), url.PathEscape(secret), string(quoted[1 : len(quoted)-1]), strings.Trim(strings.TrimSpace(plain.String()), `"`),
		base64.StdEncoding.EncodeToString([]byte(secret)), base64.RawURLEncoding.EncodeToString([]byte(secret)), hex.EncodeToString([]byte(secret)),
	}
}

// secrets: what was masked is in no form on the way, at the destination, nor
// in any file.
func (r *rig) secrets() {
	r.open()
	masker := mask.New(corpus)
	failed := fault.Failed
	n := 0
	for _, secret := range corpus {
		for _, form := range forms(secret) {
			n++
			params, err := json.Marshal(map[string]any{"text": "x " + form + " y", form: []string{form}})
			if err != nil {
				r.t.Fatal(err)
			}
			reason := "Reason " + form
			c := audit.Call{
				CallID: fmt.Sprint("call-", n), Origin: decision.OriginMCPHTTP, Outcome: &failed, Params: params,
				Principal: &audit.Principal{Subject: "alice", Method: "none", ClientID: form, Groups: []string{}},
				Error:     &audit.Error{Code: fault.JSError, Reason: &reason, Message: "failed with " + form},
				Usage:     &audit.Usage{Egress: []audit.Egress{{Host: "h.example", IP: form}}, FS: []audit.FSUse{{Op: "readText", Path: "d/" + form}}},
			}
			if err := r.w.Close(context.Background(), c, masker); err != nil {
				r.t.Fatal(err)
			}
			if err := r.w.Event(context.Background(), audit.Event{Kind: "publish", Detail: map[string]any{"text": form}}, masker); err != nil {
				r.t.Fatal(err)
			}
		}
	}
	r.complete()
	seen := map[string][]byte{"at the destination": r.to.Raw()}
	if err := filepath.WalkDir(r.dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			seen[path], err = os.ReadFile(path)
		}
		return err
	}); err != nil {
		r.t.Fatal(err)
	}
	for where, b := range seen {
		for _, secret := range corpus {
			for _, form := range forms(secret) {
				if bytes.Contains(b, []byte(form)) {
					r.t.Errorf("%s: the secret %q is there as %q", where, secret, form)
				}
			}
		}
	}
}
