package executor

import (
	"cmp"
	"context"
	"errors"

	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/catalog"
	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/executor/secret"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/impact"
	"github.com/toolwarrant/toolwarrant/resolver"
)

// errSuspended ends a request whose call goes on later: the client was told
// to ask its human and to come back.
var errSuspended = errors.New("executor: the call waits for a human")

// Call runs one governed call. It never panics. The record is durable before
// Call returns; where it cannot be made, the result is withheld and the error
// is AUDIT_UNAVAILABLE.
func (e *Engine) Call(ctx context.Context, in Call) Result {
	r := e.receive(in)
	ctx = e.startTrace(ctx, r)
	leave, err := e.admit(ctx, r)
	if err == nil {
		defer leave()
		err = e.guarded(ctx, r)
	}
	if errors.Is(err, errSuspended) {
		r.endShadow() // the request that ends the call asks again
		r.endTrace(Result{})
		return Result{CallID: r.callID, Decision: r.decision, InputRequired: r.ask}
	}
	if errors.Is(err, errReplayed) {
		err = nil
	}
	return e.record(ctx, r, err)
}

// guarded runs the steps; a panic in one of them is that step's failure.
func (e *Engine) guarded(ctx context.Context, r *run) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = e.panicked(r, p)
		}
	}()
	steps := []struct {
		span string // "" = it has none
		do   func(context.Context, *run) error
	}{{"", e.lookup}, {"", e.validate}, {"decide", e.decide}, {"", e.limit}, {"approve", e.approve}, {"execute", e.enforce}}
	for _, step := range steps {
		if ctx.Err() != nil {
			return left(ctx.Err())
		}
		do := func(ctx context.Context) error { return step.do(ctx, r) }
		if err := r.within(ctx, step.span, do); err != nil {
			return unlessLeft(ctx, err)
		}
	}
	return nil
}

// unlessLeft is why a step failed, where that is not that its caller left or
// that the process stops: a part that gives up then has no failure of its own.
func unlessLeft(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	f := fault.From(err)
	switch {
	case f.Code == fault.Internal && errors.Is(err, ctx.Err()),
		f.Code == fault.PolicyUnavailable && f.Reason == "canceled",
		f.Code == fault.AuditUnavailable && f.Reason == audit.ReasonCancelled:
		return left(err)
	}
	return err
}

// left ends a call whose caller left before its code ran.
func left(cause error) error {
	return fault.New(fault.Interrupted, "cancelled", "the call was cancelled before the tool ran").Because(cause)
}

// lookup finds the tool. One that the caller may not see does not exist for
// it: only the record says that it was hidden.
func (e *Engine) lookup(ctx context.Context, r *run) error {
	if r.tool = r.in.Unpublished; r.tool == nil {
		tool, err := e.Catalog.Lookup(ctx, r.in.Name)
		if err != nil {
			return err
		}
		r.tool = tool
	}
	// What the record must not say has to be known before there is one; that it
	// cannot be known is for whoever may see the tool.
	var unusable error
	if names := r.tool.Spec.Placeholders(); len(names) > 0 {
		secrets, err := e.Secrets.Values(names)
		if err != nil {
			unusable = secretsUnavailable(err)
		} else {
			r.hide(secrets)
		}
	}
	if r.ownRun() {
		return cmp.Or(unusable, r.tool.Verify())
	}
	if ok, why := e.Catalog.Exposed(r.tool); !ok && (r.tool.Hidden || r.tool.State == catalog.StateActive || r.unserved()) {
		return r.conceal(impact.Hidden, why)
	}
	seen, err := e.Policy.Visible(ctx, r.in.Principal, []resolver.Tool{r.resolverTool()})
	if err != nil {
		return err
	}
	if len(seen) != 1 || !seen[0] {
		if err := e.rejected(ctx, r); err != nil {
			e.decided("rejected")
			return err
		}
		e.decided("hidden")
		e.shadowHidden(ctx, r)
		return r.conceal(impact.Hidden, "the policy hides this tool from the caller")
	}
	if err := cmp.Or(unusable, r.tool.Verify()); err != nil {
		return err
	}
	if r.tool.State != catalog.StateActive {
		return fault.New(fault.NotActive, "state-"+slug(string(r.tool.State)), "the tool %q is not active: %s", r.tool.Spec.Name, r.tool.Why)
	}
	return nil
}

// unserved reports whether the tool is one that its caller has no business
// with: what is not served does not exist over the network, since the reason
// says how the installation is configured. A revoked one was served, and says
// that it is.
func (r *run) unserved() bool {
	return r.in.Origin == decision.OriginMCPHTTP && r.tool.State != catalog.StateRevoked
}

// rejected says why the layers of the policy reject a tool. It exists for
// whoever could see it otherwise, and the person at the terminal of the
// installation is told in any case.
func (e *Engine) rejected(ctx context.Context, r *run) error {
	_, err := e.Policy.Resolve(ctx, resolver.Request{Tool: r.resolverTool(), Principal: r.in.Principal, Origin: decision.OriginList, Now: r.now(e)})
	var rejected *resolver.Rejection
	if errors.As(err, &rejected) && (!rejected.Hidden || r.in.Origin == decision.OriginCLIRun) {
		return err
	}
	return nil
}

// validate checks the arguments against the declared parameters.
func (e *Engine) validate(_ context.Context, r *run) error {
	args, ferr := r.tool.Spec.Args(r.in.Args)
	if ferr != nil {
		return ferr
	}
	r.args = args
	return r.digestArgs(e.Keys)
}

// decide asks the policy, and makes sure before anybody is asked that the
// call could run: its secrets are there and the runtime is strong enough.
func (e *Engine) decide(ctx context.Context, r *run) error {
	defer r.clock.track(&r.clock.decide)()
	d, err := e.Policy.Resolve(ctx, resolver.Request{
		Tool: r.resolverTool(), Principal: r.in.Principal, Origin: r.in.Origin, Args: r.args, Approvals: r.standing(), Now: r.now(e),
	})
	e.decided(outcomeOf(d, err))
	e.shadowDecided(ctx, r, d, err)
	if err != nil {
		return err
	}
	r.decision = d
	if err := e.enterPolicy(ctx, d.PolicyRevision); err != nil {
		return err
	}
	if !d.Allow {
		return denied(d)
	}
	if have := e.Runtime.Isolation(); !strongEnough(have, d.Isolation.Minimum) {
		return fault.New(fault.PolicyDenied, "isolation", "the policy demands isolation %q and this installation has %q; toolwarrant version shows all of it", d.Isolation.Minimum, have.Mode)
	}
	if len(r.tool.Spec.StaticVariables) == 0 {
		return nil
	}
	from := e.Secrets
	if r.in.Fixtures != nil && len(r.in.FixtureEnv) > 0 {
		from = secret.New("", func(name string) (string, bool) { v, ok := r.in.FixtureEnv[name]; return v, ok })
	}
	statics, secrets, missing, err := from.Resolve(r.tool.Spec.StaticVariables, d.EffectivePolicy.Env)
	if err != nil {
		return secretsUnavailable(err)
	}
	if len(missing) > 0 {
		return missingRequirement(r.tool.Spec.Name, missing[0])
	}
	// The file may have changed since lookup: mask what the code really gets.
	r.hide(secrets)
	r.statics = statics
	return nil
}

// decided counts an answer of the policy.
func (e *Engine) decided(outcome string) {
	if e.Observer != nil {
		e.Observer.Decided(outcome)
	}
}

func outcomeOf(d *decision.Decision, err error) string {
	switch {
	case errors.Is(err, fault.New(fault.ResolverReject, "", "")):
		return "rejected"
	case err != nil:
		return "failed"
	case !d.Allow:
		return "denied"
	}
	return "allowed"
}

func denied(d *decision.Decision) error {
	if len(d.Reasons) == 0 {
		return fault.New(fault.PolicyDenied, "denied", "the policy does not allow this call")
	}
	return fault.New(fault.PolicyDenied, d.Reasons[0].ID, "%s", d.Reasons[0].Message)
}
