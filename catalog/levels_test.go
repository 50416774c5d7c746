package catalog_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolwarrant/toolwarrant/catalog"
	"github.com/toolwarrant/toolwarrant/decision"
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
	policy, err := resolver.New(ctx, resolver.Options{Policy: resolver.Builtin, Operator: resolver.Operator{BasePath: t.TempDir()}})
	if err != nil {
		t.Fatal(err)
	}
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
		d, err := policy.Resolve(ctx, resolver.Request{
			Tool:      resolver.Tool{Spec: tool.Spec, Source: string(tool.Source), ManifestEnv: tool.Env},
			Principal: decision.Principal{Subject: "local", Method: "none"},
			Origin:    decision.OriginList, Now: time.Now(),
		})
		if err != nil {
			t.Errorf("%s: %v", tool.Spec.Name, err)
			continue
		}
		got[tool.Spec.Name] = d.RiskLevel + " " + d.HumanInTheLoop.Mode
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
