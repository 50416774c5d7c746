package resolver

import (
	"context"
	"slices"
	"strings"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/spec"
)

// Way is a change of the document and the answer that the policy gave to the
// document so changed.
type Way struct {
	Changes  []Change `json:"changes"`
	Drops    []string `json:"drops"` // ids of the signals that go with them
	Accepted bool     `json:"accepted"`
	Allow    bool     `json:"allow"`
	Level    string   `json:"level"`
	Approval string   `json:"approval"` // REQUIRED, DISABLED, "" where not accepted
	RuleID   string   `json:"ruleId"`   // that set it
	Because  string   `json:"because"`  // why it is not accepted
}

// Change is one step of a way.
type Change struct {
	Pointer string `json:"pointer"`
	Set     string `json:"set"` // the new value, "" = take it out
}

// ways asks about changed documents.
type ways struct {
	e      *engine
	pl     *plan
	req    Request
	drops  []drop
	trials map[string]trial  // by pointer of the drop
	given  []decision.Signal // by the layers, without the call
}

func (e *engine) newWays(ctx context.Context, pl *plan, req Request) (*ways, error) {
	unchanged, err := e.try(ctx, pl, req.Tool.Spec)
	return &ways{e: e, pl: pl, req: req, drops: drops(req.Tool.Spec.Overrides), trials: map[string]trial{}, given: unchanged.signals}, err
}

// with tries some drops together.
func (w *ways) with(ctx context.Context, take []drop) (trial, bool) {
	var key strings.Builder
	for _, d := range take {
		key.WriteString(d.pointer + "\x00")
	}
	t, ok := w.trials[key.String()]
	if !ok {
		var err error
		if t, err = w.e.try(ctx, w.pl, without(w.req.Tool.Spec, take...)); err != nil {
			return t, false
		}
		w.trials[key.String()] = t
	}
	return t, true
}

// owner is the drop that, after others, makes a signal go with the least other
// loss, or nil. A signal that the call raised goes with no override.
func (w *ways) owner(ctx context.Context, taken []drop, id string) *drop {
	before, ok := w.with(ctx, taken)
	if !ok || !hasSignal(before.signals, id) {
		return nil
	}
	var best *drop
	kept := -1
	for _, d := range append(slices.Clone(w.drops), everything) {
		if best != nil && d.pointer == everything.pointer {
			break
		}
		t, ok := w.with(ctx, append(slices.Clone(taken), d))
		if ok && !hasSignal(t.signals, id) && len(t.signals) > kept {
			best, kept = &d, len(t.signals)
		}
	}
	return best
}

func hasSignal(signals []decision.Signal, id string) bool {
	return slices.ContainsFunc(signals, func(s decision.Signal) bool { return s.ID == id })
}

// lower gives, for the level of a decision and for each one below it that can
// be reached by dropping overrides, how the call would be answered, and how to
// be answered without a human. A signal may appear when a worse one goes, so
// that each step looks at what the last one left.
func (w *ways) lower(ctx context.Context, d *decision.Decision) []Way {
	out := []Way{}
	if d.HumanInTheLoop.Mode == "REQUIRED" {
		out = append(out, w.unasked(ctx, nil)...)
	}
	var take []drop
	for level := d.RiskLevel; level > levels[0]; {
		for {
			now, ok := w.with(ctx, take)
			if !ok || now.plan.level > level {
				return out
			}
			if now.plan.level < level {
				level = now.plan.level
				break
			}
			top := slices.IndexFunc(now.signals, func(s decision.Signal) bool { return s.Level == level })
			if top < 0 {
				return out
			}
			owner := w.owner(ctx, take, now.signals[top].ID)
			if owner == nil {
				return out
			}
			take = distinct(append(take, *owner))
		}
		if len(take) == 0 {
			return out // it is the call that raised the level
		}
		way := w.answer(ctx, take, w.req.Tool.Spec.HumanInTheLoop)
		out = append(out, way)
		if way.Accepted && way.Approval == "REQUIRED" {
			out = append(out, w.unasked(ctx, take)...)
		}
	}
	return out
}

// unasked looks for an approval mode under which a human is not asked.
func (w *ways) unasked(ctx context.Context, take []drop) []Way {
	for _, mode := range []string{"AUTO_APPROVE", "DISABLED"} {
		h := &spec.HumanInTheLoop{Mode: &mode}
		if own := w.req.Tool.Spec.HumanInTheLoop; own != nil {
			h.PromptTemplate = own.PromptTemplate
		}
		way := w.answer(ctx, take, h)
		if way.Accepted && way.Approval == "DISABLED" {
			way.Changes = append(way.Changes, Change{"/humanInTheLoop/mode", mode})
			return []Way{way}
		}
	}
	return nil
}

// accepted looks for what has to go before the layers take a document.
func (w *ways) accepted(ctx context.Context, rejected *Rejection) []Way {
	// What several members did together goes with each of them: first without.
	alone := slices.DeleteFunc(slices.Clone(rejected.All), func(f *fault.Error) bool { return f.Pointer == everything.pointer })
	for _, try := range [][]drop{w.cures(alone), w.cures(rejected.All), {everything}} {
		if len(try) == 0 {
			continue
		}
		if way := w.answer(ctx, try, w.req.Tool.Spec.HumanInTheLoop); way.Accepted {
			return []Way{way}
		}
	}
	return []Way{}
}

// cures are the drops of what faults point at, or none.
func (w *ways) cures(faults []*fault.Error) []drop {
	var take []drop
	for _, f := range faults {
		d := w.cure(f.Pointer)
		if d == nil {
			return nil
		}
		take = append(take, *d)
	}
	return distinct(take)
}

// cure is the drop of what a rejection points at.
func (w *ways) cure(pointer string) *drop {
	if pointer == everything.pointer {
		return &everything
	}
	for _, d := range w.drops {
		if d.pointer == pointer {
			return &d
		}
	}
	return nil
}

// answer puts a changed document to the layers and to the rules.
func (w *ways) answer(ctx context.Context, take []drop, h *spec.HumanInTheLoop) Way {
	way := Way{Changes: []Change{}, Drops: []string{}}
	for _, d := range take {
		way.Changes = append(way.Changes, Change{Pointer: d.pointer})
	}
	changed := without(w.req.Tool.Spec, take...)
	changed.HumanInTheLoop = h
	t, err := w.e.try(ctx, w.pl, changed)
	if err != nil {
		way.Because = firstLine(err)
		return way
	}
	way.Level = t.plan.level
	for _, s := range w.given {
		if !hasSignal(t.signals, s.ID) {
			way.Drops = append(way.Drops, s.ID)
		}
	}
	violations := append(t.violations, w.e.breaches(ctx, t.plan, changed, t.plan.level, t.signals)...)
	if chain := w.e.keyFor(w.req.Tool.Spec, w.req.Principal); chain.document != "" {
		widened, err := w.e.widened(ctx, t.plan, chain)
		if err != nil {
			way.Because = firstLine(err)
			return way
		}
		violations = append(violations, widened...)
	}
	if len(violations) > 0 {
		way.Because = rejection(violations).All[0].Message
		return way
	}
	d, err := w.e.decide(ctx, t.plan, w.req)
	if err != nil {
		way.Because = firstLine(err)
		return way
	}
	way.Accepted, way.Allow, way.Level = true, d.Allow, d.RiskLevel
	way.Approval, way.RuleID = d.HumanInTheLoop.Mode, d.HumanInTheLoop.RuleID
	return way
}

// distinct leaves out what another drop takes with it, and sorts.
func distinct(take []drop) []drop {
	var out []drop
	for _, d := range take {
		covered := slices.ContainsFunc(take, func(o drop) bool { return strings.HasPrefix(d.pointer, o.pointer+"/") })
		same := slices.ContainsFunc(out, func(o drop) bool { return o.pointer == d.pointer })
		if !covered && !same {
			out = append(out, d)
		}
	}
	slices.SortFunc(out, func(a, b drop) int { return strings.Compare(a.pointer, b.pointer) })
	return out
}
