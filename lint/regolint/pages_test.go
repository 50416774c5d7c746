package regolint

import (
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/toolwarrant/toolwarrant/docs"
)

// TestPages: each rule has a page that says its severity, what to avoid and
// what to prefer. What to avoid breaks the rule, what to prefer does not.
func TestPages(t *testing.T) {
	blocks := regexp.MustCompile("(?s)\\*\\*(Avoid|Prefer)\\.\\*\\*\n\n```(rego|cue)\n(.*?)```\n")
	// These leave a policy that does not compile, or ask for one that does.
	alone := []string{"TW201", "TW215", "TW219"}
	avoid, prefer := map[string]string{}, map[string]string{}
	for _, id := range slices.Sorted(maps.Keys(severities)) {
		raw, err := fs.ReadFile(docs.Rules, "rules/"+id+".md")
		if err != nil {
			t.Errorf("%s has no page: %v", id, err)
			continue
		}
		page := strings.ReplaceAll(string(raw), "\r\n", "\n")
		if !strings.Contains(page, "severity "+string(severities[id])+".") {
			t.Errorf("the page of %s does not say that it is of severity %s", id, severities[id])
		}
		for _, part := range []string{"**What it means.** ", "**Why.** ", "**How to change it.** "} {
			if !strings.Contains(page, part) {
				t.Errorf("the page of %s lacks %s", id, part)
			}
		}
		if slices.Contains(binding, id) != strings.Contains(page, "It cannot be accepted.") {
			t.Errorf("the page of %s says the opposite of what can be accepted", id)
		}
		found := blocks.FindAllStringSubmatch(page, -1)
		if len(found) != 2 || found[0][1] != "Avoid" || found[1][1] != "Prefer" {
			t.Errorf("the page of %s does not show one thing to avoid and one to prefer", id)
			continue
		}
		bad, good := place(id, found[0][2], found[0][3]), place(id, found[1][2], found[1][3])
		prefer[good] = found[1][3]
		if !slices.Contains(alone, id) {
			avoid[bad] = found[0][3]
			continue
		}
		if got := idsIn(t, map[string]string{bad: found[0][3]}, id); !slices.Contains(got, id) {
			t.Errorf("what to avoid on the page of %s gives %v", id, got)
		}
	}
	dir := write(t, avoid)
	broken := map[string]bool{}
	for _, f := range run(t, dir).Findings {
		if strings.Contains(filepath.Base(f.File), f.RuleID) {
			broken[f.RuleID] = true
		}
	}
	dir = write(t, prefer)
	for _, f := range run(t, dir).Findings {
		if strings.Contains(filepath.Base(f.File), f.RuleID) {
			t.Errorf("what to prefer on the page of %s breaks it: %s", f.RuleID, f.Message)
		}
	}
	for id := range severities {
		if !slices.Contains(alone, id) && !broken[id] {
			t.Errorf("what to avoid on the page of %s does not break it", id)
		}
	}
}

// place is where the text of a page lies in a policy.
func place(id, language, text string) string {
	switch {
	case language == "cue":
		return "cue/profiles/" + id + ".cue"
	case strings.Contains(text, "_test\n"):
		return "policy_test/" + id + "_test.rego"
	}
	return "rego/own/" + id + ".rego"
}

func idsIn(t *testing.T, files map[string]string, id string) (ids []string) {
	t.Helper()
	for _, f := range run(t, write(t, files)).Findings {
		if strings.Contains(filepath.Base(f.File), id) {
			ids = append(ids, f.RuleID)
		}
	}
	return ids
}
