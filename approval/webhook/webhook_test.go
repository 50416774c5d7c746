package webhook

import (
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

	"github.com/toolwarrant/toolwarrant/approval"
	"github.com/toolwarrant/toolwarrant/approval/approvaltest"
	"github.com/toolwarrant/toolwarrant/decision"
)

// world is a gate, a receiver that may fail, and outboxes on one folder.
type world struct {
	t     *testing.T
	gate  *approval.Gate
	dir   string
	fail  error
	got   []string // ids, in their order
	last  map[string]Notice
	now   time.Time
	said  []string
	asked int
}

func newWorld(t *testing.T) *world {
	return &world{
		t: t, gate: approval.NewGate(&approvaltest.Memory{}, approvaltest.Keys{"k"}, nil),
		dir: filepath.Join(t.TempDir(), "out"), last: map[string]Notice{}, now: time.Now(),
	}
}

func (w *world) open() *Outbox {
	w.t.Helper()
	o, err := OpenOutbox(w.dir, func(_ context.Context, id string, body []byte) error {
		if w.fail != nil {
			return w.fail
		}
		var n Notice
		if err := json.Unmarshal(body, &n); err != nil {
			w.t.Error(err)
		}
		w.got, w.last[id] = append(w.got, id), n
		return nil
	}, func(msg string, err error) { w.said = append(w.said, fmt.Sprint(msg, ": ", err)) })
	if err != nil {
		w.t.Fatal(err)
	}
	o.now = func() time.Time { return w.now }
	return o
}

func (w *world) ask() approval.Pending {
	w.t.Helper()
	w.asked++
	b := approvaltest.Binding()
	b.CallID = fmt.Sprint("call-", w.asked)
	p, err := w.gate.Ask(context.Background(), b, approval.Question{Tool: "t", Prompt: "run it?", Args: `{"a":1}`}, approval.ChannelOutOfBand, decision.Approvers{}, time.Hour, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

func (w *world) settle(id string, a approval.Action) {
	w.t.Helper()
	if _, err := w.gate.Settle(context.Background(), id, a, approval.Approver{Subject: "bob", Method: "oidc"}); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) round(o *Outbox) time.Duration {
	w.t.Helper()
	all, err := w.gate.List(context.Background())
	if err != nil {
		w.t.Fatal(err)
	}
	return o.Round(context.Background(), all)
}

func (w *world) want(ids ...string) {
	w.t.Helper()
	if got, want := strings.Join(w.got, " "), strings.Join(ids, " "); got != want {
		w.t.Errorf("sent %q, want %q", got, want)
	}
}

func askedID(p approval.Pending) string   { return "apr_" + p.ID + "_asked" }
func settledID(p approval.Pending) string { return "apr_" + p.ID + "_settled" }

func TestEachIsToldOnce(t *testing.T) {
	w := newWorld(t)
	o := w.open()
	a := w.ask()
	w.round(o)
	w.round(o)
	w.want(askedID(a))
	n := w.last[askedID(a)]
	if n.Type != TypeAsked || n.Data.ApprovalID != a.ID || n.Data.Prompt != "run it?" || n.Data.State != approval.StatePending || n.Data.Principal.Subject != "alice" {
		t.Errorf("%+v", n)
	}
	w.settle(a.ID, approval.ActionAccept)
	w.round(o)
	w.round(o)
	w.want(askedID(a), settledID(a))
	if n := w.last[settledID(a)]; n.Type != TypeSettled || n.Data.State != approval.StateAccepted || n.Data.Approver.Subject != "bob" {
		t.Errorf("%+v", n)
	}
	if _, err := w.gate.Consume(context.Background(), a.ID, a.Binding); err != nil {
		t.Fatal(err)
	}
	w.round(o)
	w.round(w.open()) // after a restart
	w.want(askedID(a), settledID(a))
}

// One that was asked and answered between two looks is told of its end.
func TestQuickAnswer(t *testing.T) {
	w := newWorld(t)
	before := w.ask()
	w.settle(before.ID, approval.ActionDecline)
	time.Sleep(2 * time.Millisecond) // times of entries are cut to milliseconds
	o := w.open()
	time.Sleep(2 * time.Millisecond)
	quick := w.ask()
	w.settle(quick.ID, approval.ActionDecline)
	w.round(o)
	w.want(settledID(quick)) // and not of what was over before it began
}

// While the receiver is down, notices wait on disk; another process goes on.
func TestRestartSends(t *testing.T) {
	w := newWorld(t)
	o := w.open()
	w.fail = errors.New("down")
	a := w.ask()
	if wait := w.round(o); wait != firstPause {
		t.Errorf("waits %s", wait)
	}
	if wait := w.round(o); wait > firstPause || wait <= 0 {
		t.Errorf("tries again at once: %s", wait)
	}
	w.now = w.now.Add(firstPause)
	if wait := w.round(o); wait != 2*firstPause {
		t.Errorf("waits %s the second time", wait)
	}
	w.now = w.now.Add(time.Hour)
	w.fail = &Later{After: 7 * time.Second, Err: errors.New("busy")}
	if wait := w.round(o); wait != 7*time.Second {
		t.Errorf("waits %s, not as long as it was told", wait)
	}
	w.want()
	w.settle(a.ID, approval.ActionAccept) // while nobody is there to tell of it
	w.fail = nil
	w.round(w.open())
	w.want(askedID(a), settledID(a))
	if len(w.said) == 0 {
		t.Error("nobody was told that the receiver is down")
	}
	for _, s := range w.said {
		if strings.Contains(s, "run it") {
			t.Errorf("the log shows a notice: %s", s)
		}
	}
}

func TestRefusedForGood(t *testing.T) {
	w := newWorld(t)
	o := w.open()
	w.fail = &Never{errors.New("413")}
	w.ask()
	w.round(o)
	w.fail = nil
	b := w.ask()
	w.round(o)
	w.want(askedID(b))
}

// What was not taken for a day is dropped, and what stands for a notice of a
// question that is gone is removed.
func TestOld(t *testing.T) {
	w := newWorld(t)
	o := w.open()
	w.fail = errors.New("down")
	w.ask()
	w.round(o)
	w.now = w.now.Add(keepFor + time.Hour)
	w.fail = nil
	w.round(o)
	w.want()
	w.now = w.now.Add(time.Hour)
	if wait := o.Round(context.Background(), nil); wait != 0 {
		t.Errorf("waits %s", wait)
	}
	files, err := os.ReadDir(w.dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if f.Name() != lockName {
			t.Errorf("%s is left", f.Name())
		}
	}
}

// Of several processes one tells.
func TestManyProcesses(t *testing.T) {
	w := newWorld(t)
	var mu sync.Mutex
	counts := map[string]int{}
	var boxes []*Outbox
	for range 6 {
		o := w.open()
		o.post = func(_ context.Context, id string, _ []byte) error {
			mu.Lock()
			defer mu.Unlock()
			counts[id]++
			return nil
		}
		boxes = append(boxes, o)
	}
	var asked []approval.Pending
	for range 5 {
		asked = append(asked, w.ask())
	}
	all, err := w.gate.List(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for _, o := range boxes {
		wg.Go(func() {
			for range 5 {
				o.Round(context.Background(), all)
			}
		})
	}
	wg.Wait()
	for _, p := range asked {
		if counts[askedID(p)] != 1 {
			t.Errorf("%s was told %d times", p.ID, counts[askedID(p)])
		}
	}
}

func TestNonces(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "nonces")
	open := func() *Nonces {
		n, err := OpenNonces(dir, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	n := open()
	for _, id := range []string{"a", "../../etc/passwd", strings.Repeat("x", 256), "\x00"} {
		if err := n.Take(id); err != nil {
			t.Errorf("%q: %v", id, err)
		}
		for _, again := range []*Nonces{n, open()} { // another process, or after a restart
			if err := again.Take(id); !errors.Is(err, ErrReplayed) {
				t.Errorf("%q again: %v", id, err)
			}
		}
	}
	if err := n.GiveBack("a"); err != nil {
		t.Fatal(err)
	}
	if err := n.Take("a"); err != nil {
		t.Errorf("given back, and: %v", err)
	}
	n.now = func() time.Time { return time.Now().Add(2 * time.Minute) }
	if err := n.Take("b"); err != nil {
		t.Fatal(err)
	}
	if files, _ := os.ReadDir(dir); len(files) != 1 {
		t.Errorf("%d ids are kept, want the new one alone", len(files))
	}
	won := 0
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range 20 {
		o := open()
		wg.Go(func() {
			if o.Take("race") == nil {
				mu.Lock()
				won++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if won != 1 {
		t.Errorf("%d took one id", won)
	}
}
