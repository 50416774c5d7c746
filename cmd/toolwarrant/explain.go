package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/resolver"
)

// explain prints a decision, or the rejection of a document, with what led to
// it and what would change it.
func (a *app) explain(ctx context.Context, policy *resolver.Resolver, req resolver.Request, visible bool) error {
	ex, err := policy.Explain(ctx, req)
	if ex == nil {
		return err
	}
	if a.format == "json" {
		return a.explainJSON(ex, visible, err)
	}
	if ex.Decision != nil {
		a.printDecision(resolved{ex.Decision, visible})
	}
	a.printTrails(ex)
	a.printWays(ex)
	if err != nil {
		return err
	}
	return allowed(resolved{ex.Decision, visible})
}

// explainJSON prints the decision, or the error of a rejection, and beside it
// the explanation.
func (a *app) explainJSON(ex *resolver.Explanation, visible bool, rejected error) error {
	trails := map[string]any{
		"layers": ex.Layers, "fields": ex.Fields, "bounds": ex.Bounds, "signals": ex.Signals, "approval": ex.Approval,
		"demands": ex.Demands, "reasons": ex.Reasons, "rejected": ex.Rejected, "ways": ex.Ways,
	}
	if rejected != nil {
		trails["approval"] = nil
		f := fault.From(rejected)
		a.json(map[string]any{"error": f, "explanation": trails})
		return printed{f.Code}
	}
	a.json(struct {
		resolved
		Explanation map[string]any `json:"explanation"`
	}{resolved{ex.Decision, visible}, trails})
	return allowed(resolved{ex.Decision, visible})
}

// table writes rows under a head, and nothing without rows.
func table(out io.Writer, head string, lines [][]string) {
	if len(lines) == 0 {
		return
	}
	t := newTable(out, "\n"+head)
	for _, cells := range lines {
		_ = t.add(cells...)
	}
	_ = t.flush()
}

func (a *app) printTrails(ex *resolver.Explanation) {
	var layers, values, bounds, rules [][]string
	for _, l := range ex.Layers {
		layers = append(layers, []string{l.Name, l.Position})
	}
	for _, f := range ex.Fields {
		values = append(values, []string{f.Path, f.Value, f.Layer, f.At})
	}
	for _, b := range ex.Bounds {
		accepts := "-"
		if b.Accepts != nil {
			accepts = strings.Join(b.Accepts, ", ")
		}
		bounds = append(bounds, []string{b.Path, b.Demands, accepts, b.Layer, b.At})
	}
	for _, r := range slices.Concat(ex.Signals, []resolver.RuleTrail{ex.Approval}, ex.Demands, ex.Reasons) {
		if id := cmp.Or(r.ID, r.Rule.ID); id != "" {
			at := "unknown"
			if r.Rule.File != "" {
				at = fmt.Sprintf("%s:%d", r.Rule.File, r.Rule.Line)
			}
			rules = append(rules, []string{id, strings.TrimSpace(r.Level + " " + r.Message), at, r.Pointer})
		}
	}
	table(a.std.out, "LAYER\tFROM", layers)
	table(a.std.out, "VALUE\tIS\tSET BY\tAT", values)
	table(a.std.out, "CONSTRAINT\tDEMANDS\tACCEPTS\tOF\tAT", bounds)
	table(a.std.out, "RULE\tSAYS\tAT\tBY THE OVERRIDE", rules)
}

// printWays shows the answers to changed documents.
func (a *app) printWays(ex *resolver.Explanation) {
	var rows [][]string
	passes := false
	for _, w := range ex.Ways {
		steps := make([]string, len(w.Changes))
		for i, c := range w.Changes {
			steps[i] = "drop " + c.Pointer
			if c.Set != "" {
				steps[i] = "set " + c.Pointer + " to " + c.Set
			}
		}
		answer, human := "rejected", w.Because
		if w.Accepted {
			answer, human = "denied", "asks a human ("+w.RuleID+")"
			if w.Allow {
				answer = "allowed"
			}
			if w.Approval != "REQUIRED" {
				human = "asks nobody (" + w.RuleID + ")"
				passes = passes || w.Allow
			}
		}
		rows = append(rows, []string{w.Level, answer, human, strings.Join(steps, ", ")})
	}
	table(a.std.out, "LEVEL\tCALL\tAPPROVAL\tIF THE DOCUMENT WOULD", rows)
	switch {
	case ex.Decision == nil && len(rows) == 0:
		fmt.Fprintln(a.std.out, "\nLeaving out overrides is not enough for the layers; see the constraints above, or bind the tool to another profile.")
	case ex.Decision != nil && ex.Decision.HumanInTheLoop.Mode == "REQUIRED" && !passes:
		fmt.Fprintln(a.std.out, "\nNo change of the overrides or of humanInTheLoop makes it run without a human.")
	}
}
