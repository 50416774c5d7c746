package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/toolwarrant/toolwarrant/service"
)

// Only the whole word "yes" lowers what a human is asked, and the question says
// what it would mean.
func TestConfirmLowering(t *testing.T) {
	for answer, want := range map[string]bool{
		"yes\n": true, "  yes \r\n": true, "yes": true, "y\n": false, "YES\n": false, "yes please\n": false, "no\n": false, "": false, "\n": false, "\nyes\n": false,
	} {
		var out bytes.Buffer
		a := &app{std: stdio{in: strings.NewReader(answer), err: &out}}
		if got := a.confirmLowering(service.ApprovalChange{Name: "shout", Old: "REQUIRED", New: "DISABLED", RiskLevel: "L4"}); got != want {
			t.Errorf("%q: %v", answer, got)
		}
		for _, word := range []string{"shout", "L4", "DISABLED instead of REQUIRED", "only the sandbox is left"} {
			if !strings.Contains(out.String(), word) {
				t.Errorf("the question does not say %q:\n%s", word, out.String())
			}
		}
	}
}
