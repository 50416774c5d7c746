package catalog_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolwarrant/toolwarrant/catalog"
	"github.com/toolwarrant/toolwarrant/resolver"
)

// TestLevels is the golden table of how the built-in policy decides about
// each bundled tool: its risk level, and whether a person is asked.
func TestLevels(t *testing.T) {
	want := map[string]string{
		"base64":          "L0 DISABLED",
		"cronNext":        "L0 DISABLED",
		"evalExpression":  "L0 DISABLED",
		"getWeather":      "L3 DISABLED",
		"hash":            "L0 DISABLED",
		"hmac":            "L0 DISABLED",
		"jwtDecode":       "L0 DISABLED",
		"parseCsv":        "L0 DISABLED",
		"readTextFile":    "L3 DISABLED",
		"timezoneConvert": "L0 DISABLED",
		"uuid":            "L0 DISABLED",
		"writeTextFile":   "L4 REQUIRED",
	}
	ctx := context.Background()
	policy := builtinPolicy(t, resolver.Operator{})
	c, err := catalog.Open(ctx, catalog.Options{Preset: "everything"})
	if err != nil {
		t.Fatal(err)
	}
	tools, err := c.List(ctx)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, tool := range tools {
		d := decide(t, policy, tool)
		got[tool.Spec.Name] = d.RiskLevel + " " + d.HumanInTheLoop.Mode
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
