package resolver

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/topdown"
)

// steady numbers the documents of a policy that are the same for every call of
// one tool: what computes them reads of the input nothing but the tool and its
// layers. Settings are data, which never change under one engine, and a policy
// has no builtin that could give two answers.
type steady struct {
	root steadyNode
	size int
}

type steadyNode struct {
	children map[ast.String]*steadyNode
	at       int // 1 + the number; 0 = not steady
}

// steadyOf looks, for each document, at every rule that its evaluation could
// enter. What cannot be followed is not steady.
func steadyOf(c *ast.Compiler) *steady {
	var all []*ast.Rule
	names := map[string]ast.Ref{}
	for _, module := range c.Modules {
		for _, rule := range module.Rules {
			all = append(all, rule)
			name := rule.Ref().GroundPrefix()
			names[name.String()] = name
		}
	}
	s := &steady{}
	for _, key := range sortedKeys(names) {
		makers := makersOf(names[key], all)
		if !slices.ContainsFunc(makers, isFunction) && !slices.ContainsFunc(reachableFrom(c, makers), readsCaller) {
			s.add(names[key])
		}
	}
	return s
}

func isFunction(rule *ast.Rule) bool { return len(rule.Head.Args) > 0 }

// makersOf gives every rule that has a part in a document: those below its name,
// and those above it, which make what it is a part of. Any package may add to
// the documents of another: "package a" with the head "b.c contains x" makes
// data.a.b.c.
func makersOf(name ast.Ref, all []*ast.Rule) (out []*ast.Rule) {
	for _, rule := range all {
		if made := rule.Ref().GroundPrefix(); made.HasPrefix(name) || name.HasPrefix(made) {
			out = append(out, rule)
		}
	}
	return out
}

// readsCaller reports whether a rule looks at anything of the input but the
// tool and the layers, or evaluates under an input of its own.
func readsCaller(rule *ast.Rule) bool {
	found := false
	references(rule, func(ref ast.Ref) {
		if len(ref) == 0 {
			found = true
			return
		}
		switch ref[0].Value {
		case ast.String("tool"), ast.String("layers"), ast.String("folded"):
		default:
			found = true
		}
	})
	ast.WalkExprs(rule, func(x *ast.Expr) bool {
		found = found || len(x.With) > 0
		return found
	})
	return found
}

func (s *steady) add(name ast.Ref) {
	n := &s.root
	for _, term := range name[1:] {
		step, ok := term.Value.(ast.String)
		if !ok {
			return
		}
		if n.children == nil {
			n.children = map[ast.String]*steadyNode{}
		}
		if n.children[step] == nil {
			n.children[step] = &steadyNode{}
		}
		n = n.children[step]
	}
	s.size++
	n.at = s.size
}

// number finds a document, -1 = not steady.
func (s *steady) number(name ast.Ref) int {
	if len(name) == 0 || name[0].Value != ast.DefaultRootDocument.Value {
		return -1
	}
	n := &s.root
	for _, term := range name[1:] {
		step, ok := term.Value.(ast.String)
		if !ok {
			return -1
		}
		if n = n.children[step]; n == nil {
			return -1
		}
	}
	return n.at - 1
}

// evalPlanned asks one query about the tool and the layers of m, with what is
// known of them. An evaluation with options of its own is told nothing, since
// they are there to see the whole of it.
func (e *engine) evalPlanned(ctx context.Context, q rego.PreparedEvalQuery, input ast.Value, m *memo, more ...rego.EvalOption) (*ast.Term, error) {
	if m == nil || len(more) > 0 {
		return e.eval(ctx, q, input, more...)
	}
	c := m.cache()
	t, err := e.eval(ctx, q, input, rego.EvalVirtualCache(c))
	if err == nil {
		m.keep(c)
	}
	return t, err
}

// memo holds the steady documents of one plan as far as evaluations needed
// them: the next call of the tool is decided without computing them again. It
// is safe for concurrent use.
type memo struct {
	of    *steady
	known atomic.Pointer[[]knownDocument]
}

// knownDocument is the value of a document. A nil value with known set: it is
// undefined.
type knownDocument struct {
	value *ast.Term
	known bool
}

// cache is the cache of one evaluation.
func (m *memo) cache() *memoCache {
	c := &memoCache{VirtualCache: topdown.NewVirtualCache(), of: m.of}
	if known := m.known.Load(); known != nil {
		c.known = *known
	}
	return c
}

// keep takes over what an evaluation that gave an answer has found.
func (m *memo) keep(c *memoCache) {
	for len(c.found) > 0 {
		old := m.known.Load()
		grown := make([]knownDocument, m.of.size)
		if old != nil {
			copy(grown, *old)
		}
		for at, d := range c.found {
			grown[at] = d
		}
		if m.known.CompareAndSwap(old, &grown) {
			return
		}
	}
}

// memoCache puts the steady documents of a plan below the cache that each
// evaluation has for itself. Below "with" neither is good.
type memoCache struct {
	topdown.VirtualCache
	of    *steady
	known []knownDocument
	found map[int]knownDocument
	depth int
}

// Push is of topdown.VirtualCache.
func (c *memoCache) Push() {
	c.depth++
	c.VirtualCache.Push()
}

// Pop is of topdown.VirtualCache.
func (c *memoCache) Pop() {
	c.depth--
	c.VirtualCache.Pop()
}

// Get is of topdown.VirtualCache.
func (c *memoCache) Get(name ast.Ref) (*ast.Term, bool) {
	if c.depth == 0 && c.known != nil {
		if at := c.of.number(name); at >= 0 && c.known[at].known {
			return c.known[at].value, c.known[at].value == nil
		}
	}
	return c.VirtualCache.Get(name)
}

// Put is of topdown.VirtualCache.
func (c *memoCache) Put(name ast.Ref, value *ast.Term) {
	c.VirtualCache.Put(name, value)
	if c.depth > 0 {
		return
	}
	if at := c.of.number(name); at >= 0 && (c.known == nil || !c.known[at].known) {
		if c.found == nil {
			c.found = map[int]knownDocument{}
		}
		c.found[at] = knownDocument{value, true}
	}
}
