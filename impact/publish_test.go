package impact

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/resolver"
	"github.com/toolwarrant/toolwarrant/spec"
)

// TestPublishing: what publishing asks for is part of a comparison, each way,
// by the rules of the policy and not by its settings.
func TestPublishing(t *testing.T) {
	const everyone = `{"groups": ["everyone"], "subjects": ["bob"]}`
	trusting := []string{`{"groups": ["trusted-authors"], "subjects": []}`, everyone}
	tool := func(level string) resolver.Tool {
		overrides := map[string]string{"L0": `{}`, "L4": `{"fileWrite":true}`, "L5": `{"addAllowClasses":["java.io.FileOutputStream"]}`}[level]
		s, faults := spec.Parse("t.json", []byte(`{"name":"t","code":"return 1","codeType":"Javascript","sandboxOverrides":`+overrides+`}`))
		if len(faults) > 0 {
			t.Fatal(faults[0])
		}
		return resolver.Tool{Spec: s, Source: "user"}
	}
	old := site(t, "")
	for name, c := range map[string]struct {
		policy *resolver.Resolver
		level  string
		groups []string // of the caller
		want   []string // "path direction entries"
	}{
		"nothing":                  {site(t, ""), "L5", nil, nil},
		"no justification":         {site(t, "", `"justifyFrom": "L4"`, `"justifyFrom": "L5"`), "L4", nil, []string{"publish.asks widened -publish-needs-justification"}},
		"of a level that needs it": {site(t, "", `"justifyFrom": "L4"`, `"justifyFrom": "L5"`), "L5", nil, nil},
		"others are trusted": {site(t, "", trusting...), "L5", nil, []string{
			"publish.asks.group everyone widened -publish-trusted-authors", "publish.asks.group trusted-authors tightened +publish-trusted-authors",
			"publish.asks.subject bob widened -publish-trusted-authors"}},
		"the caller is": {site(t, "", trusting...), "L5", []string{"everyone", "trusted"}, []string{"publish.asks.caller widened -publish-trusted-authors",
			"publish.asks.group everyone widened -publish-trusted-authors", "publish.asks.group trusted-authors tightened +publish-trusted-authors",
			"publish.asks.subject bob widened -publish-trusted-authors"}},
		"where nobody has to be": {site(t, "", trusting...), "L4", nil, nil},
		"from a lower level":     {site(t, "", `"trustedFrom": "L5"`, `"trustedFrom": "L4"`), "L4", nil, []string{"publish.asks tightened +publish-trusted-authors"}},
		"a rule of the site": {site(t, "package toolwarrant.publish\n\nimport rego.v2\n\nrefusals contains {\"id\": \"site-ticket\", \"message\": \"say which ticket\", \"path\": \"\"} if not contains(input.publish.justification, \"#\")\n"),
			"L0", nil, []string{"publish.asks tightened +site-ticket"}},
		"a longer justification": {site(t, "package toolwarrant.publish\n\nimport rego.v2\n\nrefusals contains {\"id\": \"publish-needs-justification\", \"message\": \"longer\", \"path\": \"\"} if count(input.publish.justification) < 500\n"),
			"L4", nil, []string{"publish.asks.justified tightened +publish-needs-justification"}},
	} {
		t.Run(name, func(t *testing.T) {
			q := Question{Principal: decision.Principal{Subject: "ann", Method: "none", Groups: append([]string{}, c.groups...), Scopes: []string{}}, Origin: decision.OriginMCPHTTP}
			compare := func(from, to *resolver.Resolver) (*DiffReport, []string) {
				t.Helper()
				r, err := Diff(context.Background(), from, to, []resolver.Tool{tool(c.level)}, q)
				if err != nil {
					t.Fatal(err)
				}
				var got []string
				for _, tool := range r.Tools {
					for _, x := range tool.Changes {
						if !strings.HasPrefix(x.Path, publishPath) {
							t.Errorf("another change: %+v", x)
						}
						got = append(got, x.Path+" "+string(x.Direction)+" "+x.words())
					}
				}
				return r, got
			}
			there, got := compare(old, c.policy)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			back, got := compare(c.policy, old)
			var opposite []string
			for _, line := range c.want {
				opposite = append(opposite, strings.NewReplacer("widened -", "tightened +", "tightened +", "widened -").Replace(line))
			}
			if diff := cmp.Diff(opposite, got); diff != "" {
				t.Errorf("the way back (-want +got):\n%s", diff)
			}
			wider := slices.ContainsFunc(c.want, func(s string) bool { return strings.Contains(s, " widened ") })
			tighter := slices.ContainsFunc(c.want, func(s string) bool { return strings.Contains(s, " tightened ") })
			if there.Refused(GateWidening) != wider || back.Refused(GateWidening) != tighter {
				t.Errorf("the gate on widening says %t, and of the way back %t", there.Refused(GateWidening), back.Refused(GateWidening))
			}
			for _, line := range c.want {
				path, _, _ := strings.Cut(line, " widened ")
				path, _, _ = strings.Cut(path, " tightened ")
				if !strings.Contains(there.Text(), path) || !strings.Contains(there.Markdown(), "`"+path+"`") {
					t.Errorf("%s is not shown:\n%s%s", path, there.Text(), there.Markdown())
				}
			}
		})
	}
}
