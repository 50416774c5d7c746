package lint

import (
	"cmp"
	"slices"
)

// Accepted is a finding that its author accepted, with the reason.
type Accepted struct {
	Finding
	Reason string
}

// Collect makes a report of what another linter found, so that all of them
// write the same formats. texts are the files that were looked at, by the name
// that findings give them; frames are cut from these.
func Collect(found []Finding, accepted []Accepted, texts map[string][]byte, version string) Report {
	r := Report{Findings: slices.Clone(found), texts: texts, version: version}
	for file := range texts {
		r.files = append(r.files, file)
	}
	slices.Sort(r.files)
	slices.SortStableFunc(r.Findings, inOrder)
	for _, a := range accepted {
		r.suppressed = append(r.suppressed, suppressed{a.Finding, a.Reason})
	}
	slices.SortStableFunc(r.suppressed, func(a, b suppressed) int { return inOrder(a.Finding, b.Finding) })
	r.count()
	return r
}

func inOrder(a, b Finding) int {
	return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), cmp.Compare(a.RuleID, b.RuleID))
}

// count makes the summary.
func (r *Report) count() {
	r.Summary = Summary{Files: len(r.files)}
	for _, f := range r.Findings {
		switch f.Severity {
		case Error:
			r.Summary.Errors++
		case Warning:
			r.Summary.Warnings++
		}
	}
}
