package impact

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// report has every kind of change, and names that an author chose badly.
func report() *DiffReport {
	r := &DiffReport{
		Old: Policy{"builtin", "sha256:1"}, New: Policy{"p", "sha256:2"}, Tools: []Tool{}, Summary: DiffSummary{Compared: 3},
	}
	r.add(Tool{Name: "page", ToolID: "1", Changes: []Change{
		{Path: "effectivePolicy.network.hosts", Old: []string{"a.example"}, New: []string{"b.example"}, Direction: Widened, Added: []string{"b.example"}},
		{Path: "effectivePolicy.network.hosts", Old: []string{"a.example"}, New: []string{"b.example"}, Direction: Tightened, Removed: []string{"a.example"}},
	}})
	r.add(Tool{Name: "a|b`c\u202e<b>\n", ToolID: "2", Changes: []Change{
		{Path: "riskLevel", Old: "L3", New: "L4", Direction: Tightened},
		{Path: "riskSignals.x", Old: nil, New: "L4", Direction: Changed},
	}})
	return r
}

func TestText(t *testing.T) {
	want := "builtin -> p\n\npage\n" +
		"  widened    effectivePolicy.network.hosts  +b.example\n" +
		"  tightened  effectivePolicy.network.hosts  -a.example\n" +
		"\na|b`c\\u202e<b>\\n\n" +
		"  tightened  riskLevel      L3 -> L4\n" +
		"  changed    riskSignals.x  none -> L4\n" +
		"\n2 of 3 tools differ: 1 widened, 2 tightened.\n"
	if diff := cmp.Diff(want, report().Text()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestMarkdown(t *testing.T) {
	want := "### Policy impact: `builtin` to `p`\n\n2 of 3 tools differ: 1 widened, 2 tightened.\n\n" +
		"| Tool | | What | Old | New |\n|---|---|---|---|---|\n" +
		"| `page` | **widened** | `effectivePolicy.network.hosts` |  | `+b.example` |\n" +
		"|  | tightened | `effectivePolicy.network.hosts` | `-a.example` |  |\n" +
		"| `` a\\|b`c\\u202e<b>\\n `` | tightened | `riskLevel` | `L3` | `L4` |\n" +
		"|  | changed | `riskSignals.x` | `none` | `L4` |\n"
	if diff := cmp.Diff(want, report().Markdown()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestJSON(t *testing.T) {
	r := report()
	r.Tools = r.Tools[:1]
	raw, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"old":{"policy":"builtin","revision":"sha256:1"},"new":{"policy":"p","revision":"sha256:2"},` +
		`"tools":[{"name":"page","toolId":"1","changes":[` +
		`{"path":"effectivePolicy.network.hosts","old":["a.example"],"new":["b.example"],"direction":"widened","added":["b.example"]},` +
		`{"path":"effectivePolicy.network.hosts","old":["a.example"],"new":["b.example"],"direction":"tightened","removed":["a.example"]}]}],` +
		`"summary":{"compared":3,"differ":2,"widened":1,"tightened":2}}`
	if diff := cmp.Diff(want, string(raw)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestLongValuesAreCut(t *testing.T) {
	if s := visible(strings.Repeat("x", 1000)); len(s) != clip+3 {
		t.Errorf("%d bytes are shown", len(s))
	}
}
