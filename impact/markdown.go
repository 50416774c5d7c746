package impact

import (
	"fmt"
	"strings"
)

// Markdown is the report for a pull request: a sentence, and a table with one
// line per change.
func (r *DiffReport) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "### Policy impact: %s to %s\n\n%s\n", code(r.Old.Name), code(r.New.Name), r.sentence())
	if len(r.Tools) == 0 {
		return b.String()
	}
	b.WriteString("\n| Tool | | What | Old | New |\n|---|---|---|---|---|\n")
	for _, t := range r.Tools {
		name := code(t.Name)
		for _, c := range t.Changes {
			direction := string(c.Direction)
			if c.Direction == Widened {
				direction = "**widened**"
			}
			old, new := code(shown(c.Old)), code(shown(c.New))
			if len(c.Added)+len(c.Removed) > 0 {
				old, new = entries("-", c.Removed), entries("+", c.Added)
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", name, direction, code(c.Path), old, new)
			name = ""
		}
	}
	return b.String()
}

func entries(sign string, list []string) string {
	out := make([]string, len(list))
	for i, e := range list {
		out[i] = code(sign + e)
	}
	return strings.Join(out, " ")
}

// code makes a text inert: a code span whose fence the text cannot close, in
// a cell that it cannot leave.
func code(s string) string {
	s = strings.ReplaceAll(visible(s), "|", `\|`)
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	if len(fence) > 1 {
		return fence + " " + s + " " + fence
	}
	return fence + s + fence
}
