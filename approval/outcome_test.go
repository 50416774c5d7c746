package approval_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/toolwarrant/toolwarrant/approval"
	"github.com/toolwarrant/toolwarrant/approval/approvaltest"
	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/fault"
)

// used is an accepted question whose acceptance was used.
func (w world) used() approval.Pending {
	w.t.Helper()
	p := w.ask(approval.ChannelOutOfBand, decision.Approvers{})
	settle(approval.ActionAccept)(w, p)
	u, err := w.Consume(context.Background(), p.ID, approvaltest.Binding())
	if err != nil {
		w.t.Fatal(err)
	}
	return u
}

func TestOutcomeIsKept(t *testing.T) {
	ctx := context.Background()
	for name, e := range map[string]approval.Ending{
		"fine":   {CallID: "c", Value: json.RawMessage(`{"secretly":"kept"}`), Note: "n"},
		"failed": {CallID: "c", Code: fault.JSError, Reason: "Error", Message: "no"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			u := w.used()
			if _, ok, err := w.Recall(u); ok || err != nil {
				t.Errorf("an outcome before the end: %v", err)
			}
			if err := w.Finish(ctx, u.ID, e); err != nil {
				t.Fatal(err)
			}
			p, err := w.Get(ctx, u.ID)
			if err != nil {
				t.Fatal(err)
			}
			if raw, _ := json.Marshal(p); strings.Contains(string(raw), "secretly") || strings.Contains(string(p.Outcome.Content), "secretly") {
				t.Error("the result can be read in the entry")
			}
			got, ok, err := w.Recall(p)
			if err != nil || !ok || string(got.Value) != string(e.Value) && e.Value != nil || got.Code != e.Code || got.Note != e.Note || got.CallID != "c" {
				t.Errorf("%+v %v %v", got, ok, err)
			}
			// The first end counts, and it does not open anything again.
			if err := w.Finish(ctx, u.ID, approval.Ending{CallID: "other"}); err != nil {
				t.Fatal(err)
			}
			if p, _ := w.Get(ctx, u.ID); p.Outcome.CallID != "c" {
				t.Error("a second end took the place of the first")
			}
			if err := w.Release(ctx, u.ID); !errors.Is(err, approval.ErrUsed) {
				t.Errorf("released after it ended: %v", err)
			}
			w.clock.Add(2*approval.ReplayFor + time.Second)
			if _, err := w.Sweep(ctx); err != nil {
				t.Fatal(err)
			}
			if all, _ := w.List(ctx); len(all) != 0 {
				t.Error("the outcome is kept for ever")
			}
		})
	}
	t.Run("not used", func(t *testing.T) {
		w := newWorld(t)
		p := w.ask(approval.ChannelOutOfBand, decision.Approvers{})
		if err := w.Finish(ctx, p.ID, approval.Ending{}); !errors.Is(err, approval.ErrConflict) {
			t.Errorf("a call that never began has ended: %v", err)
		}
		if err := w.Release(ctx, p.ID); !errors.Is(err, approval.ErrConflict) {
			t.Errorf("released a question: %v", err)
		}
		if w.state(p.ID) != approval.StatePending {
			t.Error("it is not pending any more")
		}
	})
	t.Run("large", func(t *testing.T) {
		w := newWorld(t)
		u := w.used()
		if err := w.Finish(ctx, u.ID, approval.Ending{CallID: "c", Value: json.RawMessage(`"` + strings.Repeat("x", 1<<20) + `"`)}); err != nil {
			t.Fatal(err)
		}
		p, _ := w.Get(ctx, u.ID)
		if _, ok, err := w.Recall(p); ok || err != nil || p.Outcome == nil {
			t.Errorf("%v %v", ok, err)
		}
	})
}

// What is sealed in one entry is nothing in another, and nothing after a
// change or two rotations.
func TestContentIsBound(t *testing.T) {
	ctx := context.Background()
	store, clock := &approvaltest.Memory{}, approvaltest.NewClock()
	w := world{approval.NewGate(store, approvaltest.Keys{"k1"}, clock.Now), clock, t}
	u, other := w.used(), w.used()
	for _, p := range []approval.Pending{u, other} {
		if err := w.Finish(ctx, p.ID, approval.Ending{CallID: "c", Value: json.RawMessage(`1`)}); err != nil {
			t.Fatal(err)
		}
	}
	p, _ := w.Get(ctx, u.ID)
	o, _ := w.Get(ctx, other.ID)
	content := p.Outcome.Content
	for name, raw := range map[string][]byte{"of another entry": o.Outcome.Content, "cut": content[:len(content)-1], "head": content[:4], "empty head": {1, 200}, "none": {1}} {
		moved := p
		moved.Outcome = &approval.Outcome{At: p.Outcome.At, CallID: "c", Content: raw}
		if _, ok, err := w.Recall(moved); ok || err != nil {
			t.Errorf("%s: %v %v", name, ok, err)
		}
	}
	for i := range content {
		flipped := append([]byte(nil), content...)
		flipped[i] ^= 1
		moved := p
		moved.Outcome = &approval.Outcome{At: p.Outcome.At, CallID: "c", Content: flipped}
		if _, ok, _ := w.Recall(moved); ok {
			t.Fatalf("byte %d", i)
		}
	}
	for _, tc := range []struct {
		keys approvaltest.Keys
		ok   bool
	}{{approvaltest.Keys{"k2", "k1"}, true}, {approvaltest.Keys{"k3", "k2"}, false}} {
		if _, ok, err := approval.NewGate(store, tc.keys, clock.Now).Recall(p); ok != tc.ok || err != nil {
			t.Errorf("%v: %v %v", tc.keys, ok, err)
		}
	}
}

func FuzzContent(f *testing.F) {
	ctx, clock := context.Background(), approvaltest.NewClock()
	g := approval.NewGate(&approvaltest.Memory{}, approvaltest.Keys{approval.NewID()}, clock.Now)
	p, err := g.Ask(ctx, approvaltest.Binding(), approval.Question{}, approval.ChannelOutOfBand, decision.Approvers{}, time.Minute, nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte{1, 1, 'k', 0})
	f.Add([]byte{})
	f.Add([]byte{1, 255})
	f.Fuzz(func(t *testing.T, raw []byte) {
		p := p
		p.Outcome = &approval.Outcome{Content: raw}
		if _, ok, _ := g.Recall(p); ok {
			t.Errorf("content that nobody sealed: %x", raw)
		}
		p.Amendment = &approval.Amendment{Args: raw}
		if _, err := g.AmendedArgs(p); err == nil {
			t.Errorf("arguments that nobody sealed: %x", raw)
		}
	})
}

// A digest of before a rotation is found by the one under its own key.
func TestRekeyed(t *testing.T) {
	b := approvaltest.Binding()
	got := b
	got.ParamsDigest = "hmac-sha256:new:zz"
	if b.Check(got) == nil {
		t.Error("another digest matches")
	}
	got.Rekeyed = func(stored string) string {
		if stored != b.ParamsDigest {
			t.Errorf("asked for %s", stored)
		}
		return b.ParamsDigest
	}
	if err := b.Check(got); err != nil {
		t.Error(err)
	}
	got.Rekeyed = func(string) string { return "" } // the key is gone
	if b.Check(got) == nil {
		t.Error("no digest matches")
	}
}

// Who is too slow for the events is told so, by the end of them.
func TestSlowSubscriber(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	w := newWorld(t)
	feed := approval.NewFeed(w.Gate)
	feed.Prime(ctx)
	go feed.Run(ctx, time.Millisecond, nil)
	slow, reading := feed.Subscribe(ctx), feed.Subscribe(ctx)
	asked := 0
	for range 8 { // fewer at a time than a subscription holds, more altogether
		var last approval.Pending
		for range 50 {
			last = w.ask(approval.ChannelOutOfBand, decision.Approvers{})
			asked++
		}
		for e := range reading {
			if e.Pending.ID == last.ID {
				last.ID = ""
				break
			}
		}
		if last.ID != "" {
			t.Fatal("a subscriber that reads was cut off")
		}
	}
	n := 0
	for range slow { // ends, since the channel was closed
		n++
	}
	if n == 0 || n >= asked {
		t.Errorf("%d events of %d", n, asked)
	}
}
