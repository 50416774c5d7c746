package resolver

import (
	"context"
	"strings"
	"testing"

	"github.com/toolwarrant/toolwarrant/fault"
)

// TestVisibleIsNamed: a list that would depend on a call is refused by the
// name of the rule, its place and what it reads, as the author wrote it.
func TestVisibleIsNamed(t *testing.T) {
	for reads, rule := range map[string]string{
		"reads input.now;":                             "lists.late.night if input.now > \"2026\"\n",
		"reads input.call.args;":                       "lists.late[name] if {\n\tsome name, _ in input.call.args\n}\n",
		"reads input by a name that is computed;":      "lists.late.night if {\n\tsome field in [\"now\", \"tool\"]\n\tinput[lower(field)]\n}\n",
		"access.lists.late at rego/access/late.rego:7": "lists.late contains field if {\n\tsome field in input.approvals\n}\n",
	} {
		_, err := New(context.Background(), Options{Policy: policyFolder(t, map[string]string{
			"rego/access/late.rego": "package toolwarrant.access\n\nimport rego.v2\n\nhidden contains {\"id\": \"late\", \"message\": \"late\", \"path\": null} if lists.late\n\n" + rule,
		})})
		f := wantFault(t, err, fault.PolicyUnavailable, "policy-compile")
		if !strings.Contains(f.Message, reads) || strings.Contains(f.Message, "__local") || strings.Contains(f.Message, "does not compile") ||
			!strings.Contains(f.Message, "reaches data.toolwarrant.access.lists.late") {
			t.Errorf("%s: %v", reads, err)
		}
		if f.File != "rego/access/late.rego" || f.Line != 7 {
			t.Errorf("%s: at %s:%d", reads, f.File, f.Line)
		}
	}
}
