package resolver

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/spec"
)

// Finding is what the policy says about a document that it accepts.
type Finding struct {
	ID       string `json:"id"`
	Severity string `json:"severity"` // error, warning
	Message  string `json:"message"`
	Pointer  string `json:"pointer"` // RFC 6901, into the spec
	Line     int    `json:"line"`    // 0 = unknown
	Column   int    `json:"column"`

	// The place inside the code of a finding that points at /code; 0 = none.
	CodeLine   int `json:"-"`
	CodeColumn int `json:"-"`
}

// Findings asks package toolwarrant.lint about a tool, sorted by pointer and
// id. A document that the layers forbid is a *Rejection, as in Resolve.
func (r *Resolver) Findings(ctx context.Context, tool Tool, p decision.Principal) ([]Finding, error) {
	e := r.active.Load()
	pl, err := e.planFor(ctx, tool, p)
	var rejected *Rejection
	if err != nil && !errors.As(err, &rejected) {
		return nil, err
	}
	if err != nil {
		return nil, rejected
	}
	document, err := documentTerm(tool.Spec, tool.Mentions)
	if err != nil {
		return nil, err
	}
	t, err := e.eval(ctx, e.program.findings, ast.NewObject(
		[2]*ast.Term{ast.InternedTerm("tool"), pl.tool},
		[2]*ast.Term{ast.InternedTerm("layers"), pl.fold.layers},
		[2]*ast.Term{ast.InternedTerm("folded"), pl.fold.term},
		[2]*ast.Term{ast.InternedTerm("document"), document},
	))
	if err != nil {
		return nil, err
	}
	var rd reader
	out := []Finding{}
	rd.each(ast.ObjectTerm([2]*ast.Term{ast.InternedTerm("findings"), t}), "findings", func(v *ast.Term) {
		f := Finding{ID: rd.str(v, "id"), Severity: rd.str(v, "severity"), Message: rd.str(v, "message")}
		f.CodeLine, f.CodeColumn = int(rd.optNumber(v, "line")), int(rd.optNumber(v, "column"))
		f.Pointer = refine(violation{Pointer: rd.str(v, "pointer"), Value: rd.opt(v, "value")}, tool.Spec).Pointer
		at := tool.Spec.At(fault.New(fault.ResolverReject, f.ID, ""), f.Pointer)
		f.Line, f.Column = at.Line, at.Column
		out = append(out, f)
	})
	if rd.err != nil {
		return nil, unavailable("eval-error", "the policy gave findings of another shape: %v", rd.err)
	}
	slices.SortFunc(out, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Pointer, b.Pointer), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Message, b.Message))
	})
	return out, nil
}

// Safety derives the toolSafety block that a tool would be published with: the
// layers, before any rule narrows for a caller. A document that the layers
// forbid is a *Rejection.
func (r *Resolver) Safety(ctx context.Context, tool Tool, p decision.Principal) (*spec.ToolSafety, error) {
	pl, err := r.active.Load().planFor(ctx, tool, p)
	if err != nil {
		return nil, err
	}
	posture := safety(tool, pl.folded)
	return &posture, nil
}
