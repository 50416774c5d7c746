package impact

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolwarrant/toolwarrant/decision"
)

// TestPrivacyIsCompared: what tells less of a call is tighter.
func TestPrivacyIsCompared(t *testing.T) {
	how := func(pointer string, f decision.Form) decision.Decision {
		return decision.Decision{Record: decision.Record{How: map[string]decision.Form{pointer: f}}}
	}
	masked := decision.Decision{Mask: []string{"/a"}}
	for name, c := range map[string]struct {
		old, new decision.Decision
		want     []string
	}{
		"as before, in other words": {masked, how("/a", "mask"), nil},
		"masked, then dropped":      {masked, how("/a", "drop"), []string{"mask tightened"}},
		"masked, then hashed":       {masked, how("/a", "hash"), []string{"mask widened"}},
		"a mask more":               {decision.Decision{}, masked, []string{"mask tightened"}},
		"another one":               {masked, how("/b", "hmac"), []string{"mask widened", "mask tightened"}},
		"a field more": {decision.Decision{}, decision.Decision{Record: decision.Record{Drop: []string{"/traceId"}}},
			[]string{"record.drop tightened"}},
		"the result": {decision.Decision{}, decision.Decision{Record: decision.Record{Result: decision.ResultContent}},
			[]string{"record.result widened"}},
	} {
		c.old.Allow, c.new.Allow = true, true
		got := brief(Compare(Answer{Decision: &c.old, Visible: true}, Answer{Decision: &c.new, Visible: true}))
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
