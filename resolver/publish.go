package resolver

import (
	"context"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/storage"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/fault"
)

// PublishRefusals asks package toolwarrant.publish whether the caller may put
// a tool into service, with what is said for it: empty, or one reason for
// each thing that is missing. A document that the layers forbid is a
// *Rejection, as in Resolve.
func (r *Resolver) PublishRefusals(ctx context.Context, req Request, justification string) ([]decision.Reason, error) {
	e := r.active.Load()
	pl, err := e.planFor(ctx, req.Tool, req.Principal)
	if err != nil {
		return nil, err
	}
	input, err := e.input(pl, req)
	if err != nil {
		return nil, err
	}
	obj, ok := input.(ast.Object)
	if !ok {
		return nil, fault.New(fault.Internal, "input", "the input of the policy is no object")
	}
	obj.Insert(ast.InternedTerm("publish"), ast.ObjectTerm([2]*ast.Term{ast.InternedTerm("justification"), stringTerm(justification)}))
	t, err := e.eval(ctx, e.program.refusals, obj)
	if err != nil {
		return nil, err
	}
	var rd reader
	out := rd.reasons(ast.ObjectTerm([2]*ast.Term{ast.InternedTerm("refusals"), t}), "refusals")
	if rd.err != nil {
		return nil, unavailable("eval-error", "the policy gave refusals of another shape: %v", rd.err)
	}
	return out, nil
}

// TrustedAuthors are names of settings.publish.trustedAuthors.
type TrustedAuthors struct{ Groups, Subjects []string }

// TrustedAuthors are the authors whom the settings of a policy name for tools of
// the highest level; none where they name none. What that permits, and whether
// it does, is for the rules to say: see PublishRefusals.
func (r *Resolver) TrustedAuthors(ctx context.Context) (TrustedAuthors, error) {
	var out TrustedAuthors
	e := r.active.Load()
	v, err := storage.ReadOne(ctx, e.program.store, storage.MustParsePath("/toolwarrant/settings/publish/trustedAuthors"))
	if storage.IsNotFound(err) {
		return out, nil
	}
	value, ok := v.(ast.Value)
	if err != nil || !ok {
		return out, unavailable("eval-error", "the settings of publishing cannot be read").Because(err)
	}
	var rd reader
	t := ast.NewTerm(value)
	out.Groups, out.Subjects = rd.sorted(t, "groups"), rd.sorted(t, "subjects")
	if rd.err != nil {
		return out, unavailable("eval-error", "the settings of publishing are of another shape: %v", rd.err)
	}
	return out, nil
}
