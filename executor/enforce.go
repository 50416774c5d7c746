package executor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/digest"
	"github.com/toolwarrant/toolwarrant/executor/broker"
	"github.com/toolwarrant/toolwarrant/executor/worker"
	"github.com/toolwarrant/toolwarrant/fault"
)

// enforce runs the code under exactly the decision. The open record is on
// disk first: durable where the code may act on the world, written where it
// can only compute.
func (e *Engine) enforce(ctx context.Context, r *run) error {
	leave, err := e.enter(r)
	if err != nil {
		return err
	}
	defer leave()
	if err := e.enterSpec(ctx, r); err != nil {
		return err
	}
	if err := e.Audit.Open(ctx, r.body(e, audit.PhaseOpen, nil), actsOnWorld(r.decision), e.recordMask(r)); err != nil {
		return err
	}
	r.opened = true
	defer r.clock.track(&r.clock.execute)()

	policy := r.decision.EffectivePolicy
	opts := e.Broker
	if r.in.Workspace != "" && r.in.Unpublished != nil {
		policy.FS.BasePath, opts.Roots = r.in.Workspace, []string{r.in.Workspace}
	}
	if r.in.Fixtures != nil {
		opts.Fetcher = r.in.Fixtures
	}
	commands := e.commands(r, policy)
	if commands != nil { // a nil *Runner would be no nil interface
		opts.Commands = commands
		defer commands.Close()
	}
	gate, err := broker.New(policy, opts)
	if err != nil {
		return err
	}
	defer gate.Close()
	if r.in.Running != nil {
		r.in.Running()
	}
	r.begun = true
	reply, err := e.Runtime.Run(ctx, r.workerCall(e.Runtime), gate)
	r.reply = &reply
	r.usage = usage(reply.Usage, gate.Ledger())
	r.ran(commands)
	r.logs = r.maskLogs(reply.Logs, reply.Usage.LogLines)
	if err != nil {
		return notRun(err)
	}
	if reply.Failure != nil {
		return r.failure(reply.Failure)
	}
	return r.keepResult(reply.Result, policy.MaxOutputBytes)
}

// notRun is the failure of a call that the runtime did not take.
func notRun(err error) error {
	var f *fault.Error
	if errors.As(err, &f) && (f.Code == fault.RateLimited || f.Code == fault.RuntimeError) {
		return f
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return left(err) // while it waited for a worker
	}
	return fault.New(fault.RuntimeError, "runtime", "the runtime could not run the tool; see the server's log").Because(err)
}

// enterSpec puts the document that is about to run into the chain, once per
// digest, so that the log alone says what ran.
func (e *Engine) enterSpec(ctx context.Context, r *run) error {
	d := r.tool.Spec.Digest()
	if _, known := e.entered.Load(d); known {
		return nil
	}
	if err := e.Audit.Object(ctx, audit.Object{Kind: "spec", Digest: d, Content: r.tool.Spec.Canonical()}); err != nil {
		return err
	}
	e.entered.Store(d, true)
	return nil
}

// enterPolicy puts the policy that decided into the chain, once per revision,
// so that the log alone says why, and "policy replay" can decide again.
func (e *Engine) enterPolicy(ctx context.Context, revision string) error {
	if _, known := e.entered.Load(revision); known {
		return nil
	}
	a, ok := e.Policy.Artefact(revision)
	if !ok {
		return nil // swapped twice since: the next decision enters the one in force
	}
	if err := e.Audit.Object(ctx, audit.Object{Kind: "policy", Digest: a.Digest, Content: a.Content}); err != nil {
		return err
	}
	e.entered.Store(revision, true)
	return nil
}

// actsOnWorld reports whether code under d can change or reach anything
// beyond its own memory.
func actsOnWorld(d *decision.Decision) bool {
	return d.EffectivePolicy.Network.Mode != "blocked" || d.EffectivePolicy.FS.Write || d.RiskLevel >= "L4"
}

func (r *run) workerCall(rt Runtime) worker.Call {
	s, p := r.tool.Spec, r.decision.EffectivePolicy
	params := make([]string, len(s.Params))
	for i, param := range s.Params {
		params[i] = param.Name
	}
	return worker.Call{
		CallID:  r.callID,
		Program: worker.Program{ID: s.Digest(), Name: s.Name + ".js", Source: s.Code, Params: params},
		Args:    r.args,
		Statics: r.statics,
		Globals: worker.Globals{Fetch: p.Network.Mode != "blocked", FSRead: p.FS.Read, FSWrite: p.FS.Write},
		Limits: worker.Limits{
			MaxStatements: p.MaxStatements, TimeoutMillis: p.TimeoutSeconds * 1000, MaxMemoryBytes: p.MaxMemoryBytes,
			MaxOutputBytes: p.MaxOutputBytes, MaxLogLines: p.MaxLogLines, MaxLogBytes: maxLogLineBytes,
		},
	}
}

// maxLogLineBytes bounds one console line; the number of lines is policy.
const maxLogLineBytes = 8 << 10

// workerCodes are the failures that a worker may report. It is not believed
// when it names another code: it could pass a refusal off as an approval
// matter, or a crash as a success of the policy.
var workerCodes = map[fault.Code]bool{
	fault.InvalidInput: true, fault.HelperRuntime: true, fault.Security: true, fault.ResourceLimit: true,
	fault.Timeout: true, fault.JSError: true, fault.RuntimeError: true, fault.Interrupted: true,
}

func (r *run) failure(f *worker.Failure) error {
	code := fault.Code(f.Code)
	if !workerCodes[code] {
		code = fault.RuntimeError
	}
	err := fault.New(code, r.mask.Clipped(f.Reason), "%s", r.mask.Clipped(f.Message))
	if f.Line > 0 {
		return err.At(r.tool.Spec.Name+".js", "", f.Line, f.Column)
	}
	return err
}

// keepResult masks the result and checks what the worker should have.
func (r *run) keepResult(raw json.RawMessage, limit int64) error {
	if int64(len(raw)) > limit {
		return fault.New(fault.ResourceLimit, "output", "the result has %d bytes and the limit is %d", len(raw), limit)
	}
	if len(raw) == 0 {
		raw = json.RawMessage("null")
	}
	masked, _, err := r.mask.JSON(raw)
	if err != nil {
		return fault.New(fault.RuntimeError, "result", "the result of the tool is not valid JSON").Because(err)
	}
	var says struct {
		IsError bool `json:"isError"`
	}
	if masked[0] == '{' && json.Unmarshal(masked, &says) == nil && says.IsError {
		r.value = masked
		return fault.New(fault.JSError, "tool-is-error", "the tool reports a failure: %s", cut(string(masked), maxReported))
	}
	// What leaves is what has to fit.
	if f := r.tool.Spec.CheckResult(masked); f != nil {
		return f
	}
	r.value = masked
	return nil
}

// maxReported bounds what of a tool's own failure goes into the message.
const maxReported = 2 << 10

func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "..."
}

// maskLogs masks the lines that were kept and marks after them how many of the
// emitted ones were not.
func (r *run) maskLogs(in []worker.LogLine, emitted int64) []worker.LogLine {
	out := make([]worker.LogLine, len(in), len(in)+1)
	for i, l := range in {
		out[i] = worker.LogLine{Level: l.Level, Text: r.mask.Clipped(l.Text)}
	}
	if n := emitted - int64(len(in)); n > 0 {
		out = append(out, worker.LogLine{Level: "warn", Text: fmt.Sprintf("[toolwarrant] %d more lines were dropped: a call keeps a limited number of lines and bytes", n)})
	}
	return out
}

func usage(u worker.Usage, l broker.Ledger) *audit.Usage {
	out := &audit.Usage{Statements: u.Statements, MemoryBytes: u.MemoryBytes, LogLines: u.LogLines, Egress: []audit.Egress{}, FS: []audit.FSUse{}}
	for _, x := range l.Egress {
		out.Egress = append(out.Egress, audit.Egress(x))
	}
	for _, x := range l.FS {
		out.FS = append(out.FS, audit.FSUse(x))
	}
	return out
}

// result is what the record says of the value, null where there is none.
func (r *run) result() *audit.Result {
	if r.value == nil {
		return nil
	}
	out := &audit.Result{Bytes: int64(len(r.value)), Digest: digest.Bytes(r.value)}
	if r.decision.Record.Result == decision.ResultContent {
		out.Content = r.value
	}
	return out
}
