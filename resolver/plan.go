package resolver

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/spec"
)

// planKey names everything that a plan is a function of. A tool id is no part
// of the spec digest.
type planKey struct {
	digest, toolID, source, manifest string
	chain                            chainKey
}

// plan is what the layers make of one tool under one chain, before any caller
// is known: the prebuilt part of the input, and the widest policy that a
// decision may give. rejected is set where the layers forbid the document.
type plan struct {
	digest   string
	tool     *ast.Term
	fold     *folded
	chain    []string
	folded   decision.EffectivePolicy
	level    string // of the layers alone; "" where the policy does not say
	rejected *Rejection
	memo     *memo // what its decisions need not compute again
}

// planFor gives the plan of a tool for a principal, made once per content.
// The error of a document that the layers forbid is a *Rejection.
func (e *engine) planFor(ctx context.Context, tool Tool, p decision.Principal) (*plan, error) {
	if tool.Spec == nil {
		return nil, fault.New(fault.Internal, "no-spec", "a decision was asked for without a spec")
	}
	digest := tool.Spec.Digest()
	manifest := slices.Sorted(slices.Values(tool.ManifestEnv))
	key := planKey{digest, tool.Spec.ToolID, tool.Source, strings.Join(manifest, "\x00"), e.keyFor(tool.Spec, p)}
	pl, ok := e.plans.Get(key)
	if !ok {
		var err error
		if pl, err = e.makePlan(ctx, tool, key); err != nil {
			return nil, err
		}
		e.plans.Add(key, pl)
	}
	if pl.rejected != nil {
		return pl, pl.rejected.at(tool.Spec)
	}
	return pl, nil
}

func (e *engine) makePlan(ctx context.Context, tool Tool, key planKey) (*plan, error) {
	pl := &plan{digest: key.digest, tool: toolTerm(tool, key.digest, e.operator.BasePath), memo: &memo{of: e.program.steady}}
	var violations []violation
	var err error
	if pl.fold, err = e.fold(ctx, key.chain); err != nil {
		var f *fault.Error
		if errors.As(err, &f) && f.Code == fault.ResolverReject {
			pl.rejected = &Rejection{All: []*fault.Error{f}}
			return pl, nil
		}
		return nil, err
	}
	pl.chain = chainNames(pl.fold.chain)
	if violations, err = e.judge(ctx, pl, tool.Spec, key.chain); err != nil {
		return nil, err
	}
	if len(violations) > 0 {
		pl.rejected = rejection(violations)
	}
	return pl, nil
}

// judge says what the layers make of a document whose tool and fold are in the
// plan, and what it violates.
func (e *engine) judge(ctx context.Context, pl *plan, s *spec.Spec, chain chainKey, more ...rego.EvalOption) ([]violation, error) {
	var signals []decision.Signal
	var violations []violation
	var err error
	if pl.folded, pl.level, signals, violations, err = e.layered(ctx, pl, more...); err != nil {
		return nil, err
	}
	for i, v := range violations {
		violations[i] = refine(v, s)
	}
	violations = append(violations, e.breaches(ctx, pl, s, pl.level, signals)...)
	if chain.document != "" {
		widened, err := e.widened(ctx, pl, chain, more...)
		if err != nil {
			return nil, err
		}
		violations = append(violations, widened...)
	}
	return violations, nil
}

// layered folds the tool of a plan into its layers, and says what level that
// comes to.
func (e *engine) layered(ctx context.Context, pl *plan, more ...rego.EvalOption) (p decision.EffectivePolicy, level string, signals []decision.Signal, v []violation, err error) {
	input := ast.NewObject(
		[2]*ast.Term{ast.InternedTerm("tool"), pl.tool},
		[2]*ast.Term{ast.InternedTerm("layers"), pl.fold.layers},
		[2]*ast.Term{ast.InternedTerm("folded"), pl.fold.term},
	)
	t, err := e.evalPlanned(ctx, e.program.plan, input, pl.memo, more...)
	if err != nil {
		return p, "", nil, nil, err
	}
	var r reader
	p, v = r.effective(r.get(t, "folded")), r.violations(t)
	if r.has(t, "riskLevel") { // a plan of an older policy is silent
		level, signals = r.level(t, "riskLevel"), r.signals(t)
	}
	if r.err != nil {
		return p, "", nil, nil, unavailable("eval-error", "the policy gave a policy of another shape: %v", r.err)
	}
	return p, level, signals, v, nil
}

// breaches are the constraints that a tool of a level does not satisfy.
func (e *engine) breaches(ctx context.Context, pl *plan, s *spec.Spec, level string, signals []decision.Signal) []violation {
	var out []violation
	for _, b := range e.layers.unmet(pl.fold.chain, pl.folded, level, s) {
		out = append(out, e.layers.sentence(b, pl.fold.chain, s, func(b breach) cause { return e.causeOf(ctx, pl, s, b, level, signals) }))
	}
	return out
}

// widened holds a document that names a profile to "may only narrow".
func (e *engine) widened(ctx context.Context, pl *plan, key chainKey, more ...rego.EvalOption) ([]violation, error) {
	without, err := e.fold(ctx, chainKey{operator: key.operator})
	if err != nil {
		return nil, err
	}
	allowed, _, _, _, err := e.layered(ctx, &plan{tool: pl.tool, fold: without}, more...)
	if err != nil {
		return nil, err
	}
	dimension, ok := pl.folded.Within(allowed)
	if ok {
		return nil, nil
	}
	return []violation{{ID: "profile-widens", Pointer: profilePointer, Message: "the profile \"" + key.document +
		"\" would widen " + dimension + "; a document may only choose a profile that narrows, the operator binds others"}}, nil
}

// safety derives the toolSafety block anew from what is in force.
func safety(tool Tool, p decision.EffectivePolicy) spec.ToolSafety {
	facts := tool.Spec.Facts()
	helpers := slices.Clone(facts.Helpers)
	if helpers == nil {
		helpers = []string{}
	}
	return spec.ToolSafety{
		Version: "1.0",
		Runtime: spec.ToolSafetyRuntime{
			ID: RuntimeID, MinVersion: RuntimeMinVersion, ECMAVersion: "2024",
			JavaInterop: facts.JavaInterop, Helpers: helpers, Console: true,
		},
		Category: spec.ToolSafetyCategory{Source: tool.Source, ID: tool.Spec.Category},
		Capabilities: spec.Capabilities{
			Network:   spec.CapabilityNetwork{Mode: p.Network.Mode, Hosts: slices.Clone(p.Network.Hosts)},
			FileRead:  p.FS.Read,
			FileWrite: p.FS.Write,
		},
	}
}
