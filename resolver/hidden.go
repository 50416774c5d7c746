package resolver

import (
	"context"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/topdown"

	"github.com/toolwarrant/toolwarrant/decision"
)

// ResolveHidden decides a request of which parts are not known, as a record
// has it whose secrets were masked. hidden are RFC 6901 pointers into
// {principal, call, now, approvals}. read are those of them that the
// evaluation looked at: without any, the decision is the one that the real
// values would give. It is not for the call path.
func (r *Resolver) ResolveHidden(ctx context.Context, req Request, hidden []string) (d *decision.Decision, read []string, err error) {
	e := r.active.Load()
	pl, err := e.planFor(ctx, req.Tool, req.Principal)
	if err != nil {
		return nil, nil, err
	}
	marks := newMarker(hidden)
	d, err = e.decide(ctx, pl, req, watch(marks.note)...)
	return d, marks.found(hidden), err
}

// VisibleHidden is Visible for one tool and a principal of which parts are not
// known, as ResolveHidden is Resolve.
func (r *Resolver) VisibleHidden(ctx context.Context, p decision.Principal, tool Tool, hidden []string) (seen bool, read []string, err error) {
	e := r.active.Load()
	s := &subject{tool: tool, principal: p, chain: e.keyFor(tool.Spec, p)}
	if st, err := e.standing(ctx, s); err != nil || st.rejected {
		return false, nil, err
	}
	input, err := e.listed(ctx, s)
	if err != nil {
		return false, nil, err
	}
	marks := newMarker(hidden)
	seen, err = e.shows(ctx, input, watch(marks.note)...)
	return seen, marks.found(hidden), err
}

func tokens(pointer string) []string {
	var out []string
	for i, t := range strings.Split(pointer, "/") {
		if i > 0 {
			out = append(out, strings.ReplaceAll(strings.ReplaceAll(t, "~1", "/"), "~0", "~"))
		}
	}
	return out
}

// watch are the options under which an evaluation tells note of each reference
// into the input that it reads, without the leading "input"; a nil reference is
// the input as a whole.
//
// An expression counts as soon as it is evaluated, whether or not it held: the
// real value might have made the difference. Rules are not looked up by index,
// since an index passes over rules by what it reads.
func watch(note func(ast.Ref)) []rego.EvalOption {
	return []rego.EvalOption{rego.EvalQueryTracer(&watcher{note: note, seen: map[any]bool{}}), rego.EvalRuleIndexing(false)}
}

// watcher notes which references into the input an evaluation reads.
type watcher struct {
	note func(ast.Ref)
	seen map[any]bool
}

// Enabled is of topdown.QueryTracer.
func (w *watcher) Enabled() bool { return true }

// Config is of topdown.QueryTracer.
func (w *watcher) Config() topdown.TraceConfig { return topdown.TraceConfig{} }

// TraceEvent is of topdown.QueryTracer: it looks at every expression that is
// evaluated, and at the head of every rule that is entered.
func (w *watcher) TraceEvent(event topdown.Event) {
	if event.Op != topdown.EvalOp && event.Op != topdown.EnterOp {
		return
	}
	switch node := event.Node.(type) {
	case *ast.Expr:
		if !w.seen[node] {
			w.seen[node] = true
			w.look(node)
		}
	case *ast.Rule:
		if !w.seen[node] {
			w.seen[node] = true
			w.look(node.Head)
		}
	}
}

func (w *watcher) look(node any) { references(node, w.note) }

// references tells note of each reference into the input below a node.
func references(node any, note func(ast.Ref)) {
	ast.WalkTerms(node, func(t *ast.Term) bool {
		switch v := t.Value.(type) {
		case ast.Ref:
			if !v.HasPrefix(ast.InputRootRef) {
				return false
			}
			note(v[1:])
			for _, inner := range v[1:] { // input.x[input.y]
				references(inner, note)
			}
			return true
		case ast.Var:
			if v.Equal(ast.InputRootDocument.Value) {
				note(nil)
			}
		}
		return false
	})
}

// marker marks which of some paths are read.
type marker struct {
	paths map[string][]string
	read  map[string]bool
}

func newMarker(hidden []string) *marker {
	m := &marker{paths: map[string][]string{}, read: map[string]bool{}}
	for _, p := range hidden {
		m.paths[p] = tokens(p)
	}
	return m
}

// found are those of the paths that were read, in their order.
func (w *marker) found(hidden []string) (read []string) {
	for _, p := range hidden {
		if w.read[p] && !slices.Contains(read, p) {
			read = append(read, p)
		}
	}
	return read
}

// note marks the paths that a reference reads: those below it, and those that
// it goes into.
func (w *marker) note(ref ast.Ref) {
	for pointer, path := range w.paths {
		overlap := true
		for i := 0; i < len(ref) && i < len(path) && overlap; i++ {
			if s, constant := ref[i].Value.(ast.String); constant {
				overlap = string(s) == path[i]
			}
		}
		w.read[pointer] = w.read[pointer] || overlap
	}
}
