package approvaltest

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolwarrant/toolwarrant/approval"
	"github.com/toolwarrant/toolwarrant/fault"
)

// Run checks the contract of approval.Store. open gives a handle on one and
// the same fresh store each time it is called within one sub-test; a store of
// a single process may give the same handle.
func Run(t *testing.T, fresh func(t *testing.T) (open func() approval.Store)) {
	ctx := context.Background()
	t.Run("round trip", func(t *testing.T) {
		open := fresh(t)
		want := sample(1)
		if err := open().Create(ctx, want); err != nil {
			t.Fatal(err)
		}
		got, err := open().Get(ctx, want.ID)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
		if err := open().Create(ctx, want); !errors.Is(err, approval.ErrConflict) {
			t.Errorf("second create: %v", err)
		}
	})
	t.Run("absent", func(t *testing.T) {
		s := fresh(t)()
		notFound := fault.New(fault.NotFound, "", "")
		for _, id := range []string{approval.NewID(), "", "../x", "x/../../y", ".", "con"} {
			if _, err := s.Get(ctx, id); !errors.Is(err, notFound) {
				t.Errorf("Get(%q): %v", id, err)
			}
			if _, err := s.Transition(ctx, id, approval.StatePending, approval.StateAccepted, nil); !errors.Is(err, notFound) {
				t.Errorf("Transition(%q): %v", id, err)
			}
			if err := s.Delete(ctx, id); err != nil {
				t.Errorf("Delete(%q): %v", id, err)
			}
		}
	})
	t.Run("transition", func(t *testing.T) {
		s := fresh(t)()
		p := sample(1)
		if err := s.Create(ctx, p); err != nil {
			t.Fatal(err)
		}
		at := p.CreatedAt.Add(time.Second)
		got, err := s.Transition(ctx, p.ID, approval.StatePending, approval.StateAccepted, func(n *approval.Pending) {
			n.DecidedAt, n.Approver = &at, &approval.Approver{Subject: "bob", Method: "oidc", Groups: []string{"g"}}
		})
		if err != nil || got.State != approval.StateAccepted || got.Approver.Subject != "bob" {
			t.Fatalf("%+v, %v", got, err)
		}
		if _, err := s.Transition(ctx, p.ID, approval.StatePending, approval.StateDeclined, nil); !errors.Is(err, approval.ErrConflict) {
			t.Errorf("from a state it has left: %v", err)
		}
		again, err := s.Get(ctx, p.ID)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(got, again); d != "" {
			t.Error(d)
		}
	})
	t.Run("list and delete", func(t *testing.T) {
		s := fresh(t)()
		var want []string
		for i := range 5 {
			p := sample(5 - i) // created youngest first
			want = append([]string{p.ID}, want...)
			if err := s.Create(ctx, p); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := s.Transition(ctx, want[2], approval.StatePending, approval.StateAccepted, nil); err != nil {
			t.Fatal(err)
		}
		if err := s.Delete(ctx, want[2]); err != nil {
			t.Fatal(err)
		}
		all, err := s.List(ctx)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range all {
			got = append(got, p.ID)
		}
		if d := cmp.Diff(append(want[:2:2], want[3:]...), got); d != "" {
			t.Error(d)
		}
	})
	t.Run("one winner", func(t *testing.T) {
		open := fresh(t)
		p := sample(1)
		if err := open().Create(ctx, p); err != nil {
			t.Fatal(err)
		}
		won := race(50, func(i int) bool {
			to := []approval.State{approval.StateAccepted, approval.StateDeclined, approval.StateExpired}[i%3]
			_, err := open().Transition(ctx, p.ID, approval.StatePending, to, nil)
			if err != nil && !errors.Is(err, approval.ErrConflict) {
				t.Error(err)
			}
			return err == nil
		})
		if won != 1 {
			t.Errorf("%d of 50 concurrent changes won", won)
		}
	})
}

// race runs f n times at once and counts the true ones.
func race(n int, f func(i int) bool) int {
	var wg sync.WaitGroup
	start := make(chan struct{})
	results := make(chan bool, n)
	for i := range n {
		wg.Go(func() {
			<-start
			results <- f(i)
		})
	}
	close(start)
	wg.Wait()
	close(results)
	won := 0
	for r := range results {
		if r {
			won++
		}
	}
	return won
}

func sample(second int) approval.Pending {
	at := time.Date(2026, 3, 4, 5, 6, second, 0, time.UTC)
	b := Binding()
	b.Nonce, b.ExpiresAt = approval.NewID(), at.Add(time.Minute)
	return approval.Pending{
		Version: 1, ID: approval.NewID(), Binding: b, Channel: approval.ChannelOutOfBand,
		Question: approval.Question{Tool: "t", Prompt: "p", Args: `{"a":1}`}, State: approval.StatePending,
		CreatedAt: at, Ask: []byte(`{"phase":"ask"}`),
	}
}
