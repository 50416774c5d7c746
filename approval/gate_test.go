package approval_test

import (
	"context"
	"encoding/base64"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/toolwarrant/toolwarrant/approval"
	"github.com/toolwarrant/toolwarrant/approval/approvaltest"
	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/fault"
)

var (
	bob   = approval.Approver{Subject: "bob", Method: "oidc", Groups: []string{"sre"}}
	alice = approval.Approver{Subject: "alice", Method: "oidc", Groups: []string{"dev"}}
)

type world struct {
	*approval.Gate
	clock *approvaltest.Clock
	t     *testing.T
}

func newWorld(t *testing.T) world {
	clock := approvaltest.NewClock()
	return world{approval.NewGate(&approvaltest.Memory{}, approvaltest.Keys{"k1"}, clock.Now), clock, t}
}

func (w world) ask(channel string, who decision.Approvers) approval.Pending {
	w.t.Helper()
	p, err := w.Ask(context.Background(), approvaltest.Binding(), approval.Question{Tool: "t"}, channel, who, 2*time.Minute, []byte("x"))
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

func (w world) seal(p approval.Pending) string {
	w.t.Helper()
	s, err := w.Seal(p)
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

func (w world) state(id string) approval.State {
	w.t.Helper()
	p, err := w.Get(context.Background(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	return p.State
}

func TestMemoryContract(t *testing.T) {
	approvaltest.Run(t, func(*testing.T) func() approval.Store {
		m := &approvaltest.Memory{}
		return func() approval.Store { return m }
	})
}

func TestRedeem(t *testing.T) {
	ctx := context.Background()
	b := approvaltest.Binding()
	b.CallID = "call-2" // a retry has a request of its own
	for _, tc := range []struct {
		name   string
		action approval.Action
		want   error
		state  approval.State
		reason string
	}{
		{"accept", approval.ActionAccept, nil, approval.StateConsumed, ""},
		{"decline", approval.ActionDecline, approval.ErrNotAccepted, approval.StateDeclined, "declined"},
		{"cancel", approval.ActionCancel, approval.ErrNotAccepted, approval.StateCancelled, "cancelled"},
		{"unknown word", "yes", approval.ErrNotAccepted, approval.StateDeclined, "declined"},
		{"no answer", "", approval.ErrNotAccepted, approval.StatePending, "pending"},
		{"deferred", approval.ActionDeferred, approval.ErrNotAccepted, approval.StatePending, "pending"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := newWorld(t)
			p := w.ask(approval.ChannelInputRequired, decision.Approvers{})
			_, err := w.Redeem(ctx, w.seal(p), b, tc.action, alice)
			if !errors.Is(err, tc.want) {
				t.Errorf("error %v, want %v", err, tc.want)
			}
			if got := w.state(p.ID); got != tc.state {
				t.Errorf("state %s, want %s", got, tc.state)
			}
			if tc.want != nil && approval.Fault(err).Reason != tc.reason {
				t.Errorf("reason %q, want %q", approval.Fault(err).Reason, tc.reason)
			}
		})
	}
	t.Run("replay", func(t *testing.T) {
		w := newWorld(t)
		state := w.seal(w.ask(approval.ChannelInputRequired, decision.Approvers{}))
		if _, err := w.Redeem(ctx, state, b, approval.ActionAccept, alice); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Redeem(ctx, state, b, approval.ActionAccept, alice); !errors.Is(err, approval.ErrUsed) {
			t.Errorf("second use: %v", err)
		}
	})
	// One attempt ends the question and closes its call, whatever follows.
	t.Run("ended once", func(t *testing.T) {
		for name, tc := range map[string]struct {
			after  time.Duration
			action approval.Action
		}{"declined": {0, approval.ActionDecline}, "cancelled": {0, approval.ActionCancel}, "expired": {time.Hour, approval.ActionAccept}, "expired, no answer": {time.Hour, ""}} {
			w := newWorld(t)
			state := w.seal(w.ask(approval.ChannelInputRequired, decision.Approvers{}))
			w.clock.Add(tc.after)
			if _, err := w.Redeem(ctx, state, b, tc.action, alice); !approval.Ended(err) {
				t.Errorf("%s: the first attempt did not end it: %v", name, err)
			}
			for _, again := range []approval.Action{tc.action, approval.ActionAccept, ""} {
				if _, err := w.Redeem(ctx, state, b, again, alice); err == nil || approval.Ended(err) {
					t.Errorf("%s, then %q: %v", name, again, err)
				}
			}
			if moved, err := w.Sweep(ctx); err != nil || len(moved) != 0 {
				t.Errorf("%s: swept %v, %v", name, moved, err)
			}
		}
		w := newWorld(t)
		state := w.seal(w.ask(approval.ChannelInputRequired, decision.Approvers{}))
		bad := b
		bad.ToolID = "x"
		if _, err := w.Redeem(ctx, state, bad, approval.ActionDecline, alice); approval.Ended(err) {
			t.Error("a mismatch ended it")
		}
		if _, err := w.Redeem(ctx, state, b, "", alice); approval.Ended(err) {
			t.Error("no answer ended it")
		}
	})
	t.Run("expired", func(t *testing.T) {
		w := newWorld(t)
		p := w.ask(approval.ChannelInputRequired, decision.Approvers{})
		state := w.seal(p)
		w.clock.Add(2 * time.Minute)
		if _, err := w.Redeem(ctx, state, b, approval.ActionAccept, alice); !errors.Is(err, approval.ErrExpired) {
			t.Errorf("error %v", err)
		}
		if got := w.state(p.ID); got != approval.StateExpired {
			t.Errorf("state %s", got)
		}
	})
	t.Run("declined here although accepted elsewhere", func(t *testing.T) {
		w := newWorld(t)
		p := w.ask(approval.ChannelInputRequired, decision.Approvers{})
		if _, err := w.Settle(ctx, p.ID, approval.ActionAccept, bob); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Redeem(ctx, w.seal(p), b, approval.ActionDecline, alice); !errors.Is(err, approval.ErrNotAccepted) {
			t.Errorf("error %v", err)
		}
	})
	t.Run("accepted elsewhere", func(t *testing.T) {
		w := newWorld(t)
		p := w.ask(approval.ChannelInputRequired, decision.Approvers{})
		if _, err := w.Settle(ctx, p.ID, approval.ActionAccept, bob); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Redeem(ctx, w.seal(p), b, "", alice); err != nil {
			t.Errorf("error %v", err)
		}
	})
}

// Every altered call is refused, settles nothing and burns nothing: the
// rightful retry still runs.
func TestMismatch(t *testing.T) {
	ctx := context.Background()
	for field, alter := range map[string]func(*approval.Binding){
		"toolId":         func(b *approval.Binding) { b.ToolID = "tool-2" },
		"specDigest":     func(b *approval.Binding) { b.SpecDigest = "sha256:ab" },
		"paramsDigest":   func(b *approval.Binding) { b.ParamsDigest = "" },
		"decisionDigest": func(b *approval.Binding) { b.DecisionDigest += "0" },
		"subject":        func(b *approval.Binding) { b.Principal.Subject = "mallory" },
		"method":         func(b *approval.Binding) { b.Principal.Method = "none" },
		"clientId":       func(b *approval.Binding) { b.Principal.ClientID = "other" },
		"groups":         func(b *approval.Binding) { b.Principal.Groups = []string{"dev"} },
		"scopes":         func(b *approval.Binding) { b.Principal.Scopes = nil },
		"untrusted":      func(b *approval.Binding) { b.Principal.Untrusted = true },
	} {
		t.Run(field, func(t *testing.T) {
			w := newWorld(t)
			p := w.ask(approval.ChannelInputRequired, decision.Approvers{})
			state, bad := w.seal(p), approvaltest.Binding()
			alter(&bad)
			_, err := w.Redeem(ctx, state, bad, approval.ActionAccept, alice)
			var m *approval.MismatchError
			if !errors.As(err, &m) || !errors.Is(err, approval.ErrMismatch) {
				t.Fatalf("Redeem: %v", err)
			}
			if got := w.state(p.ID); got != approval.StatePending {
				t.Errorf("the altered call made it %s", got)
			}
			if _, err := w.Settle(ctx, p.ID, approval.ActionAccept, bob); err != nil {
				t.Fatal(err)
			}
			if _, err := w.Consume(ctx, p.ID, bad); !errors.Is(err, approval.ErrMismatch) {
				t.Errorf("Consume: %v", err)
			}
			if f := approval.Fault(err); f.Code != fault.ApprovalDenied || f.Reason != "mismatch" {
				t.Errorf("fault %v", f)
			}
			good := approvaltest.Binding()
			good.Principal.Groups = []string{"ops", "dev"} // a set
			if _, err := w.Redeem(ctx, state, good, "", alice); err != nil {
				t.Errorf("the rightful call: %v", err)
			}
		})
	}
}

func TestWhoMayAnswer(t *testing.T) {
	four := decision.Approvers{FourEyes: true}
	sre := decision.Approvers{Groups: []string{"sre", "sec"}}
	for _, tc := range []struct {
		name   string
		who    decision.Approvers
		caller func(*decision.Principal)
		action approval.Action
		by     approval.Approver
		ok     bool
	}{
		{"anyone", decision.Approvers{}, nil, approval.ActionAccept, alice, true},
		{"nobody", decision.Approvers{}, nil, approval.ActionAccept, approval.Approver{}, false},
		{"four eyes: other", four, nil, approval.ActionAccept, bob, true},
		{"four eyes: caller", four, nil, approval.ActionAccept, alice, false},
		{"four eyes: caller spelled differently", four, nil, approval.ActionAccept, approval.Approver{Subject: "ALICE", Method: "oidc"}, false},
		{"four eyes: anonymous approver", four, nil, approval.ActionAccept, approval.Approver{Subject: "local", Method: "elicitation"}, false},
		{"four eyes: approver without method", four, nil, approval.ActionAccept, approval.Approver{Subject: "bob"}, false},
		{"four eyes: anonymous caller", four, func(p *decision.Principal) { p.Subject, p.Method = "local", "none" }, approval.ActionAccept, bob, false},
		{"four eyes: untrusted caller", four, func(p *decision.Principal) { p.Untrusted = true }, approval.ActionAccept, bob, false},
		{"four eyes: caller refuses", four, nil, approval.ActionDecline, alice, true},
		{"group: member", sre, nil, approval.ActionAccept, bob, true},
		{"group: no member", sre, nil, approval.ActionAccept, alice, false},
		{"group: other prefix", sre, nil, approval.ActionAccept, approval.Approver{Subject: "x", Method: "oidc", Groups: []string{"sre-2", "SRE"}}, false},
		{"group: stranger refuses", sre, nil, approval.ActionDecline, approval.Approver{Subject: "eve", Method: "oidc"}, false},
		{"timeout", sre, nil, approval.ActionTimeout, approval.Approver{}, true},
		{"cancelled call", sre, nil, approval.ActionCancel, approval.Approver{}, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := newWorld(t)
			b := approvaltest.Binding()
			if tc.caller != nil {
				tc.caller(&b.Principal)
			}
			ctx := context.Background()
			p, err := w.Ask(ctx, b, approval.Question{}, approval.ChannelOutOfBand, tc.who, time.Minute, nil)
			if err != nil {
				t.Fatal(err)
			}
			_, err = w.Settle(ctx, p.ID, tc.action, tc.by)
			if (err == nil) != tc.ok || (err != nil && !errors.Is(err, approval.ErrNotApprover)) {
				t.Errorf("error %v, want ok %v", err, tc.ok)
			}
			if !tc.ok && w.state(p.ID) != approval.StatePending {
				t.Error("the refused answer changed the entry")
			}
		})
	}
}

func TestFirstAnswerWins(t *testing.T) {
	ctx, w := context.Background(), newWorld(t)
	p := w.ask(approval.ChannelOutOfBand, decision.Approvers{})
	if _, err := w.Settle(ctx, p.ID, approval.ActionDecline, bob); err != nil {
		t.Fatal(err)
	}
	got, err := w.Settle(ctx, p.ID, approval.ActionAccept, alice)
	if !errors.Is(err, approval.ErrConflict) || got.State != approval.StateDeclined || got.Approver.Subject != "bob" {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := w.Consume(ctx, p.ID, approvaltest.Binding()); !errors.Is(err, approval.ErrNotAccepted) {
		t.Errorf("Consume: %v", err)
	}
}

func TestTimeoutAfterExpiry(t *testing.T) {
	ctx, w := context.Background(), newWorld(t)
	p := w.ask(approval.ChannelElicitation, decision.Approvers{})
	w.clock.Add(3 * time.Minute)
	if got, err := w.Settle(ctx, p.ID, approval.ActionTimeout, approval.Approver{}); err != nil || got.State != approval.StateTimeout {
		t.Errorf("%s, %v", got.State, err)
	}
}

func TestMatch(t *testing.T) {
	ctx := context.Background()
	b := approvaltest.Binding()
	b.CallID = "another"
	for _, tc := range []struct {
		name  string
		do    func(w world, p approval.Pending)
		after time.Duration
		want  approval.State // "" = none
	}{
		{"pending", nil, 0, approval.StatePending},
		{"pending, expired", nil, 2 * time.Minute, ""},
		{"accepted", settle(approval.ActionAccept), time.Minute, approval.StateAccepted},
		{"accepted, expired", settle(approval.ActionAccept), 2 * time.Minute, ""},
		{"declined", settle(approval.ActionDecline), 4 * time.Minute, approval.StateDeclined},
		{"declined long ago", settle(approval.ActionDecline), 5 * time.Minute, ""},
		{"used", func(w world, p approval.Pending) {
			settle(approval.ActionAccept)(w, p)
			if _, err := w.Consume(ctx, p.ID, b); err != nil {
				w.t.Fatal(err)
			}
		}, 0, approval.StateConsumed},
		{"ended", func(w world, p approval.Pending) {
			settle(approval.ActionAccept)(w, p)
			if _, err := w.Consume(ctx, p.ID, b); err != nil {
				w.t.Fatal(err)
			}
			if err := w.Finish(ctx, p.ID, approval.Ending{CallID: "c", Value: []byte(`1`)}); err != nil {
				w.t.Fatal(err)
			}
		}, 4 * time.Minute, approval.StateConsumed},
		{"ended long ago", func(w world, p approval.Pending) {
			settle(approval.ActionAccept)(w, p)
			if _, err := w.Consume(ctx, p.ID, b); err != nil {
				w.t.Fatal(err)
			}
			if err := w.Finish(ctx, p.ID, approval.Ending{CallID: "c", Value: []byte(`1`)}); err != nil {
				w.t.Fatal(err)
			}
		}, 5 * time.Minute, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := newWorld(t)
			p := w.ask(approval.ChannelOutOfBand, decision.Approvers{})
			if tc.do != nil {
				tc.do(w, p)
			}
			w.clock.Add(tc.after)
			got, ok, err := w.Match(ctx, b)
			if err != nil || ok != (tc.want != "") || got.State != tc.want {
				t.Errorf("%v %s %v, want %s", ok, got.State, err, tc.want)
			}
			other := b
			other.Principal.ClientID = "other"
			if _, ok, _ := w.Match(ctx, other); ok {
				t.Error("matches another caller")
			}
		})
	}
	t.Run("other channels do not match", func(t *testing.T) {
		w := newWorld(t)
		w.ask(approval.ChannelElicitation, decision.Approvers{})
		if _, ok, _ := w.Match(ctx, b); ok {
			t.Error("matched")
		}
	})
}

func settle(a approval.Action) func(world, approval.Pending) {
	return func(w world, p approval.Pending) {
		if _, err := w.Settle(context.Background(), p.ID, a, bob); err != nil {
			w.t.Fatal(err)
		}
	}
}

func TestSweep(t *testing.T) {
	ctx, w := context.Background(), newWorld(t)
	pending := w.ask(approval.ChannelOutOfBand, decision.Approvers{})
	accepted := w.ask(approval.ChannelOutOfBand, decision.Approvers{})
	settle(approval.ActionAccept)(w, accepted)
	declined := w.ask(approval.ChannelOutOfBand, decision.Approvers{})
	settle(approval.ActionDecline)(w, declined)

	sweep := func() map[string]bool {
		moved, err := w.Sweep(ctx)
		if err != nil {
			t.Fatal(err)
		}
		ids := map[string]bool{}
		for _, p := range moved {
			if p.State != approval.StateExpired {
				t.Errorf("%s is %s", p.ID, p.State)
			}
			ids[p.ID] = true
		}
		return ids
	}
	if m := sweep(); len(m) != 0 {
		t.Errorf("too early: %v", m)
	}
	w.clock.Add(2 * time.Minute)
	if m := sweep(); len(m) != 2 || !m[pending.ID] || !m[accepted.ID] {
		t.Errorf("moved %v", m)
	}
	if m := sweep(); len(m) != 0 {
		t.Errorf("moved twice: %v", m)
	}
	w.clock.Add(time.Hour + time.Second)
	sweep()
	if all, _ := w.List(ctx); len(all) != 0 {
		t.Errorf("%d entries left", len(all))
	}
	if _, err := w.Redeem(ctx, w.seal(pending), approvaltest.Binding(), approval.ActionAccept, alice); approval.Fault(err).Reason != "expired" {
		t.Errorf("a retry after the sweep: %v", err)
	}
}

func TestAskRefusesHoles(t *testing.T) {
	w := newWorld(t)
	for name, empty := range map[string]func(*approval.Binding){
		"callId":         func(b *approval.Binding) { b.CallID = "" },
		"toolId":         func(b *approval.Binding) { b.ToolID = "" },
		"specDigest":     func(b *approval.Binding) { b.SpecDigest = "" },
		"paramsDigest":   func(b *approval.Binding) { b.ParamsDigest = "" },
		"decisionDigest": func(b *approval.Binding) { b.DecisionDigest = "" },
		"subject":        func(b *approval.Binding) { b.Principal.Subject = "" },
	} {
		b := approvaltest.Binding()
		empty(&b)
		if _, err := w.Ask(context.Background(), b, approval.Question{}, approval.ChannelTerminal, decision.Approvers{}, time.Minute, nil); err == nil {
			t.Errorf("asked with empty %s", name)
		}
	}
	if _, err := w.Ask(context.Background(), approvaltest.Binding(), approval.Question{}, approval.ChannelTerminal, decision.Approvers{}, 0, nil); err == nil {
		t.Error("asked without expiry")
	}
}

func TestOpen(t *testing.T) {
	w := newWorld(t)
	p := w.ask(approval.ChannelInputRequired, decision.Approvers{})
	state := w.seal(p)
	if id, nonce, err := w.Open(state); err != nil || id != p.ID || nonce != p.Binding.Nonce {
		t.Fatalf("%s %s %v", id, nonce, err)
	}
	if w.seal(p) == state {
		t.Error("two seals are equal")
	}
	raw, _ := base64.RawURLEncoding.DecodeString(state)
	for i := range raw {
		for bit := range 8 {
			c := append([]byte(nil), raw...)
			c[i] ^= 1 << bit
			if _, _, err := w.Open(base64.RawURLEncoding.EncodeToString(c)); !errors.Is(err, approval.ErrForged) {
				t.Fatalf("byte %d bit %d: %v", i, bit, err)
			}
		}
	}
	for name, s := range map[string]string{
		"empty": "", "cut": state[:len(state)-1], "longer": state + "A", "padded": state + "==", "line break": state[:10] + "\n" + state[10:],
		"blank": " " + state, "huge": strings.Repeat("A", 1<<20), "head only": "AQJrMQ", "no key": "AQA", "standard alphabet": strings.ReplaceAll(state, "_", "/") + "+",
	} {
		if _, _, err := w.Open(s); !errors.Is(err, approval.ErrForged) {
			t.Errorf("%s: %v", name, err)
		}
	}
	store := &approvaltest.Memory{}
	for _, tc := range []struct {
		name string
		keys approvaltest.Keys
		want error
	}{
		{"rotated once", approvaltest.Keys{"k2", "k1"}, nil},
		{"rotated away", approvaltest.Keys{"k3", "k2"}, approval.ErrForged},
	} {
		if _, _, err := approval.NewGate(store, tc.keys, w.clock.Now).Open(state); !errors.Is(err, tc.want) {
			t.Errorf("%s: %v", tc.name, err)
		}
	}
	if _, err := approval.NewGate(store, approvaltest.Keys{}, w.clock.Now).Seal(p); err == nil {
		t.Error("sealed without a key")
	}
}

func FuzzOpenState(f *testing.F) {
	clock := approvaltest.NewClock()
	// A key of its own for every fuzzing process: the seeds of one are forged
	// for the others.
	g := approval.NewGate(&approvaltest.Memory{}, approvaltest.Keys{approval.NewID()}, clock.Now)
	p, err := g.Ask(context.Background(), approvaltest.Binding(), approval.Question{}, approval.ChannelInputRequired, decision.Approvers{}, time.Minute, nil)
	if err != nil {
		f.Fatal(err)
	}
	genuine, err := g.Seal(p)
	if err != nil {
		f.Fatal(err)
	}
	for _, s := range []string{genuine, "", "AQJrMQ", "AQA", "AP8", genuine[:20], genuine + "\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if _, _, err := g.Open(s); err == nil != (s == genuine) {
			t.Errorf("%q: %v", s, err)
		}
	})
}

func TestPrompt(t *testing.T) {
	for _, tc := range []struct{ template, tool, args, level, want string }{
		{"Run {toolName} with {args}?", "rm", `{"p":"x"}`, "L4", `Run rm with {"p":"x"}?`},
		{"", "rm", `{}`, "L4", `[risk L4] Approve running tool 'rm' with arguments {}?`},
		{" \n", "rm", `{}`, "", `Approve running tool 'rm' with arguments {}?`},
		{"{args} {args.path} {other} {toolName}", "{args}", `{"a":"{toolName}{args}"}`, "", `{"a":"{toolName}{args}"} {args.path} {other} {args}`},
		{"two\nlines\r{args}", "t", "a\nb\u202ec\u200bd\x00", "", "two\\nlines\\ra\\nb\\u202ec\\u200bd\\u0000"},
		{"Refresh the cache?\n\nabc L0 base64", "rm", `{"path":"/"}`, "L4", "Refresh the cache?\\n\\nabc L0 base64\nTool rm, arguments {\"path\":\"/\"}"},
	} {
		if got := approval.Prompt(tc.template, tc.tool, tc.args, tc.level); got != tc.want {
			t.Errorf("Prompt(%q)\n got %q\nwant %q", tc.template, got, tc.want)
		}
	}
}

func TestFault(t *testing.T) {
	for _, tc := range []struct {
		err    error
		code   fault.Code
		reason string
	}{
		{approval.ErrForged, fault.ApprovalDenied, "mismatch"},
		{approval.ErrExpired, fault.ApprovalDenied, "expired"},
		{approval.ErrUsed, fault.ApprovalDenied, "expired"},
		{approval.ErrNotApprover, fault.ApprovalDenied, "unsupported"},
		{&approval.NotAcceptedError{State: approval.StateTimeout}, fault.ApprovalDenied, "timeout"},
		{&approval.SettledError{State: approval.StateCancelled}, fault.ApprovalDenied, "cancelled"},
		{&approval.NotAcceptedError{State: approval.StatePending}, fault.ApprovalPending, "pending"},
		{approval.NotFound("x"), fault.ApprovalDenied, "expired"},
		{errors.New("disk on fire"), fault.Internal, "unexpected"},
	} {
		if f := approval.Fault(tc.err); f.Code != tc.code || f.Reason != tc.reason || !errors.Is(f, tc.err) {
			t.Errorf("%v: %v", tc.err, f)
		}
	}
	if approval.Fault(nil) != nil {
		t.Error("nil is an error")
	}
}

// TestNeeds: what a person reads about who may accept is what Settle does.
func TestNeeds(t *testing.T) {
	for name, tt := range map[string]struct {
		approvers  decision.Approvers
		caller     decision.Principal
		acceptable bool
		needs      string
	}{
		"anybody":             {decision.Approvers{}, decision.Principal{Subject: "local", Method: "none"}, true, ""},
		"second person":       {decision.Approvers{FourEyes: true}, decision.Principal{Subject: "a", Method: "oidc"}, true, "who is not the caller"},
		"unauthenticated":     {decision.Approvers{FourEyes: true}, decision.Principal{Subject: "local", Method: "none"}, false, "denied and not accepted"},
		"untrusted":           {decision.Approvers{FourEyes: true}, decision.Principal{Subject: "a", Method: "oidc", Untrusted: true}, false, "denied and not accepted"},
		"groups":              {decision.Approvers{Groups: []string{"g", "h"}}, decision.Principal{}, true, "one of the groups g, h"},
		"second person of it": {decision.Approvers{Groups: []string{"g"}, FourEyes: true}, decision.Principal{Subject: "a", Method: "oidc"}, true, "not the caller, somebody of one of the groups g"},
	} {
		p := approval.Pending{Approvers: tt.approvers, Binding: approval.Binding{Principal: tt.caller}}
		if p.Acceptable() != tt.acceptable || !strings.Contains(p.Needs(), tt.needs) || (tt.needs == "") != (p.Needs() == "") {
			t.Errorf("%s: %v, %q", name, p.Acceptable(), p.Needs())
		}
	}
}
