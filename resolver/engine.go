package resolver

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/spec"
)

// Bounds of what is evaluated and of what is remembered.
const (
	maxInputBytes = 1 << 20
	maxPlans      = 4096
	maxChains     = 256
)

// engine is one activated policy: immutable but for its caches, which only
// remember pure functions of their keys.
type engine struct {
	revision string
	tests    string // digest of the policy's own tests
	source   string
	artefact Artefact
	bundle   *Bundle // nil for a folder and the embedded policy
	program  *program
	layers   *layers
	operator Operator
	opTerm   *ast.Term

	evaluators *evaluators

	chains *lru.Cache[chainKey, *folded]
	plans  *lru.Cache[planKey, *plan]

	standings *shared[standing]
	seen      *shared[bool]
	outlooks  *shared[Outlook]
	lists     atomic.Pointer[[]*toolList]
}

type chainKey struct{ operator, document string }

// folded is the baseline and one chain, folded.
type folded struct {
	chain  []*layer
	layers *ast.Term // input.layers
	term   *ast.Term // input.folded
}

// newEngine compiles a policy.
func newEngine(ctx context.Context, s *source, o Operator) (*engine, error) {
	e := &engine{revision: s.revision(), tests: s.testDigest(), source: s.name, bundle: s.bundle, operator: o, evaluators: newEvaluators()}
	var err error
	if e.opTerm, err = operatorTerm(&e.operator); err != nil {
		return nil, err
	}
	if e.artefact, err = s.artefact(e.revision); err != nil {
		return nil, err
	}
	if e.program, err = compile(ctx, s); err != nil {
		return nil, err
	}
	if e.layers, err = loadLayers(s); err != nil {
		return nil, err
	}
	if e.chains, err = lru.New[chainKey, *folded](maxChains); err != nil {
		return nil, fault.New(fault.Internal, "cache", "a cache cannot be made").Because(err)
	}
	if e.plans, err = lru.New[planKey, *plan](maxPlans); err != nil {
		return nil, fault.New(fault.Internal, "cache", "a cache cannot be made").Because(err)
	}
	if e.standings, err = newShared[standing](readsContent, readsCategory); err != nil {
		return nil, fault.New(fault.Internal, "cache", "a cache cannot be made").Because(err)
	}
	if e.seen, err = newShared[bool](readsContent|readsPrincipal, 0); err != nil {
		return nil, fault.New(fault.Internal, "cache", "a cache cannot be made").Because(err)
	}
	if e.outlooks, err = newShared[Outlook](readsAll, 0); err != nil {
		return nil, fault.New(fault.Internal, "cache", "a cache cannot be made").Because(err)
	}
	e.lists.Store(&[]*toolList{})
	return e, nil
}

// eval asks one prepared query. Undefined, an error of a builtin, a deadline
// and a panic are all POLICY_UNAVAILABLE: nothing but a complete answer counts.
func (e *engine) eval(ctx context.Context, q rego.PreparedEvalQuery, input ast.Value, more ...rego.EvalOption) (result *ast.Term, err error) {
	defer func() {
		if p := recover(); p != nil {
			result, err = nil, unavailable("eval-error", "the policy failed while deciding").Because(fmt.Errorf("panic: %v", p))
		}
	}()
	var rs rego.ResultSet
	late := false
	waited := e.evaluators.do(ctx, func() {
		late = timely(ctx, func(limited context.Context) {
			rs, err = q.Eval(limited, append(more, rego.EvalParsedInput(input), rego.EvalGenerateJSON(asTerm))...)
		})
	})
	if waited != nil {
		err = waited
	}
	switch {
	case err == nil:
	case ctx.Err() == nil && late:
		return nil, unavailable("eval-timeout", "the policy did not decide within %s of computing, or %s in all", deadline, patience).Because(err)
	case ctx.Err() != nil:
		return nil, unavailable("canceled", "the caller went away before the policy had decided").Because(ctx.Err())
	default:
		return nil, unavailable("eval-error", "the policy failed while deciding: %s", firstLine(err)).Because(err)
	}
	if len(rs) != 1 || len(rs[0].Expressions) != 1 {
		return nil, unavailable("undefined", "the policy gave no decision: a rule that it needs is undefined for this input")
	}
	t, ok := rs[0].Expressions[0].Value.(*ast.Term)
	if !ok {
		return nil, unavailable("eval-error", "the policy gave an answer of an unknown kind")
	}
	return t, nil
}

func asTerm(t *ast.Term, _ *rego.EvalContext) (any, error) { return t, nil }

func unavailable(reason, format string, args ...any) *fault.Error {
	return fault.New(fault.PolicyUnavailable, reason, format, args...)
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

// fold folds the baseline and the chain of two leaves, once per revision.
func (e *engine) fold(ctx context.Context, key chainKey) (*folded, error) {
	if f, ok := e.chains.Get(key); ok {
		return f, nil
	}
	operator, err := e.layers.chain(key.operator, namePointer)
	if err != nil {
		return nil, err
	}
	document, err := e.layers.chain(key.document, profilePointer)
	if err != nil {
		return nil, err
	}
	f := &folded{}
	if f.chain, err = combine(operator, document, profilePointer); err != nil {
		return nil, err
	}
	profiles := make([]*ast.Term, len(f.chain))
	for i, p := range f.chain {
		profiles[i] = p.term()
	}
	var t terms
	t.add("baseline", e.layers.baseline.term())
	t.add("profiles", ast.ArrayTerm(profiles...))
	t.add("operator", e.opTerm)
	f.layers = t.object()
	var input terms
	input.add("layers", f.layers)
	if f.term, err = e.eval(ctx, e.program.chain, input.object().Value); err != nil {
		return nil, err
	}
	e.chains.Add(key, f)
	return f, nil
}

const (
	// profilePointer is where a document names a profile of its own.
	profilePointer = "/x-toolwarrant-profile"
	// namePointer stands for a tool that the operator's mapping put under a
	// profile.
	namePointer = "/name"
)

// keyFor says which chain a request runs under.
func (e *engine) keyFor(s *spec.Spec, p decision.Principal) chainKey {
	return chainKey{operator: e.layers.leaf(s, p), document: s.Profile()}
}
