package resolver

import (
	"context"
	"errors"
	"slices"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/digest"
	"github.com/toolwarrant/toolwarrant/fault"
)

// Bounds of the lists that are remembered as a whole.
const (
	maxLists   = 4
	maxCallers = 1024
)

// toolList is a list of tools as it was asked about, and who sees what of it.
type toolList struct {
	tools []Tool
	seen  *lru.Cache[string, []bool] // by principal
}

func (l *toolList) is(tools []Tool) bool {
	return slices.EqualFunc(l.tools, tools, func(a, b Tool) bool {
		return a.Spec == b.Spec && a.Source == b.Source && slices.Equal(a.ManifestEnv, b.ManifestEnv)
	})
}

// listOf finds the list of these tools, or begins to remember it.
func (e *engine) listOf(tools []Tool) (*toolList, error) {
	for {
		lists := e.lists.Load()
		if at := slices.IndexFunc(*lists, func(l *toolList) bool { return l.is(tools) }); at >= 0 {
			return (*lists)[at], nil
		}
		seen, err := lru.New[string, []bool](maxCallers)
		if err != nil {
			return nil, fault.New(fault.Internal, "cache", "a cache cannot be made").Because(err)
		}
		added := &toolList{tools: slices.Clone(tools), seen: seen}
		grown := append([]*toolList{added}, *lists...)
		grown = grown[:min(len(grown), maxLists)]
		if e.lists.CompareAndSwap(lists, &grown) {
			return added, nil
		}
	}
}

// Visible says for each tool whether the principal may see it. A tool that the
// layers reject is not visible. Answers are remembered per policy revision: for
// the same list and principal as a whole, and for one tool by what the rules
// read to give them. A list has no arguments and no time.
func (r *Resolver) Visible(ctx context.Context, p decision.Principal, tools []Tool) ([]bool, error) {
	e := r.active.Load()
	if len(tools) == 1 { // the call path: no list to remember
		seen, err := e.seesAll(ctx, p, tools)
		return seen, err
	}
	list, err := e.listOf(tools)
	if err != nil {
		return nil, err
	}
	who, err := digest.JSON(p)
	if err != nil {
		return nil, unavailable("eval-error", "the principal cannot be read").Because(err)
	}
	seen, known := list.seen.Get(who)
	if !known {
		if seen, err = e.seesAll(ctx, p, tools); err != nil {
			return nil, err
		}
		list.seen.Add(who, seen)
	}
	return slices.Clone(seen), nil
}

// Warm asks ahead of the first list what any list has to know of tools: what
// the layers make of each, and what it shows. It stops where ctx ends or
// another policy comes into force, and gives how many it asked about. What cannot
// be answered is left to a list, which says why.
func (r *Resolver) Warm(ctx context.Context, p decision.Principal, tools []Tool) (asked int) {
	e := r.active.Load()
	for _, tool := range tools {
		if ctx.Err() != nil || r.active.Load() != e {
			return asked
		}
		if tool.Spec == nil {
			continue
		}
		s := &subject{tool: tool, principal: p, chain: e.keyFor(tool.Spec, p)}
		if seen, err := e.sees(ctx, s); err == nil && seen {
			_, _ = e.look(ctx, s)
		}
		asked++
	}
	return asked
}

func (e *engine) seesAll(ctx context.Context, p decision.Principal, tools []Tool) ([]bool, error) {
	out := make([]bool, len(tools))
	for i, tool := range tools {
		if tool.Spec == nil {
			continue
		}
		var err error
		if out[i], err = e.sees(ctx, &subject{tool: tool, principal: p, chain: e.keyFor(tool.Spec, p)}); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (e *engine) sees(ctx context.Context, s *subject) (bool, error) {
	st, err := e.standing(ctx, s)
	if err != nil || st.rejected {
		return false, err
	}
	return e.seen.answer(s, e.operator.BasePath, func(more ...rego.EvalOption) (bool, error) {
		input, err := e.listed(ctx, s)
		if err != nil {
			return false, err
		}
		return e.shows(ctx, input, more...)
	})
}

// shows asks whether a list has the tool of an input.
func (e *engine) shows(ctx context.Context, input [][2]*ast.Term, more ...rego.EvalOption) (bool, error) {
	t, err := e.eval(ctx, e.program.visible, ast.NewObject(input...), more...)
	if errors.Is(err, &fault.Error{Code: fault.PolicyUnavailable, Reason: "undefined"}) {
		return false, nil // undefined is a refusal
	}
	if err != nil {
		return false, err
	}
	seen, ok := t.Value.(ast.Boolean)
	return ok && bool(seen), nil
}

// standing is what the layers make of a tool, as far as a list needs it.
type standing struct {
	rejected bool
	folded   decision.EffectivePolicy
}

// standing says whether the layers reject a document. It is the plan of the
// document without what a call needs, so that tools which ask the same of the
// layers are held against them once.
func (e *engine) standing(ctx context.Context, s *subject) (standing, error) {
	return e.standings.answer(s, e.operator.BasePath, func(more ...rego.EvalOption) (standing, error) {
		f, err := e.fold(ctx, s.chain)
		var refused *fault.Error
		if errors.As(err, &refused) && refused.Code == fault.ResolverReject {
			return standing{rejected: true}, nil
		}
		if err != nil {
			return standing{}, err
		}
		pl := &plan{tool: e.listedTool(s.tool), fold: f}
		violations, err := e.judge(ctx, pl, s.tool.Spec, s.chain, more...)
		return standing{rejected: len(violations) > 0, folded: pl.folded}, err
	})
}

// listed is the input of a list about one tool: all but the call.
func (e *engine) listed(ctx context.Context, s *subject) ([][2]*ast.Term, error) {
	f, err := e.fold(ctx, s.chain)
	if err != nil {
		return nil, err
	}
	return [][2]*ast.Term{
		{ast.InternedTerm("tool"), e.listedTool(s.tool)},
		{ast.InternedTerm("layers"), f.layers},
		{ast.InternedTerm("folded"), f.term},
		{ast.InternedTerm("principal"), principalTerm(s.principal)},
	}, nil
}

// listedTool is the tool in the input of a list: without what no rule of a
// list could read, since reading the code of each tool takes long.
func (e *engine) listedTool(t Tool) *ast.Term {
	if e.program.listReads&readsContent != 0 {
		return toolTerm(t, t.Spec.Digest(), e.operator.BasePath)
	}
	return toolIdentity(t, e.operator.BasePath).object()
}

// Outlook is the part of a decision that a list shows of a tool.
type Outlook struct {
	RiskLevel       string
	EffectivePolicy decision.EffectivePolicy
}

// Outlook gives the level and the policy that a decision about a list would
// give, without the rest of it. The error of a document that the layers forbid
// is of code RESOLVER_REJECT.
func (r *Resolver) Outlook(ctx context.Context, p decision.Principal, tool Tool) (Outlook, error) {
	e := r.active.Load()
	if tool.Spec == nil {
		return Outlook{}, fault.New(fault.Internal, "no-spec", "a decision was asked for without a spec")
	}
	return e.look(ctx, &subject{tool: tool, principal: p, chain: e.keyFor(tool.Spec, p)})
}

func (e *engine) look(ctx context.Context, s *subject) (Outlook, error) {
	st, err := e.standing(ctx, s)
	if err != nil {
		return Outlook{}, err
	}
	if st.rejected {
		_, err := e.planFor(ctx, s.tool, s.principal)
		return Outlook{}, err
	}
	return e.outlooks.answer(s, e.operator.BasePath, func(more ...rego.EvalOption) (Outlook, error) {
		return e.outlook(ctx, s, st, more...)
	})
}

func (e *engine) outlook(ctx context.Context, s *subject, st standing, more ...rego.EvalOption) (Outlook, error) {
	input, err := e.listed(ctx, s)
	if err != nil {
		return Outlook{}, err
	}
	call, err := callTerm(decision.OriginList, nil)
	if err != nil {
		return Outlook{}, err
	}
	input = append(input,
		[2]*ast.Term{ast.InternedTerm("call"), call},
		[2]*ast.Term{ast.InternedTerm("approvals"), ast.ArrayTerm()},
		[2]*ast.Term{ast.InternedTerm("now"), stringTerm(stamp(time.Now()))})
	t, err := e.eval(ctx, e.program.outlook, ast.NewObject(input...), more...)
	if err != nil {
		return Outlook{}, err
	}
	var r reader
	o := Outlook{RiskLevel: r.level(t, "riskLevel"), EffectivePolicy: r.effective(r.get(t, "effectivePolicy"))}
	if r.err != nil {
		return Outlook{}, unavailable("eval-error", "the policy gave a decision of another shape: %v", r.err)
	}
	if dimension, ok := o.EffectivePolicy.Within(st.folded); !ok {
		return Outlook{}, unavailable("widened", "the policy gave more than the layers do in %s; a rule may only narrow", dimension)
	}
	return o, nil
}
