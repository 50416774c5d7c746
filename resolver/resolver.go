// Package resolver turns a spec and a caller into a Decision: CUE parses,
// types and closes the layers and holds their constraints, Rego folds them
// and decides. It owns the loading, testing, activation and swapping of a
// policy, and the limits under which it is asked.
//
// It does no I/O while it decides. New, Reload, TestPolicy and WriteBuiltin
// read and write files; Resolve, Visible, Explain and Findings do not.
//
// Packages executor, service, server, catalog and lint may import it; it
// imports spec, decision, fault and the embedded policy.
//
// Threat model. Authors of tools control the spec, callers control arguments
// and parts of the principal; neither controls the policy. Whatever goes wrong
// refuses: an undefined decision, a failing builtin, a deadline, an oversized
// input, a panic, a result of another shape, and a result that permits more
// than the layers do. Text of authors enters CUE only as values.
package resolver

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/spec"
)

// Builtin names the embedded policy wherever a policy is expected.
const Builtin = "builtin"

// The runtime that toolSafety names.
const (
	RuntimeID         = "toolwarrant/goja"
	RuntimeMinVersion = "0.1.0"
)

// Operator is what the operator of an installation, never an author, sets.
type Operator struct {
	BasePath      string   // absolute: the baseline fsBasePath; empty = a folder without files
	Roots         []string // further absolute roots under which a spec's fsBasePath may lie
	AllowOpenMode bool
	PrivateHosts  []string // host:port pairs whose address may be private
	Grants        []Grant
}

// Grant lets tools resolve placeholder names. Entries are exact or end in "*";
// an empty Tools, Categories or Sources list matches any. Tools names tools by
// name or id.
type Grant struct {
	Names      []string `json:"names"`
	Tools      []string `json:"tools"`
	Categories []string `json:"categories"`
	Sources    []string `json:"sources"`
}

// Options configure a Resolver.
type Options struct {
	Policy   string // Builtin, a policy folder, the file or URL of a bundle, or "" for Builtin
	Operator Operator
	// Untested takes a policy whose own tests may fail. It is for questions
	// about a policy that is not put into force: what would it change?
	Untested bool
	Trust    Trust
	// Fetch gives the bytes of a bundle that lies elsewhere; Policy is then
	// its name. nil = Policy says where it lies.
	Fetch func(context.Context) ([]byte, error)
	// Tested is told how the policy's own tests ended. nil = nobody.
	Tested func(Tally)
	// Proofs remembers which policies passed their own tests, so that a start
	// does not run them again for the same content. nil = they are run.
	Proofs Proofs
	// Vet looks at a policy that compiled and passed its own tests before it
	// comes into force; what it refuses does not. nil = nothing. The embedded
	// policy is not asked about.
	Vet func(context.Context, *Resolver) error
}

// Proofs is a memory of policies that passed their own tests. A policy that
// failed is not kept: it may have failed for a reason that has gone. content
// names the policy, its tests and what they may use. Both methods are safe for
// concurrent use.
type Proofs interface {
	Passed(content string) (Tally, bool)
	Keep(content string, t Tally)
}

// Tool is a spec as the policy sees it.
type Tool struct {
	Spec        *spec.Spec
	Source      string   // builtin, user, ...
	ManifestEnv []string // placeholder names that a bundled tool's manifest grants
	Mentions    []string // names of other tools that the texts hold; for Findings alone
}

// Request is one question to the policy.
type Request struct {
	Tool      Tool
	Principal decision.Principal
	Origin    decision.Origin
	Args      json.RawMessage // validated arguments; nil for list and lint
	Approvals json.RawMessage // JSON array; nil = none
	Now       time.Time
}

// Resolver decides. It is safe for concurrent use; Reload swaps atomically.
type Resolver struct {
	options Options
	reload  sync.Mutex
	active  atomic.Pointer[engine]
	before  atomic.Pointer[Artefact] // of the policy that was in force until the last swap
}

// New compiles a policy. A policy folder has to pass its own tests first; the
// embedded policy passed them when it was built. The error is of code
// POLICY_UNAVAILABLE (policy-missing, policy-compile, policy-cue,
// policy-tests-failed) or USAGE for a wrong Operator.
func New(ctx context.Context, o Options) (*Resolver, error) {
	r := &Resolver{options: o}
	s, err := readSource(ctx, o)
	if err != nil {
		return nil, err
	}
	e, err := o.activate(ctx, s)
	if err != nil {
		return nil, err
	}
	r.active.Store(e)
	return r, nil
}

// activate makes an engine of a source, and asks everybody who has a say.
func (o Options) activate(ctx context.Context, s *source) (*engine, error) {
	e, err := newEngine(ctx, s, o.Operator)
	if err != nil || s.name == Builtin || o.Untested {
		return e, err
	}
	if err := o.prove(ctx, s); err != nil || o.Vet == nil {
		return e, err
	}
	candidate := &Resolver{options: o}
	candidate.active.Store(e)
	return e, o.Vet(ctx, candidate)
}

// prove shows that a policy passes its own tests, by running them or from the
// memory of having run them.
func (o Options) prove(ctx context.Context, s *source) error {
	content := s.revision() + " " + s.testDigest()
	if o.Proofs != nil {
		if t, ok := o.Proofs.Passed(content); ok {
			if o.Tested != nil {
				o.Tested(t)
			}
			return nil
		}
	}
	report, err := runTests(ctx, s)
	if err != nil {
		return err
	}
	if o.Tested != nil {
		o.Tested(report.Tally)
	}
	if err := report.refuse(); err != nil {
		return err
	}
	if o.Proofs != nil {
		o.Proofs.Keep(content, report.Tally)
	}
	return nil
}

// Reload reads the policy again and puts it into force when it compiles and
// passes its tests. changed is false for equal content under
// the same revision. On an error the last
// good policy stays in force.
func (r *Resolver) Reload(ctx context.Context) (changed bool, err error) {
	r.reload.Lock()
	defer r.reload.Unlock()
	s, err := readSource(ctx, r.options)
	if err != nil {
		return false, err
	}
	now := r.active.Load()
	if s.revision() == now.revision && s.testDigest() == now.tests && sameBundle(s.bundle, now.bundle) {
		return false, nil
	}
	e, err := r.options.activate(ctx, s)
	if err != nil {
		return false, err
	}
	r.before.Store(&now.artefact)
	r.active.Store(e)
	return e.revision != now.revision || !sameBundle(e.bundle, now.bundle), nil
}

// sameBundle tells a bundle from one of equal content that has another
// revision or signature.
func sameBundle(a, b *Bundle) bool {
	return (a == nil) == (b == nil) && (a == nil || *a == *b)
}

// Revision is the policyRevision in force.
func (r *Resolver) Revision() string { return r.active.Load().revision }

// Policy is the folder, file or URL of the policy in force, or Builtin.
func (r *Resolver) Policy() string { return r.active.Load().source }

// Bundle is what the bundle in force says of itself, or nil where the policy
// is a folder or the embedded one.
func (r *Resolver) Bundle() *Bundle { return r.active.Load().bundle }

// Resolve decides one request. A spec that the layers forbid is a *Rejection,
// of code RESOLVER_REJECT with pointer and position; a policy that cannot
// decide is POLICY_UNAVAILABLE; a denial is a Decision with Allow false.
func (r *Resolver) Resolve(ctx context.Context, req Request) (*decision.Decision, error) {
	e := r.active.Load()
	pl, err := e.planFor(ctx, req.Tool, req.Principal)
	var rejected *Rejection
	if errors.As(err, &rejected) {
		rejected.Hidden = !e.lets(ctx, pl, req.Principal)
	}
	if err != nil {
		return nil, err
	}
	return e.decide(ctx, pl, req)
}

// lets reports whether the rules of access would show a tool that the layers
// reject. Where they cannot be asked they do not.
func (e *engine) lets(ctx context.Context, pl *plan, p decision.Principal) bool {
	if pl == nil || pl.fold == nil {
		return false
	}
	seen, err := e.shows(ctx, [][2]*ast.Term{
		{ast.InternedTerm("tool"), pl.tool},
		{ast.InternedTerm("layers"), pl.fold.layers},
		{ast.InternedTerm("folded"), pl.fold.term},
		{ast.InternedTerm("principal"), principalTerm(p)},
	})
	return err == nil && seen
}

// decide evaluates the decision afresh under a plan.
func (e *engine) decide(ctx context.Context, pl *plan, req Request, more ...rego.EvalOption) (*decision.Decision, error) {
	if len(req.Args)+len(req.Approvals) > maxInputBytes {
		return nil, unavailable("input-too-large", "the arguments are larger than the %d bytes that the policy reads", maxInputBytes)
	}
	input, err := e.input(pl, req)
	if err != nil {
		return nil, err
	}
	result, err := e.evalPlanned(ctx, e.program.decision, input, pl.memo, more...)
	if err != nil {
		return nil, err
	}
	id, err := uuid.NewV7()
	if err != nil {
		return nil, fault.New(fault.Internal, "no-randomness", "an id cannot be made").Because(err)
	}
	s := req.Tool.Spec
	d := &decision.Decision{
		DecisionID: id.String(), DecidedAt: stamp(req.now()),
		PolicyRevision: e.revision, ProfileChain: append([]string{}, pl.chain...),
		Tool: decision.Tool{ToolID: s.ToolID, Name: s.Name, Category: s.Category, SpecDigest: pl.digest},
	}
	var rd reader
	violations := rd.violations(result)
	rd.decision(result, d)
	if e.layers.records && !rd.has(result, "record") {
		rd.fail("it has no \"record\", which the settings of log ask for")
	}
	if rd.err != nil {
		return nil, unavailable("eval-error", "the policy gave a decision of another shape: %v", rd.err)
	}
	if len(violations) > 0 {
		for i, v := range violations {
			violations[i] = refine(v, s)
		}
		return nil, rejection(violations).at(s)
	}
	// A rule may look at the caller, the arguments or the time and raise the
	// level above that of the layers: the ceiling holds for it too.
	if d.RiskLevel != pl.level {
		if over := e.breaches(ctx, pl, s, d.RiskLevel, d.RiskSignals); len(over) > 0 {
			return nil, rejection(over).at(s)
		}
	}
	if dimension, ok := d.EffectivePolicy.Within(pl.folded); !ok {
		return nil, unavailable("widened", "the policy gave more than the layers do in %s; a rule may only narrow", dimension)
	}
	d.ToolSafety = safety(req.Tool, d.EffectivePolicy)
	return d, nil
}

func (req Request) now() time.Time {
	if req.Now.IsZero() {
		return time.Now()
	}
	return req.Now
}

// input puts the caller's part beside the prebuilt one.
func (e *engine) input(pl *plan, req Request) (ast.Value, error) {
	call, err := callTerm(req.Origin, req.Args)
	if err != nil {
		return nil, err
	}
	approvals := ast.ArrayTerm()
	if len(req.Approvals) > 0 {
		if approvals, err = jsonTerm(req.Approvals); err != nil {
			return nil, err
		}
	}
	return ast.NewObject(
		[2]*ast.Term{ast.InternedTerm("tool"), pl.tool},
		[2]*ast.Term{ast.InternedTerm("layers"), pl.fold.layers},
		[2]*ast.Term{ast.InternedTerm("folded"), pl.fold.term},
		[2]*ast.Term{ast.InternedTerm("principal"), principalTerm(req.Principal)},
		[2]*ast.Term{ast.InternedTerm("call"), call},
		[2]*ast.Term{ast.InternedTerm("approvals"), approvals},
		[2]*ast.Term{ast.InternedTerm("now"), stringTerm(stamp(req.now()))},
	), nil
}
