package resolver

import (
	"context"
	"strconv"
	"strings"
	"testing"
)

func TestSettingsErrors(t *testing.T) {
	data := readFile(t, "../rego/data.json")
	edit := func(from, to string) string {
		if !strings.Contains(data, from) {
			t.Fatalf("no %s in the settings", from)
		}
		return strings.Replace(data, from, to, 1)
	}
	rules := func(text string) string { return edit(`"rules": []`, `"rules": [`+"\n"+text+"\n]") }
	line := func(part string) string { // "rego/data.json:N: "
		before, _, _ := strings.Cut(data, part)
		return "rego/data.json:" + strconv.Itoa(strings.Count(before, "\n")+1) + ": "
	}
	below := func(part string) string { // of rules, one below
		before, _, _ := strings.Cut(data, part)
		return "rego/data.json:" + strconv.Itoa(strings.Count(before, "\n")+2) + ": "
	}
	const at = "toolwarrant.settings."
	refuses(t, "policy-cue", []refusal{
		{"an effect", "rego/data.json", rules(`{"id": "x", "effect": "hde"}`), []string{below(`"rules"`), at + `access.rules.0.effect: "hde" is none of "deny", "hide"`}},
		{"an effect of another type", "rego/data.json", rules(`{"id": "x", "effect": 3}`), []string{below(`"rules"`), `3 is none of "deny", "hide"`}},
		{"a floor", "rego/data.json", edit(`"floor": "L5"`, `"floor": "l5"`), []string{line(`"floor"`), at + `hitl.floor: "l5" is none of "L0", "L1", "L2", "L3", "L4", "L5", "none"`}},
		{"a level", "rego/data.json", edit(`"maxRiskLevel": "L5"`, `"maxRiskLevel": "L9"`), []string{line(`"maxRiskLevel"`), `"L9" is none of "L0", "L1"`}},
		{"the level of a signal", "rego/data.json", edit(`"network-strict": {"level": "L3"`, `"network-strict": {"level": "high"`), []string{line(`"network-strict"`), at + `risk.signals.network-strict.level: "high" is none of "L0"`}},
		{"a channel", "rego/data.json", edit(`"channels": [`, `"channels": ["mail", `), []string{line(`"channels"`), `"mail" is none of "elicitation", "input_required"`}},
		{"a number", "rego/data.json", edit(`"expirySeconds": 120`, `"expirySeconds": 0`), []string{line(`"expirySeconds"`), at + "hitl.expirySeconds", ">=1"}},
		{"a misspelled key", "rego/data.json", edit(`"floor"`, `"flour"`), []string{line(`"floor"`), at + "hitl.flour: field not allowed; did you mean \"floor\"?"}},
		{"a misspelled selector", "rego/data.json", edit(`"rules": []`, `"rules": [{"id": "x", "effect": "deny", "group": ["a"]}]`), []string{at + "access.rules.0.group: field not allowed; did you mean \"groups\"?"}},
		{"a missing key", "rego/data.json", edit(`"floor": "L5",`, ``), []string{line(`"hitl"`), at + "hitl.floor", "required"}},
		{"an origin", "rego/data.json", rules(`{"id": "x", "effect": "deny", "origins": ["mcp-stdio", "mcp"]}`), []string{below(`"rules"`), at + `access.rules.0.origins.1: "mcp" is none of "admin", "cli-run", "cli-test", "lint", "list", "mcp-http"`}},
		{"hide by origin", "rego/data.json", rules(`{"id": "x", "effect": "hide", "origins": ["mcp-http"]}`), []string{below(`"rules"`), at + "access.rules.0.origins", `"hide"`, `take the effect "deny"`}},
		{"the mode of a profile", "cue/profiles/x.cue", "package toolwarrant\n\nprofiles: x: network: mode: \"opn\"\n", []string{"cue/profiles/x.cue:3: ", `profiles.x.network.mode: "opn" is none of "allowlist", "blocked", "open", "strict"`}},
		{"a level of a constraint", "cue/profiles/x.cue", "package toolwarrant\n\nprofiles: x: constraints: riskLevel: \"low\"\n", []string{"cue/profiles/x.cue:3: ", `"low" is none of "L0"`}},
	})
	for _, rule := range []string{
		`{"id": "x", "effect": "deny", "origins": ["mcp-http", "mcp-stdio", "cli-run", "cli-test", "admin", "studio", "list", "lint"]}`,
		`{"id": "x", "effect": "hide", "tags": ["util"]}`,
	} {
		s, err := readSource(context.Background(), Options{Policy: policyFolder(t, map[string]string{"rego/data.json": rules(rule)})})
		if err == nil {
			_, err = loadLayers(s)
		}
		if err != nil {
			t.Errorf("%s: %v", rule, err)
		}
	}
}

// TestOldShapeOfSettings: what the shape of an older folder does not hold
// the settings to, activation does.
func TestOldShapeOfSettings(t *testing.T) {
	data, shape := readFile(t, "../rego/data.json"), readFile(t, "../cue/policy.cue")
	old := strings.Replace(shape, `origins?: [...("mcp-http" |`, `origins?: [...(string | "mcp-http" |`, 1)
	if old == shape {
		t.Fatal("the shape has no origins")
	}
	_, err := New(context.Background(), Options{Policy: policyFolder(t, map[string]string{"cue/policy.cue": old,
		"rego/data.json": strings.Replace(data, `"rules": []`, `"rules": [{"id": "x", "effect": "hide", "origins": ["mcp"]}]`, 1)})})
	if err == nil || !strings.Contains(err.Error(), "origins") {
		t.Errorf("%v", err)
	}
}
