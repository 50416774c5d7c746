package impact

import (
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/toolwarrant/toolwarrant/executor/mask"
	"github.com/toolwarrant/toolwarrant/internal/plural"
)

// clip bounds what a person is shown of one value.
const clip = 200

// Text is the report for a person at a terminal.
func (r *DiffReport) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s -> %s\n", visible(r.Old.Name), visible(r.New.Name))
	w := tabwriter.NewWriter(&b, 0, 8, 2, ' ', 0)
	for _, t := range r.Tools {
		fmt.Fprintf(w, "\n%s\n", visible(t.Name))
		for _, c := range t.Changes {
			fmt.Fprintf(w, "  %s\t%s\t%s\n", c.Direction, visible(c.Path), visible(c.words()))
		}
	}
	w.Flush() // into memory: it cannot fail
	fmt.Fprintf(&b, "\n%s\n", r.sentence())
	return b.String()
}

// sentence is the summary.
func (r *DiffReport) sentence() string {
	s := r.Summary
	if s.Differ == 0 {
		return fmt.Sprintf("No difference in %s.", plural.Of(s.Compared, "tool"))
	}
	return fmt.Sprintf("%d of %s differ: %d widened, %d tightened.", s.Differ, plural.Of(s.Compared, "tool"), s.Widened, s.Tightened)
}

// words is what changed: the entries of a list, else both values.
func (c Change) words() string {
	if len(c.Added)+len(c.Removed) == 0 {
		return shown(c.Old) + " -> " + shown(c.New)
	}
	var parts []string
	for _, e := range c.Added {
		parts = append(parts, "+"+e)
	}
	for _, e := range c.Removed {
		parts = append(parts, "-"+e)
	}
	return strings.Join(parts, " ")
}

// shown is one value. What was not there, and an empty list, is "none".
func shown(v any) string {
	switch v := v.(type) {
	case nil:
		return "none"
	case string:
		if v == "" {
			return `""`
		}
		return v
	case []string:
		if len(v) == 0 {
			return "none"
		}
		return strings.Join(v, ", ")
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(raw)
}

// visible bounds a text and shows what would be unseen in it: names and
// prompts are an author's.
func visible(s string) string {
	if r := []rune(s); len(r) > clip {
		s = string(r[:clip]) + "..."
	}
	return mask.Visible(s)
}
