package server

import (
	"context"
	"encoding/json"
	"errors"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/toolwarrant/toolwarrant/approval"
	"github.com/toolwarrant/toolwarrant/approval/approvaltest"
	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/digest"
	"github.com/toolwarrant/toolwarrant/executor"
	"github.com/toolwarrant/toolwarrant/fault"
)

// fake is a Caller with a few tools. Its approvals are real: a Gate over a
// store in memory.
type fake struct {
	gate   *approval.Gate
	expiry time.Duration // of a question

	executed  atomic.Int64 // runs of the tool danger
	started   chan struct{}
	cancelled chan error // cause of each call of slow that was cut off

	mu       sync.Mutex
	seen     []executor.Call
	refused  []executor.Refusal
	noRecord error // of Refused
}

func newFake() *fake {
	return &fake{
		gate:    approval.NewGate(&approvaltest.Memory{}, approvaltest.Keys{"k1"}, nil),
		expiry:  time.Minute,
		started: make(chan struct{}, 100), cancelled: make(chan error, 100),
	}
}

func (f *fake) calls() []executor.Call {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]executor.Call(nil), f.seen...)
}

func (f *fake) last() executor.Call {
	c := f.calls()
	return c[len(c)-1]
}

func (f *fake) Refused(_ context.Context, r executor.Refusal) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refused = append(f.refused, r)
	return f.noRecord
}

func (f *fake) Refuse(context.Context, executor.Call, *fault.Error) executor.Result {
	return executor.Result{}
}

func (f *fake) Tools(_ context.Context, p decision.Principal) (*List, error) {
	yes := true
	if p.ClientID == "broken" {
		return nil, fault.New(fault.PolicyUnavailable, "no-policy", "no policy is active").Because(errors.New("secret cause"))
	}
	tools := []ToolView{
		{Name: "zeta", Title: "Zeta", Description: "Last letter first.",
			InputSchema: json.RawMessage(`{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"string"},"m":{"type":"string"}},"required":["z"]}`),
			Annotations: Annotations{ReadOnly: &yes}},
		{Name: "echo", Description: "Echo.", InputSchema: json.RawMessage(`{"type":"object"}`)},
	}
	if p.ClientID == "restricted" {
		tools = tools[:1]
	}
	return NewList(tools)
}

func (f *fake) Call(ctx context.Context, c executor.Call) executor.Result {
	f.mu.Lock()
	f.seen = append(f.seen, c)
	f.mu.Unlock()
	res := executor.Result{CallID: "call-" + approval.NewID(), Decision: &decision.Decision{DecisionID: "decision-1"}}
	switch c.Name {
	case "echo":
		res.Value = c.Args
	case "text":
		res.Value = json.RawMessage(`"line <one>\n\u00e9"`)
	case "list":
		res.Value = json.RawMessage(`[1,2]`)
	case "void":
	case "broken-json":
		res.Value = json.RawMessage(`{"a":`)
	case "panic":
		panic("boom with a secret")
	case "rate":
		res.Err = fault.New(fault.RateLimited, "rate", "too many calls")
		res.RetryAfterMs = 100
	case "pending":
		res.Err = fault.New(fault.ApprovalPending, "pending", "waiting")
		res.ApprovalID, res.RetryAfterMs = "x", 2000
	case "slow":
		f.started <- struct{}{}
		<-ctx.Done()
		f.cancelled <- context.Cause(ctx)
		res.Err = fault.New(fault.Interrupted, "cancelled", "cut off")
	case "input-anyway": // a defect: asks a client that cannot be asked
		res.InputRequired = &executor.InputRequired{State: "s", Prompt: "?"}
	case "danger":
		f.danger(ctx, c, &res)
	default:
		res.Err = fault.New(fault.NotFound, "unknown-tool", "there is no tool %q", c.Name)
	}
	return res
}

func (f *fake) danger(ctx context.Context, c executor.Call, res *executor.Result) {
	args := c.Args
	if args == nil {
		args = json.RawMessage(`{}`)
	}
	params, _ := digest.JSON(args)
	b := approval.Binding{
		CallID: res.CallID, ToolID: "tool", SpecDigest: "sha256:s", ParamsDigest: params,
		Principal: c.Principal, DecisionDigest: "sha256:d",
	}
	by := approval.Approver{Subject: c.Principal.Subject, Method: "x"}
	run := func(err error) {
		if err != nil {
			res.Err = approval.Fault(err)
			return
		}
		if c.Running != nil {
			c.Running()
		}
		f.executed.Add(1)
		res.Value = json.RawMessage(`{"ran":true}`)
	}
	if c.State != "" {
		p, err := f.gate.Redeem(ctx, c.State, b, c.Answer, by)
		var na *approval.NotAcceptedError
		if errors.As(err, &na) && na.State == approval.StatePending {
			f.ask(p, res)
			return
		}
		run(err)
		return
	}
	if c.Asker == nil {
		res.Err = approval.Denied(approval.ReasonUnsupported)
		return
	}
	q := approval.Question{Tool: c.Name, Prompt: approval.Prompt("", c.Name, string(args), "L4")}
	p, err := f.gate.Ask(ctx, b, q, c.Asker.Channel(), decision.Approvers{}, f.expiry, nil)
	if err != nil {
		run(err)
		return
	}
	f.started <- struct{}{}
	asking, cancel := context.WithTimeout(ctx, f.expiry)
	defer cancel()
	a, err := c.Asker.Ask(asking, q)
	if err != nil {
		a.Action = approval.ActionCancel
	}
	if a.Action == approval.ActionDeferred {
		f.ask(p, res)
		return
	}
	// The call may be cut off: settling must go on.
	if _, err = f.gate.Settle(context.WithoutCancel(ctx), p.ID, a.Action, a.Approver); err == nil {
		_, err = f.gate.Consume(context.WithoutCancel(ctx), p.ID, b)
	}
	run(err)
}

func (f *fake) ask(p approval.Pending, res *executor.Result) {
	state, err := f.gate.Seal(p)
	if err != nil {
		res.Err = fault.From(err)
		return
	}
	res.InputRequired = &executor.InputRequired{State: state, Prompt: p.Question.Prompt, ExpirySeconds: int64(f.expiry.Seconds())}
}

// start serves a Caller over HTTP and gives the URL of /mcp.
func start(t *testing.T, f Caller, change ...func(*Options)) (*Server, string) {
	t.Helper()
	opt := Options{Caller: f, Name: "test", Version: "1", Logger: zerolog.Nop()}
	for _, c := range change {
		c(&opt)
	}
	s := New(opt)
	hs := httptest.NewServer(s.Handler())
	t.Cleanup(func() {
		s.stopNow()
		s.closeSessions()
		hs.CloseClientConnections()
		hs.Close()
	})
	return s, hs.URL + "/mcp"
}

// changing is a fake with a tool that comes and goes.
type changing struct {
	*fake
	more atomic.Bool
}

func (c *changing) Tools(ctx context.Context, p decision.Principal) (*List, error) {
	if !c.more.Load() {
		return c.fake.Tools(ctx, p)
	}
	return NewList([]ToolView{{Name: "echo", Description: "Echo."}, {Name: "news", Description: "News."}})
}
