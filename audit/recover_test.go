package audit

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// vanish ends a writer like kill -9 does: nothing is released in an orderly
// way, only the locks go.
func vanish(t *testing.T, w *Writer) {
	t.Helper()
	w.keeper.stop()
	w.mu.Lock()
	w.stopping = true
	close(w.wake)
	w.mu.Unlock()
	<-w.stopped
	must(t, w.live.lock.Unlock())
	must(t, w.live.mark.Close())
	must(t, w.chain.close())
}

func TestInterrupted(t *testing.T) {
	dir := t.TempDir()
	ctx := context.Background()
	dead, alive := mustOpen(t, dir, Options{}), mustOpen(t, dir, Options{})
	c := sampleCall("ran")
	c.Outcome, c.Error, c.Result, c.Usage, c.Duration = nil, nil, nil, nil, nil
	must(t, dead.Open(ctx, c, true, nil))
	must(t, dead.Open(ctx, bareCall("done"), false, nil))
	must(t, dead.Close(ctx, bareCall("done"), nil))
	must(t, alive.Open(ctx, bareCall("running"), false, nil))
	vanish(t, dead)

	w := mustOpen(t, dir, Options{})
	if diff := cmp.Diff(Recovery{Interrupted: []string{"ran"}}, w.Recovered()); diff != "" {
		t.Fatal(diff)
	}
	rs := records(t, w.Path())
	got := rs[len(rs)-1]
	if got.Phase != PhaseClose || got.CallID != "ran" || got.Writer != w.ID() || *got.Outcome != "ERROR" ||
		got.Error.Code != "INTERRUPTED" || *got.Error.Reason != "writer-gone" || got.Usage != nil || got.Duration != nil {
		t.Errorf("got %+v", got)
	}
	// All that the open said stands in the close too.
	open := rs[0].Call
	open.Phase, open.Outcome, open.Error = got.Phase, got.Outcome, got.Error
	if diff := cmp.Diff(open, got.Call); diff != "" {
		t.Errorf("-open +close:\n%s", diff)
	}
	must(t, alive.Close(ctx, bareCall("running"), nil))
	again := mustOpen(t, dir, Options{})
	if diff := cmp.Diff(Recovery{}, again.Recovered()); diff != "" {
		t.Error(diff)
	}
	wantOK(t, w.Path())
}

// TestUnfinishedAtShutdown: what a process leaves open on an orderly end is
// interrupted as well.
func TestUnfinishedAtShutdown(t *testing.T) {
	dir := t.TempDir()
	a := mustOpen(t, dir, Options{})
	must(t, a.Open(context.Background(), bareCall("x"), false, nil))
	must(t, a.Shutdown(context.Background()))
	b := mustOpen(t, dir, Options{})
	if got := b.Recovered().Interrupted; len(got) != 1 || got[0] != "x" {
		t.Errorf("got %v", got)
	}
	wantOK(t, b.Path())
}

func TestAbandonedAsks(t *testing.T) {
	dir := t.TempDir()
	ctx := context.Background()
	now := time.Now()
	soon, late := now.Add(time.Minute), now.Add(time.Hour)
	dead := mustOpen(t, dir, Options{})
	must(t, dead.Ask(ctx, askCall("soon", soon), nil))
	must(t, dead.Ask(ctx, askCall("late", late), nil))
	must(t, dead.Ask(ctx, askCall("answered", soon), nil))
	must(t, dead.Ask(ctx, askCall("taken-up", soon), nil))
	vanish(t, dead)

	w := mustOpen(t, dir, Options{})
	if n := len(w.Recovered().Pending); n != 4 {
		t.Fatalf("%d questions are open, want 4", n)
	}
	must(t, w.Close(ctx, bareCall("answered"), nil))       // declined, say
	must(t, w.Open(ctx, bareCall("taken-up"), false, nil)) // accepted: runs here now

	r, err := w.CloseAbandoned(ctx, soon)
	must(t, err)
	if len(r.Expired) != 0 || len(r.Pending) != 2 {
		t.Fatalf("at the expiry: %+v", r)
	}
	r, err = w.CloseAbandoned(ctx, soon.Add(ExpiryGrace+time.Second))
	must(t, err)
	if diff := cmp.Diff([]string{"soon"}, r.Expired); diff != "" || len(r.Pending) != 1 || r.Pending[0].Call.CallID != "late" {
		t.Fatalf("after the expiry: %+v", r)
	}
	if !r.Pending[0].ExpiresAt.Equal(late.Truncate(time.Second)) {
		t.Errorf("expires at %s", r.Pending[0].ExpiresAt)
	}
	rs := records(t, w.Path())
	got := rs[len(rs)-1]
	if got.CallID != "soon" || *got.Outcome != "DENIED" || got.Error.Code != "APPROVAL_DENIED" || *got.Error.Reason != "expired" ||
		got.HITL.Outcome != HITLExpired || got.HITL.ExpiresAt != nil || *got.HITL.PromptDigest != *rs[0].HITL.PromptDigest || got.Tool.Name != "fetch_page" {
		t.Errorf("got %+v", got)
	}
	r, err = w.CloseAbandoned(ctx, late.Add(time.Minute))
	must(t, err)
	if diff := cmp.Diff(Recovery{Expired: []string{"late"}}, r); diff != "" {
		t.Error(diff)
	}
	must(t, w.Close(ctx, bareCall("taken-up"), nil))
	must(t, w.Shutdown(ctx))
	if left, _ := os.ReadDir(filepath.Join(dir, writersDir)); len(left) != 0 {
		t.Errorf("%d files of writers are left", len(left))
	}
	wantOK(t, w.Path())
}

// TestOwnExpiredAsk: a stateless client that never comes back leaves its
// question to the process that asked.
func TestOwnExpiredAsk(t *testing.T) {
	dir := t.TempDir()
	ctx := context.Background()
	now := time.Now()
	w, other := mustOpen(t, dir, Options{}), mustOpen(t, dir, Options{})
	for _, id := range []string{"left", "opened", "closed", "elsewhere"} {
		must(t, w.Ask(ctx, askCall(id, now), nil))
	}
	must(t, w.Open(ctx, bareCall("opened"), false, nil))
	must(t, w.Close(ctx, bareCall("closed"), nil))
	must(t, other.Close(ctx, bareCall("elsewhere"), nil))
	for range 2 {
		r, err := other.CloseAbandoned(ctx, now.Add(time.Hour))
		must(t, err)
		if diff := cmp.Diff(Recovery{}, r); diff != "" {
			t.Fatalf("touched the calls of a living process: %s", diff)
		}
	}
	r, err := w.CloseAbandoned(ctx, now.Add(time.Hour))
	must(t, err)
	if diff := cmp.Diff(Recovery{Expired: []string{"left"}}, r); diff != "" {
		t.Fatal(diff)
	}
	wantReason(t, w.Close(ctx, bareCall("left"), nil), ReasonTwice)
	must(t, w.Close(ctx, bareCall("opened"), nil))
	if _, n := w.calls.low(0); n != 0 {
		t.Errorf("%d calls are still remembered", n)
	}
	wantOK(t, w.Path())
}

// TestMark: recovery begins where the unfinished calls of a writer are, also
// when the mark is lost or stale.
func TestMark(t *testing.T) {
	for _, mark := range []string{"kept", "missing", "garbage", "beyond the end", "in a line"} {
		t.Run(mark, func(t *testing.T) {
			dir := t.TempDir()
			ctx := context.Background()
			dead := mustOpen(t, dir, Options{})
			dead.live.marked = -markEvery // as after 8 MiB of log
			must(t, dead.Close(ctx, sampleCall("before"), nil))
			must(t, dead.Open(ctx, bareCall("x"), true, nil))
			vanish(t, dead)
			path := dead.live.path + markExt
			if got := readMark(path); mark == "kept" && got == 0 {
				t.Error("the mark was not moved on")
			}
			switch mark {
			case "missing":
				must(t, os.Remove(path))
			case "garbage":
				must(t, os.WriteFile(path, []byte("x"), 0o600))
			case "beyond the end":
				must(t, os.WriteFile(path, fmt.Appendf(nil, "%0*d\n", markDigits, 1<<40), 0o600))
			case "in a line":
				must(t, os.WriteFile(path, fmt.Appendf(nil, "%0*d\n", markDigits, 7), 0o600))
			}
			w := mustOpen(t, dir, Options{})
			if got := w.Recovered().Interrupted; len(got) != 1 || got[0] != "x" {
				t.Errorf("got %v", got)
			}
		})
	}
}

// TestTornTail: a half line is set aside, whole, recorded, and the chain goes
// on; whole lines before it stay.
func TestTornTail(t *testing.T) {
	whole := sampleLog(t)
	lines := bytes.SplitAfter(whole, []byte("\n"))
	for name, c := range map[string]struct {
		log  []byte
		torn string
		kept int
	}{
		"half a line":    {append(bytes.Clone(whole), lines[0][:50]...), string(lines[0][:50]), 8},
		"no newline":     {whole[:len(whole)-1], string(lines[7][:len(lines[7])-1]), 7},
		"first line":     {lines[0][:3], string(lines[0][:3]), 0},
		"zeros":          {append(bytes.Clone(whole), make([]byte, 40000)...), string(make([]byte, 40000)), 8},
		"only zeros":     {make([]byte, 100), string(make([]byte, 100)), 0},
		"long half line": {append(bytes.Clone(whole), bytes.Repeat([]byte("x"), 100000)...), strings.Repeat("x", 100000), 8},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			must(t, os.WriteFile(logPath(dir), c.log, 0o600))
			if r := verify(t, logPath(dir)); r.OK || r.Findings[len(r.Findings)-1].Kind != KindTorn {
				t.Errorf("before: %+v", r)
			}
			w := mustOpen(t, dir, Options{})
			must(t, w.Close(context.Background(), bareCall("next"), nil))
			wantTorn(t, dir, c.torn, c.kept+2)
			rs := records(t, w.Path())
			if got := phases(rs[c.kept:]); got != "event:torn close:next" {
				t.Error(got)
			}
		})
	}
}

// TestTornByAnother: a process that dies in a write while others live.
func TestTornByAnother(t *testing.T) {
	dir := t.TempDir()
	w := mustOpen(t, dir, Options{})
	must(t, w.Close(context.Background(), bareCall("a"), nil))
	f, err := os.OpenFile(w.Path(), os.O_APPEND|os.O_WRONLY, 0)
	must(t, err)
	_, err = f.WriteString(`{"time":"20`)
	must(t, err)
	must(t, f.Close())
	must(t, w.Close(context.Background(), bareCall("b"), nil))
	wantTorn(t, dir, `{"time":"20`, 3)
	if got := phases(records(t, w.Path())); got != "close:a event:torn close:b" {
		t.Error(got)
	}
}

func wantTorn(t *testing.T, dir, want string, lines int) {
	t.Helper()
	if r := wantOK(t, logPath(dir)); r.Records != uint64(lines) {
		t.Errorf("%d lines, want %d", r.Records, lines)
	}
	files, err := filepath.Glob(filepath.Join(dir, "torn-*.bin"))
	must(t, err)
	if len(files) != 1 {
		t.Fatalf("%d files set aside", len(files))
	}
	if got := string(readFile(t, files[0])); got != want {
		t.Errorf("set aside %d bytes, want %d", len(got), len(want))
	}
}

// TestDamagedLastLine: what is complete stays, even if it is damaged; the
// chain goes on after it and Verify names it.
func TestDamagedLastLine(t *testing.T) {
	whole := sampleLog(t)
	for name, damage := range map[string]func([]byte) []byte{
		"altered":      func(b []byte) []byte { b[len(b)-200] ^= 1; return b },
		"unreadable":   func(b []byte) []byte { return append(b, "\x00\x00garbage\n"...) },
		"two of these": func(b []byte) []byte { return append(b, "garbage\n\n"...) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			log := damage(bytes.Clone(whole))
			must(t, os.WriteFile(logPath(dir), log, 0o600))
			w := mustOpen(t, dir, Options{})
			must(t, w.Close(context.Background(), bareCall("next"), nil))
			got := readFile(t, w.Path())
			if !bytes.HasPrefix(got, log) {
				t.Fatal("complete lines were changed")
			}
			bad := bytes.Count(log, []byte("\n"))
			r := verify(t, w.Path())
			if r.OK || r.Findings[len(r.Findings)-1].Line != bad {
				t.Errorf("got %+v, the last bad line is %d", r.Findings, bad)
			}
		})
	}
}
