package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestServerHoldsRatesOfThePolicy: a rule of limits.rates is what a served
// tool answers by, and the tools that it does not name are not touched.
func TestServerHoldsRatesOfThePolicy(t *testing.T) {
	home, policy := t.TempDir(), filepath.Join(t.TempDir(), "p")
	if _, errs, status := toolwarrant(t, home, "policy", "init", policy); status != 0 {
		t.Fatal(errs)
	}
	file := filepath.Join(policy, "rego", "data.json")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(data), "\"rates\": [],\n        \"ceilings\"",
		"\"rates\": [{\"subjects\": [\"local\"], \"tools\": [\"base64\"], \"ratePerMinute\": 2}],\n        \"ceilings\"", 1)
	if err := os.WriteFile(file, []byte(changed), 0o600); err != nil || changed == string(data) {
		t.Fatal("the settings were not changed", err)
	}
	p := serve(t, home, nil, "--policy", policy)
	w := stateless(t, p.url)
	for i, want := range []string{"", "", "RATE_LIMITED"} {
		result := w.callTool("base64", map[string]any{"text": "x"}, nil, map[string]any{}, nil)
		if got := failure(result).str("code"); got != want {
			t.Errorf("call %d: %q, want %q", i+1, got, want)
		}
		if want != "" {
			ended(t, home, result, want, "rate")
		}
	}
	for range 3 {
		if got := failure(w.callTool("uuid", map[string]any{}, nil, map[string]any{}, nil)).str("code"); got != "" {
			t.Errorf("another tool: %s", got)
		}
	}
	p.stop()
}
