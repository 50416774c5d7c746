package executor

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolwarrant/toolwarrant/approval"
	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/executor/worker"
	"github.com/toolwarrant/toolwarrant/fault"
)

func waitUntil(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal(what)
		}
	}
}

func TestAdmissionInTheirOrder(t *testing.T) {
	a := NewAdmission(AdmissionLimits{Running: 1, Waiting: 2, Wait: time.Minute})
	if err := a.enter(t.Context()); err != nil {
		t.Fatal(err)
	}
	order := make(chan int, 2)
	for i := range 2 {
		go func() {
			if err := a.enter(context.Background()); err != nil {
				t.Error(err)
			}
			order <- i
		}()
		waitUntil(t, "it does not wait", func() bool { return a.Stats().Waiting == i+1 })
	}
	if err := a.enter(t.Context()); !errors.Is(err, fault.New(fault.RateLimited, "overload", "")) {
		t.Errorf("beyond the queue: %v", err)
	}
	for want := range 2 {
		a.leave()
		if got := <-order; got != want {
			t.Errorf("%d came before %d", got, want)
		}
	}
	a.leave()
	if s := a.Stats(); s != (AdmissionStats{Shed: 1}) {
		t.Errorf("at the end: %+v", s)
	}
}

func TestAdmissionGivesUp(t *testing.T) {
	a := NewAdmission(AdmissionLimits{Running: 1, Waiting: 1, Wait: time.Millisecond})
	if err := a.enter(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := a.enter(t.Context()); !errors.Is(err, fault.New(fault.RateLimited, "overload", "")) {
		t.Errorf("after the wait: %v", err)
	}
	a.Set(AdmissionLimits{Running: 1, Waiting: 1, Wait: time.Hour})
	ctx, cancel := context.WithCancel(t.Context())
	gone := make(chan error)
	go func() { gone <- a.enter(ctx) }()
	waitUntil(t, "it does not wait", func() bool { return a.Stats().Waiting == 1 })
	cancel()
	if err := <-gone; !errors.Is(err, fault.New(fault.Interrupted, "cancelled", "")) {
		t.Errorf("whose caller left: %v", err)
	}
	// More room is given to those who wait, at once.
	go func() { gone <- a.enter(context.Background()) }()
	waitUntil(t, "it does not wait", func() bool { return a.Stats().Waiting == 1 })
	a.Set(AdmissionLimits{Running: 2})
	if err := <-gone; err != nil {
		t.Error(err)
	}
	if s := a.Stats(); s.Running != 2 || s.Waiting != 0 || s.Shed != 1 {
		t.Errorf("at the end: %+v", s)
	}
	// None at all is any number.
	a.Set(AdmissionLimits{})
	for range 100 {
		if err := a.enter(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// TestAdmissionUnderLoad lets many in and out: never too many inside, no place
// lost, whoever gives up.
func TestAdmissionUnderLoad(t *testing.T) {
	a := NewAdmission(AdmissionLimits{Running: 3, Waiting: 8, Wait: time.Minute})
	var inside, most, entered atomic.Int64
	var wg sync.WaitGroup
	for i := range 64 {
		wg.Go(func() {
			for j := range 50 {
				ctx, cancel := context.WithCancel(context.Background())
				if (i+j)%5 == 0 {
					go cancel()
				}
				if a.enter(ctx) == nil {
					entered.Add(1)
					for n := inside.Add(1); ; {
						if m := most.Load(); n <= m || most.CompareAndSwap(m, n) {
							break
						}
					}
					inside.Add(-1)
					a.leave()
				}
				cancel()
			}
		})
	}
	wg.Wait()
	if s := a.Stats(); s.Running != 0 || s.Waiting != 0 || most.Load() > 3 || entered.Load() == 0 {
		t.Errorf("%+v, %d at once, %d entered", s, most.Load(), entered.Load())
	}
}

// TestOverloadIsOnRecord: a call that is not let in is refused with its record,
// which holds no argument, since nothing said which of them are secret.
func TestOverloadIsOnRecord(t *testing.T) {
	g := newRig(t, plainTool)
	g.Admission = NewAdmission(AdmissionLimits{Running: 1})
	var inner Result
	g.run = func(worker.Call, worker.Broker) (worker.Reply, error) {
		inner = g.Call(t.Context(), Call{Name: "t", Origin: decision.OriginMCPHTTP, Args: json.RawMessage(`{"a":"hunter2"}`)})
		return worker.Reply{}, nil
	}
	if res := g.Call(t.Context(), Call{Name: "t", Origin: decision.OriginMCPHTTP}); res.Err != nil {
		t.Fatal(res.Err)
	}
	if reason(inner) != "RATE_LIMITED/overload" || inner.Outcome != fault.Denied || inner.RetryAfterMs <= 0 {
		t.Errorf("the second call: %+v", inner)
	}
	closes := 0
	for _, c := range g.log {
		if c.Phase != audit.PhaseClose {
			continue
		}
		closes++
		if c.CallID == inner.CallID && (c.Params != nil || c.Error == nil || c.Error.Code != fault.RateLimited || *c.Outcome != fault.Denied) {
			t.Errorf("its record: %+v", c)
		}
	}
	if closes != 2 || g.ran != 1 {
		t.Errorf("%d close records, %d runs", closes, g.ran)
	}
}

type answering func() approval.Action

func (answering) Channel() string { return approval.ChannelElicitation }

func (a answering) Ask(context.Context, approval.Question) (approval.Answer, error) {
	return approval.Answer{Action: a(), Approver: approval.Approver{Subject: "ann"}}, nil
}

// TestHumanTimeTakesNoPlace: while a human is asked, another call runs.
func TestHumanTimeTakesNoPlace(t *testing.T) {
	g := newRig(t, plainTool)
	g.Admission = NewAdmission(AdmissionLimits{Running: 1})
	g.decide = func() (*decision.Decision, error) { return allowing("REQUIRED"), nil }
	p := decision.Principal{Subject: "ann"}
	var meanwhile Result
	res := g.Call(t.Context(), Call{Name: "t", Origin: decision.OriginMCPHTTP, Principal: p, Asker: answering(func() approval.Action {
		meanwhile = g.Call(t.Context(), Call{Name: "t", Origin: decision.OriginMCPHTTP, Principal: p, Args: json.RawMessage(`{"a":"other"}`),
			Asker: answering(func() approval.Action { return approval.ActionDecline })})
		return approval.ActionAccept
	})})
	if res.Err != nil || reason(meanwhile) != "APPROVAL_DENIED/declined" {
		t.Errorf("%v; meanwhile %s", res.Err, reason(meanwhile))
	}
	if s := g.Admission.Stats(); s != (AdmissionStats{}) {
		t.Errorf("at the end: %+v", s)
	}
}

// TestOwnTestsAreLetIn: what an author runs at the terminal is no load.
func TestOwnTestsAreLetIn(t *testing.T) {
	g := newRig(t, plainTool)
	g.Admission = NewAdmission(AdmissionLimits{Running: 1})
	if err := g.Admission.enter(t.Context()); err != nil {
		t.Fatal(err)
	}
	if res := g.Call(t.Context(), Call{Name: "t", Origin: decision.OriginCLITest}); res.Err != nil {
		t.Error(res.Err)
	}
}
