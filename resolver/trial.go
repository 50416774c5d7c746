package resolver

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/spec"
)

// What caused a level, and what would change an answer, is found by asking the
// policy about documents that differ in one override. Nothing here knows what
// a rule looks at, so that it holds for rules that an installation adds.

// maxEntries is up to how many entries of one list are tried one by one;
// a longer list is dropped as a whole.
const maxEntries = 16

// drop is one thing that an author can take out of the overrides.
type drop struct {
	pointer string
	from    func(*spec.Overrides)
}

// drops lists what a document asks for, entry by entry.
func drops(o *spec.Overrides) []drop {
	if o == nil {
		return nil
	}
	var out []drop
	for _, f := range []struct {
		name string
		set  bool
		null func(*spec.Overrides)
	}{
		{"networkMode", o.NetworkMode != nil, func(o *spec.Overrides) { o.NetworkMode = nil }},
		{"fileRead", o.FileRead != nil, func(o *spec.Overrides) { o.FileRead = nil }},
		{"fileWrite", o.FileWrite != nil, func(o *spec.Overrides) { o.FileWrite = nil }},
		{"fsBasePath", o.FSBasePath != nil, func(o *spec.Overrides) { o.FSBasePath = nil }},
		{"destructive", o.Destructive != nil, func(o *spec.Overrides) { o.Destructive = nil }},
	} {
		if f.set {
			out = append(out, drop{"/sandboxOverrides/" + f.name, f.null})
		}
	}
	for _, f := range []struct {
		name string
		list func(*spec.Overrides) *[]string
	}{
		{"hostsAllow", func(o *spec.Overrides) *[]string { return &o.HostsAllow }},
		{"addAllowClasses", func(o *spec.Overrides) *[]string { return &o.AddAllowClasses }},
		{"removeAllowClasses", func(o *spec.Overrides) *[]string { return &o.RemoveAllowClasses }},
		{"addDenyClasses", func(o *spec.Overrides) *[]string { return &o.AddDenyClasses }},
		{"removeDenyClasses", func(o *spec.Overrides) *[]string { return &o.RemoveDenyClasses }},
	} {
		values := *f.list(o)
		pointer := "/sandboxOverrides/" + f.name
		if len(values) <= maxEntries {
			for i, v := range values {
				// By value: several drops together still take out what was meant.
				out = append(out, drop{fmt.Sprintf("%s/%d", pointer, i), func(o *spec.Overrides) {
					*f.list(o) = slices.DeleteFunc(slices.Clone(*f.list(o)), func(e string) bool { return e == v })
				}})
			}
		}
		if len(values) > 1 {
			out = append(out, drop{pointer, func(o *spec.Overrides) { *f.list(o) = nil }})
		}
	}
	return out
}

// without is a document with some of its overrides taken out.
func without(s *spec.Spec, ds ...drop) *spec.Spec {
	changed := &spec.Spec{
		ToolID: s.ToolID, Name: s.Name, Category: s.Category, Tags: s.Tags,
		Extra: s.Extra, HumanInTheLoop: s.HumanInTheLoop, Overrides: &spec.Overrides{},
	}
	if s.Overrides != nil {
		*changed.Overrides = *s.Overrides
	}
	for _, d := range ds {
		d.from(changed.Overrides)
	}
	return changed
}

// trial is what the layers make of a changed document.
type trial struct {
	plan       *plan
	signals    []decision.Signal
	violations []violation
}

// try folds a changed document under the chain of the original. Only the
// overrides and the approval block may differ.
func (e *engine) try(ctx context.Context, pl *plan, s *spec.Spec) (trial, error) {
	t := trial{plan: &plan{digest: pl.digest, fold: pl.fold, chain: pl.chain}}
	t.plan.tool = replaced(pl.tool, overridesTerm(s.Overrides, e.operator.BasePath), hitlTerm(s.HumanInTheLoop))
	var err error
	t.plan.folded, t.plan.level, t.signals, t.violations, err = e.layered(ctx, t.plan)
	return t, err
}

// replaced is a tool of the input with other overrides and another approval
// block.
func replaced(tool, overrides, hitl *ast.Term) *ast.Term {
	var t terms
	tool.Value.(ast.Object).Foreach(func(k, v *ast.Term) {
		switch k.Value {
		case ast.String("sandboxOverrides"):
			v = overrides
		case ast.String("humanInTheLoop"):
			v = hitl
		}
		t = append(t, [2]*ast.Term{k, v})
	})
	return t.object()
}

// causeOf says which signals a level comes from, and which override has to go.
// Of several it is the one without which least is lost and the constraint is
// satisfied; where none is enough, the one that brings the level down the most.
func (e *engine) causeOf(ctx context.Context, pl *plan, s *spec.Spec, b breach, level string, signals []decision.Signal) cause {
	var c cause
	var ids []string
	for _, signal := range signals {
		if signal.Level == level {
			ids = append(ids, signal.ID)
		}
	}
	c.signals = strings.Join(ids, ", ")
	if level != pl.level {
		return c // a call raised it, not the document
	}
	best, enough := level, false
	for _, d := range append(drops(s.Overrides), everything) {
		t, err := e.try(ctx, pl, without(s, d))
		if err != nil || enough && d.pointer == everything.pointer {
			continue
		}
		at := t.plan.level
		switch takes := e.layers.takes(b.by, levelField, at); {
		case takes && (!enough || at > best), !takes && !enough && at < best:
			best, enough, c.pointer = at, takes, d.pointer
		}
	}
	return c
}

// everything takes every override out.
var everything = drop{"/sandboxOverrides", func(o *spec.Overrides) { *o = spec.Overrides{} }}
