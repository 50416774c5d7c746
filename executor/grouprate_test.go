package executor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/resolver"
)

// TestRatesOfAGroup: rates that the settings of a policy give to a group of
// callers are the ones that hold.
func TestRatesOfAGroup(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "p")
	if err := resolver.WriteBuiltin(folder); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(folder, "rego", "data.json")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(data), `"rates": [],
        "ceilings"`, `"rates": [{"groups": ["guests"], "ratePerMinute": 1}, {"groups": ["staff"], "ratePerMinute": 3}],
        "ceilings"`, 1)
	if changed == string(data) {
		t.Fatal("the settings have no rules of limits")
	}
	if err := os.WriteFile(file, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	policy, err := resolver.New(t.Context(), resolver.Options{Policy: folder, Untested: true})
	if err != nil {
		t.Fatal(err)
	}
	g := newRig(t, plainTool)
	g.Policy = policy
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	g.Now = func() time.Time { return now }
	ran := func(subject string, groups ...string) (n int) {
		for range 5 {
			if res := g.Call(t.Context(), Call{Name: "t", Origin: decision.OriginMCPHTTP, Principal: decision.Principal{Subject: subject, Groups: groups}}); res.Err == nil {
				n++
			} else if res.Err.Reason != "rate" {
				t.Fatal(res.Err)
			}
		}
		return n
	}
	for _, tt := range []struct {
		subject string
		groups  []string
		want    int
	}{
		{"ann", []string{"guests"}, 1},
		{"bob", []string{"guests"}, 1}, // an allowance of his own
		{"cy", []string{"staff"}, 3},
		{"di", []string{"staff", "guests"}, 1},
		{"ed", nil, 5},
	} {
		if got := ran(tt.subject, tt.groups...); got != tt.want {
			t.Errorf("%s of %v: %d calls of 5 ran, want %d", tt.subject, tt.groups, got, tt.want)
		}
	}
}
