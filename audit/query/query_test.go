package query

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/audit/index"
	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/fault"
)

func ptr[T any](v T) *T { return &v }

// call is a close by its number: tools, callers, outcomes and levels take
// turns.
func call(i int) audit.Call {
	c := audit.Call{
		CallID: fmt.Sprint("call-", i), Origin: "cli-run",
		Principal:   &audit.Principal{Subject: []string{"ann", "bo\"b", "ünal"}[i%3], Method: "test", ClientID: "client", Groups: []string{}},
		Tool:        &decision.Tool{Name: []string{"read", "write"}[i%2], ToolID: fmt.Sprint("id-", i%2)},
		RiskLevel:   ptr([]string{"L0", "L3", "L4", "L5"}[i%4]),
		Outcome:     ptr([]fault.Outcome{fault.OK, fault.Denied, fault.Failed}[i%3]),
		RiskSignals: []decision.Signal{{ID: []string{"file-read", "file-write"}[i%2], Level: "L3", Message: "m"}},
		Reasons:     []decision.Reason{},
		Usage:       &audit.Usage{Egress: []audit.Egress{{Host: []string{"a.example", "b.other"}[i%2]}}, FS: []audit.FSUse{{Op: "read", Path: fmt.Sprintf("reports/%d.md", i)}}},
	}
	if i%3 == 2 {
		c.Error = &audit.Error{Code: fault.Timeout, Reason: ptr("deadline"), Message: "m"}
	}
	if i%4 == 3 {
		c.HITL = &audit.HITL{Mode: "REQUIRED", Outcome: audit.HITLAccepted, RuleID: ptr("hitl-floor")}
	}
	if i%5 == 4 {
		c.RelatedCallID = ptr(fmt.Sprint("call-", i-1))
	}
	return c
}

func write(t *testing.T, w *audit.Writer, from, to int) {
	t.Helper()
	for i := from; i < to; i++ {
		if err := w.Close(t.Context(), call(i), nil); err != nil {
			t.Fatal(err)
		}
	}
}

func log(t *testing.T) (*audit.Writer, string) {
	t.Helper()
	dir := t.TempDir()
	w, err := audit.Open(dir, audit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Shutdown(context.Background()) })
	return w, filepath.Join(dir, audit.FileName)
}

// TestFilter holds each filter against a loop over the same calls.
func TestFilter(t *testing.T) {
	w, file := log(t)
	const n = 60
	write(t, w, 0, n)
	for name, tt := range map[string]struct {
		f    Filter
		want func(i int) bool
	}{
		"all":           {Filter{}, func(int) bool { return true }},
		"tool":          {Filter{Tools: []string{"write"}}, func(i int) bool { return i%2 == 1 }},
		"toolId":        {Filter{Tools: []string{"id-0"}}, func(i int) bool { return i%2 == 0 }},
		"principal":     {Filter{Principals: []string{"ann", "ünal"}}, func(i int) bool { return i%3 != 1 }},
		"a quote":       {Filter{Principals: []string{`bo"b`}}, func(i int) bool { return i%3 == 1 }},
		"client":        {Filter{Principals: []string{"client"}}, func(int) bool { return true }},
		"outcome":       {Filter{Outcomes: []string{"DENIED", "ERROR"}}, func(i int) bool { return i%3 != 0 }},
		"level, tool":   {Filter{Levels: []string{"L4", "L3"}, Tools: []string{"read"}}, func(i int) bool { return i%4 == 2 }},
		"code":          {Filter{Codes: []string{"TIMEOUT"}}, func(i int) bool { return i%3 == 2 }},
		"code, reason":  {Filter{Codes: []string{"TIMEOUT/deadline"}}, func(i int) bool { return i%3 == 2 }},
		"no reason":     {Filter{Codes: []string{"TIMEOUT/other"}}, func(int) bool { return false }},
		"rule":          {Filter{Rules: []string{"file-write"}}, func(i int) bool { return i%2 == 1 }},
		"who was asked": {Filter{Rules: []string{"hitl-floor"}}, func(i int) bool { return i%4 == 3 }},
		"host":          {Filter{Hosts: []string{"*.example"}}, func(i int) bool { return i%2 == 0 }},
		"folder":        {Filter{Paths: []string{"reports/"}}, func(int) bool { return true }},
		"path":          {Filter{Paths: []string{"reports/1?.md"}}, func(i int) bool { return i >= 10 && i < 20 }},
		"call":          {Filter{CallIDs: []string{"call-8"}}, func(i int) bool { return i == 8 || i == 9 }},
		"later":         {Filter{Since: time.Now().Add(time.Hour)}, func(int) bool { return false }},
		"earlier":       {Filter{Until: time.Now().Add(-time.Hour)}, func(int) bool { return false }},
	} {
		var got, want []string
		err := Select(t.Context(), []string{file}, tt.f, func(r audit.Record, _ audit.Line) error {
			got = append(got, r.CallID)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			if tt.want(i) {
				want = append(want, fmt.Sprint("call-", i))
			}
		}
		if strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
	for flag, f := range map[string]Filter{
		"outcome": {Outcomes: []string{"ok"}}, "level": {Levels: []string{"L6"}}, "host": {Hosts: []string{"["}}, "path": {Paths: []string{"a["}},
		"until": {Since: time.Unix(2, 0), Until: time.Unix(1, 0)},
	} {
		if err := f.Check(); err == nil || fault.From(err).Reason != flag {
			t.Errorf("%+v: %v", f, err)
		}
	}
}

func TestStats(t *testing.T) {
	var s Stats
	if got := s.Done(); got.Calls != 0 || got.Outcomes == nil || got.Tools == nil {
		t.Errorf("no calls: %+v", got)
	}
	for i := range 12 {
		c := call(i)
		c.Duration = &audit.Duration{Total: float64(10 + i), Approve: 10}
		s.Add(audit.Record{Time: fmt.Sprintf("2026-11-28T10:00:%02d.000000Z", i), Call: c})
	}
	got := s.Done()
	want := `{"calls":12,"first":"2026-11-28T10:00:00.000000Z","last":"2026-11-28T10:00:11.000000Z","outcomes":{"DENIED":4,"ERROR":4,"OK":4},` +
		`"levels":{"L0":3,"L3":3,"L4":3,"L5":3},"approvals":{"ACCEPTED":3},"codes":{"TIMEOUT":4},"tools":[` +
		`{"name":"read","calls":6,"denied":2,"failed":2,"meanMs":5,"longestMs":10},{"name":"write","calls":6,"denied":2,"failed":2,"meanMs":6,"longestMs":11}]}`
	if b, err := json.Marshal(got); err != nil || string(b) != want {
		t.Errorf("got %s, %v\nwant %s", b, err, want)
	}
}

func TestFind(t *testing.T) {
	w, file := log(t)
	write(t, w, 0, 10)
	if err := w.Event(t.Context(), audit.Event{Kind: "approval.decide", Detail: map[string]any{"callId": "call-4"}}, nil); err != nil {
		t.Fatal(err)
	}
	s, err := Find(t.Context(), []string{file}, "call-4")
	if err != nil || len(s.Records) != 1 || len(s.Related) != 1 || s.Related[0].CallID != "call-3" || len(s.Events) != 1 {
		t.Errorf("%+v, %v", s, err)
	}
	var page strings.Builder
	if err := Tell(&page, s); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"call-4, by cli-run", `bo"b (test), client client`, "L3 file-read: m", "reports/4.md", "DENIED at", "see also     call-3"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the story lacks %q:\n%s", want, page.String())
		}
	}
	if s, err = Find(t.Context(), []string{file}, "call-3"); err != nil || len(s.Related) != 1 || s.Related[0].CallID != "call-4" {
		t.Errorf("%+v, %v", s.Related, err)
	}
	if _, err = Find(t.Context(), []string{file}, "call-99"); err == nil || fault.From(err).Reason != audit.ReasonNoRecord {
		t.Error(err)
	}
}

func TestTail(t *testing.T) {
	w, file := log(t)
	write(t, w, 0, 20)
	var mu sync.Mutex
	var got []string
	ctx, cancel := context.WithCancel(t.Context())
	count := func() int { mu.Lock(); defer mu.Unlock(); return len(got) }
	done := make(chan error, 1)
	go func() {
		done <- Tail(ctx, file, Filter{Tools: []string{"write"}}, 3, true, time.Millisecond, func(r audit.Record, _ []byte) {
			mu.Lock()
			defer mu.Unlock()
			got = append(got, r.CallID)
		})
	}()
	until := func(n int) {
		for end := time.Now().Add(30 * time.Second); count() < n && time.Now().Before(end); time.Sleep(time.Millisecond) {
		}
	}
	until(3)
	write(t, w, 20, 24)
	until(5)
	cancel()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if want := "[call-15 call-17 call-19 call-21 call-23]"; fmt.Sprint(got) != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

// TestTailOfACompressedFile: a file that was named by itself is read like the
// log that it is a part of.
func TestTailOfACompressedFile(t *testing.T) {
	w, file := log(t)
	write(t, w, 0, 8)
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	packed := filepath.Join(t.TempDir(), "1.ndjson.gz")
	out, err := os.Create(packed)
	if err != nil {
		t.Fatal(err)
	}
	z := gzip.NewWriter(out)
	_, err = z.Write(raw)
	if err := errors.Join(err, z.Close(), out.Close()); err != nil {
		t.Fatal(err)
	}
	var got []string
	err = Tail(t.Context(), packed, Filter{}, 3, false, time.Millisecond, func(r audit.Record, _ []byte) { got = append(got, r.CallID) })
	if want := "[call-5 call-6 call-7]"; err != nil || fmt.Sprint(got) != want {
		t.Errorf("got %v, %v, want %s", got, err, want)
	}
}

// TestSlash: a name with a slash is one name, with the index and without.
func TestSlash(t *testing.T) {
	w, file := log(t)
	c := call(0)
	c.Principal = &audit.Principal{Subject: "corp/ann", ClientID: "https://client.example/id"}
	if err := w.Close(t.Context(), c, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := index.NewUpdater(file).Update(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]Filter{
		"subject": {Principals: []string{"corp/ann"}},
		"client":  {Principals: []string{"https://client.example/id"}},
	} {
		for _, o := range []Options{{}, {NoIndex: true}} {
			n := 0
			if err := Search(t.Context(), []string{file}, f, o, func(audit.Record, audit.Line) error { n++; return nil }); err != nil || n != 1 {
				t.Errorf("%s, without the index %v: %d found, %v", name, o.NoIndex, n, err)
			}
		}
	}
}
