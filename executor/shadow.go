package executor

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/digest"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/impact"
	"github.com/toolwarrant/toolwarrant/internal/optional"
	"github.com/toolwarrant/toolwarrant/resolver"
)

// Shadow is a policy that is asked about every call and enforced on none.
// *resolver.Resolver is one.
type Shadow interface {
	Policy
	Revision() string
}

const (
	// shadowTime bounds the answer of the shadow to one call. It is longer
	// than the deadline of an evaluation: of a policy that is too slow the
	// record should say so, and not that the shadow came late.
	shadowTime = 3 * time.Second
	// maxShadowing bounds the calls about which the shadow is asked at once.
	maxShadowing = 256
)

// shadowing is one question to the shadow.
type shadowing struct {
	policy   Shadow
	revision string
	answer   chan *audit.Shadow // gets one
	cancel   context.CancelFunc
}

// shadowDecided asks the shadow about a call that the policy in force has
// decided, if that gave an answer to compare with.
func (e *Engine) shadowDecided(ctx context.Context, r *run, d *decision.Decision, err error) {
	if e.Shadow == nil {
		return
	}
	before, err := impact.CallAnswer(d, err)
	if err != nil {
		return
	}
	e.askShadow(ctx, r, r.shadowRequest(r.args, r.decideAt), func(context.Context) (impact.Answer, error) { return before, nil })
}

// shadowHidden asks the shadow about a call of a tool that does not exist for
// the caller under the policy in force.
func (e *Engine) shadowHidden(ctx context.Context, r *run) {
	if e.Shadow == nil {
		return
	}
	args, refused := r.tool.Spec.Args(r.in.Args)
	if refused != nil {
		return // it would be no call under any policy
	}
	req := r.shadowRequest(args, r.now(e))
	e.askShadow(ctx, r, req, func(ctx context.Context) (impact.Answer, error) {
		before, _, err := impact.WholeAnswer(ctx, e.Policy, req)
		return before, err
	})
}

func (r *run) shadowRequest(args json.RawMessage, now time.Time) resolver.Request {
	return resolver.Request{Tool: r.resolverTool(), Principal: r.in.Principal, Origin: r.in.Origin, Args: args, Approvals: r.standing(), Now: now}
}

// askShadow puts the question beside the call. It neither waits nor fails: an
// earlier question of the same call is given up.
func (e *Engine) askShadow(ctx context.Context, r *run, req resolver.Request, before func(context.Context) (impact.Answer, error)) {
	if r.ownRun() {
		return
	}
	r.endShadow()
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), shadowTime+e.ShadowPatience)
	s := &shadowing{policy: e.Shadow, revision: e.Shadow.Revision(), answer: make(chan *audit.Shadow, 1), cancel: cancel}
	r.shadow = s
	select {
	case e.shadows <- struct{}{}:
	default:
		s.answer <- s.failed(fault.New(fault.PolicyUnavailable, "shadow-busy", "the shadow policy has %d calls before it", maxShadowing))
		return
	}
	go func() {
		defer func() { <-e.shadows }()
		s.answer <- e.underShadow(limited, s, req, before)
	}()
}

// underShadow compares what the shadow says with what was decided. A panic is
// the shadow's failure.
func (e *Engine) underShadow(ctx context.Context, s *shadowing, req resolver.Request, before func(context.Context) (impact.Answer, error)) (out *audit.Shadow) {
	defer func() {
		if p := recover(); p != nil {
			e.Logger.Error().Str("panic", fmt.Sprintf("%T", p)).Bytes("stack", debug.Stack()).Msg("the shadow policy panicked")
			out = s.failed(fault.New(fault.Internal, "panic", "an internal failure ended the shadow decision; the server's log has it"))
		}
	}()
	old, err := before(ctx)
	if err != nil {
		return s.failed(fault.New(fault.PolicyUnavailable, "shadow-alone", "the policy in force gave no answer to compare with"))
	}
	new, revision, err := impact.WholeAnswer(ctx, s.policy, req)
	if err != nil {
		return s.failed(fault.From(err))
	}
	if revision == "" {
		revision = s.revision
	}
	withhold := masks(old) || masks(new) || keepsArgs(req.Tool.Spec)
	v := impact.Judge(recordable(old), recordable(new))
	kind := string(v.Kind)
	out = &audit.Shadow{Revision: revision, Kind: &kind, Rules: append([]string{}, v.Rules...), Differences: []audit.Difference{}}
	for _, c := range v.Changes {
		d, err := difference(c, withhold)
		if err != nil {
			return s.failed(fault.New(fault.Internal, "shadow-encode", "the difference in %s cannot be written", c.Path))
		}
		out.Differences = append(out.Differences, d)
	}
	return out
}

// recordable is an answer without the texts that a rule may have made of the
// arguments: reasons by their ids, the prompt by its digest, as elsewhere in
// a record.
func recordable(a impact.Answer) impact.Answer {
	a.Rejected = reasonIDs(a.Rejected)
	if a.Decision != nil {
		d := *a.Decision
		d.Reasons = reasonIDs(d.Reasons)
		d.HumanInTheLoop.Prompt = digest.Bytes([]byte(d.HumanInTheLoop.Prompt))
		a.Decision = &d
	}
	return a
}

func reasonIDs(list []decision.Reason) []decision.Reason {
	out := make([]decision.Reason, len(list))
	for i, r := range list {
		out[i] = decision.Reason{ID: r.ID}
	}
	return out
}

// masks reports whether a policy keeps arguments of the call out of the log.
func masks(a impact.Answer) bool {
	return a.Decision != nil && (len(a.Decision.Hidden()) > 0 || slices.Contains(a.Decision.Record.Drop, "/params"))
}

// spoken are the paths whose values are words of the policy. Where arguments
// are kept out of the log, a value of another path could repeat one: a rule
// may narrow the hosts to one that the caller named.
var spoken = []string{
	"allow", "rejected", "visible", "riskLevel", "humanInTheLoop.mode", "humanInTheLoop.source", "humanInTheLoop.ruleId", "humanInTheLoop.autoApproved",
	"humanInTheLoop.approvers.fourEyes",
}

func difference(c impact.Change, withhold bool) (d audit.Difference, err error) {
	d = audit.Difference{Path: c.Path, Direction: string(c.Direction), Added: c.Added, Removed: c.Removed}
	if withhold && !slices.Contains(spoken, c.Path) && !strings.HasPrefix(c.Path, "riskSignals.") && !strings.HasPrefix(c.Path, "reasons.") {
		d.Old, d.New, d.Added, d.Removed = json.RawMessage(`"***"`), json.RawMessage(`"***"`), nil, nil
		return d, nil
	}
	if d.Old, err = json.Marshal(c.Old); err == nil {
		d.New, err = json.Marshal(c.New)
	}
	return d, err
}

func (s *shadowing) failed(f *fault.Error) *audit.Shadow {
	return &audit.Shadow{Revision: s.revision, Error: &audit.Error{Code: f.Code, Reason: optional.Of(f.Reason), Message: f.Message}}
}

// shadowed is what the record of a call that has ended says of the shadow. It
// waits a moment for an answer and not longer.
func (e *Engine) shadowed(r *run) *audit.Shadow {
	s := r.shadow
	if s == nil {
		return nil
	}
	defer r.endShadow()
	out := s.wait(e.ShadowPatience)
	if e.Observer != nil {
		result := "failed"
		if out.Kind != nil {
			result = *out.Kind
		}
		e.Observer.Shadowed(result)
	}
	return out
}

func (s *shadowing) wait(patience time.Duration) *audit.Shadow {
	select {
	case out := <-s.answer: // as it is after a tool that took its time
		return out
	default:
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case out := <-s.answer:
		return out
	case <-timer.C:
		return s.failed(fault.New(fault.PolicyUnavailable, "shadow-late", "the shadow policy had not decided when the call had ended"))
	}
}

// endShadow gives a question up.
func (r *run) endShadow() {
	if r.shadow != nil {
		r.shadow.cancel()
		r.shadow = nil
	}
}
