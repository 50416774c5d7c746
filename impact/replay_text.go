package impact

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/toolwarrant/toolwarrant/internal/plural"
)

// Text is the report for a person at a terminal.
func (r *ReplayReport) Text() string {
	var b strings.Builder
	s := r.Summary
	w := tabwriter.NewWriter(&b, 0, 8, 2, ' ', 0)
	fmt.Fprintf(w, "policy\t%s\n", visible(r.Policy.Name))
	writeSummary(w, []counted{
		{"calls", s.Calls}, {"same", s.Same}, {"newly denied", s.NewlyDenied}, {"newly allowed", s.NewlyAllowed},
		{"approval changed", s.ApprovalChanged}, {"otherwise changed", s.Changed},
		{"unrepeatable", s.Unrepeatable}, {"refused before a decision", s.Undecided},
	})
	writeTools(w, "UNREPEATABLE", r.Tools)
	writeRules(w, r.Rules)
	if len(r.Gaps) > 0 {
		fmt.Fprintln(w, "\nUNREPEATABLE\tCALLS\tBECAUSE")
	}
	for _, g := range r.Gaps {
		fmt.Fprintf(w, "%s\t%d\t%s\n", visible(g.Pointer), g.Calls, g.Message)
	}
	if len(r.Partial) > 0 {
		fmt.Fprintln(w, "\nCOMPARED IN PART\tCALLS\tBECAUSE")
	}
	for _, p := range r.Partial {
		fmt.Fprintf(w, "%s\t%d\t%s\n", visible(p.Pointer), p.Calls, visible(p.Message))
	}
	for _, p := range r.Partial {
		fmt.Fprintf(w, "\nNot compared for %s: %s\n", plural.Of(p.Calls, "call"), strings.Join(p.NotCompared, ", "))
	}
	writeDifferences(w, r.Differences, s.differ())
	w.Flush() // into memory: it cannot fail
	return b.String()
}

// counted is a line of a summary.
type counted struct {
	what string
	n    int
}

func writeSummary(w io.Writer, lines []counted) {
	for _, l := range lines {
		fmt.Fprintf(w, "%s\t%d\n", l.what, l.n)
	}
}

// writeTools shows the calls of each tool; unanswered heads the calls that
// could not be compared.
func writeTools(w io.Writer, unanswered string, tools []ToolCounts) {
	if len(tools) > 0 {
		fmt.Fprintln(w, "\nTOOL\tSAME\tDENIED\tALLOWED\tAPPROVAL\tCHANGED\t"+unanswered)
	}
	for _, t := range tools {
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%d\n", visible(t.Name), t.Same, t.NewlyDenied, t.NewlyAllowed, t.ApprovalChanged, t.Changed, t.Unrepeatable)
	}
}

func writeRules(w io.Writer, rules []RuleCounts) {
	if len(rules) > 0 {
		fmt.Fprintln(w, "\nRULE\tDENIED\tALLOWED\tAPPROVAL\tCHANGED")
	}
	for _, t := range rules {
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\n", visible(t.ID), t.NewlyDenied, t.NewlyAllowed, t.ApprovalChanged, t.Changed)
	}
}

// writeDifferences shows the calls that differ, as many as are kept of all.
func writeDifferences(w io.Writer, kept []Difference, all int) {
	if len(kept) == 0 {
		return
	}
	fmt.Fprintln(w, "\nCALL\tTOOL\tBECOMES\tRULES")
	for _, d := range kept {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", d.CallID, visible(d.Tool), d.Kind, visible(strings.Join(d.Rules, ", ")))
	}
	if rest := all - len(kept); rest > 0 {
		fmt.Fprintf(w, "(%d more)\n", rest)
	}
}
