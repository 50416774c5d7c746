package house

import (
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the pages that are generated anew")

// chapters are the kinds of rules, by how the second line of a page begins.
var chapters = []struct{ title, prefix string }{
	{"What raises the risk level", "Risk signal"},
	{"What decides whether a human is asked", "Rule that decided"},
	{"Why a call or a publishing is refused", "Reason "},
	{"What rejects a document", "Rejection"},
	{"Findings about documents", "Finding of `toolwarrant lint`"},
	{"Findings about documents", "Finding of the policy"},
	{"Findings about policies", "Finding of `toolwarrant policy lint`"},
}

// TestIndexOfRules: docs/rules.md is made of the pages and of nothing else.
// go test ./internal/house -run TestIndexOfRules -update writes it.
func TestIndexOfRules(t *testing.T) {
	rows := map[string][]string{}
	docs := pages(t)
	for _, id := range slices.Sorted(maps.Keys(docs)) {
		kind, rest, _ := strings.Cut(strings.TrimPrefix(docs[id], "# "+id+"\n\n"), "\n")
		at := slices.IndexFunc(chapters, func(c struct{ title, prefix string }) bool { return strings.HasPrefix(kind, c.prefix) })
		_, means, ok := strings.Cut(rest, "**What it means.** ")
		if at < 0 || !ok {
			t.Errorf("docs/rules/%s.md does not begin with what kind of rule it is and what it means", id)
			continue
		}
		means, _, _ = strings.Cut(means, "\n")
		title := chapters[at].title
		rows[title] = append(rows[title], fmt.Sprintf("| [%s](rules/%s.md) | %s |\n", id, id, strings.ReplaceAll(means, "|", "\\|")))
	}
	var b strings.Builder
	b.WriteString("# Rules\n\nEach id that a decision, a rejection, a finding or a record can name. This page is generated from the pages that it links.\n")
	for i, c := range chapters {
		if i > 0 && chapters[i-1].title == c.title {
			continue
		}
		fmt.Fprintf(&b, "\n## %s\n\n| Id | What it means |\n|---|---|\n%s", c.title, strings.Join(rows[c.title], ""))
	}
	written(t, "rules.md", b.String())
}
