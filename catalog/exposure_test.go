package catalog

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolwarrant/toolwarrant/fault"
)

const rulePresets = `{"version":1,"default":"two","presets":{
	"two":{"displayName":"Two","description":"Two tools.","names":["a","b"]},
	"none":{"displayName":"None","description":"No tool.","names":[]},
	"web":{"displayName":"Web","description":"By category.","categories":["WEB"]},
	"all":{"displayName":"All","description":"Every tool.","names":["*"]}}}`

var ruleTools = map[string]string{
	"a": `"category":"MATH","tags":["util"]`,
	"b": `"category":"WEB","tags":["korea"]`,
	"c": `"category":"WEB","tags":["korea","search"]`,
	"d": `"category":"CRYPTO","tags":["util"]`,
}

func TestRuleOrder(t *testing.T) {
	b := smallBundle(t, rulePresets, ruleTools)
	for _, tc := range []struct {
		name string
		o    Options
		want []string
	}{
		{"default preset", Options{}, []string{"a", "b"}},
		{"everything is an explicit star", Options{Preset: "all"}, []string{"a", "b", "c", "d"}},
		{"an empty preset is empty", Options{Preset: "none"}, nil},
		{"preset by category", Options{Preset: "web"}, []string{"b", "c"}},
		{"include a name", Options{Preset: "two", Include: Rules{Names: []string{"d"}}}, []string{"a", "b", "d"}},
		{"include a tag", Options{Preset: "two", Include: Rules{Tags: []string{"search"}}}, []string{"a", "b", "c"}},
		{"include a category", Options{Preset: "two", Include: Rules{Categories: []string{"CRYPTO"}}}, []string{"a", "b", "d"}},
		{"include without a preset starts from nothing", Options{Include: Rules{Names: []string{"d"}}}, []string{"d"}},
		{"exclude without a preset starts from the default", Options{Exclude: Rules{Names: []string{"b"}}}, []string{"a"}},
		{"exclude beats include by name", Options{Preset: "all", Include: Rules{Names: []string{"b"}}, Exclude: Rules{Categories: []string{"WEB"}}}, []string{"a", "d"}},
		{"exclude a tag", Options{Preset: "all", Exclude: Rules{Tags: []string{"util"}}}, []string{"b", "c"}},
		{"a known tag that no tool has", Options{Preset: "two", Include: Rules{Tags: []string{"korea"}}}, []string{"a", "b", "c"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c, err := open(context.Background(), tc.o, b)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, exposed(t, c)); diff != "" {
				t.Error(diff)
			}
			// What is not chosen is not ACTIVE either, so that no transport
			// can call it, and says why.
			for _, tool := range list(t, c) {
				if ok, _ := c.Exposed(tool); ok != (tool.State == StateActive) || !ok && tool.Why == "" {
					t.Errorf("%s: exposed %v, state %s, why %q", tool.Spec.Name, ok, tool.State, tool.Why)
				}
			}
		})
	}
}

func TestRulesThatNameNothing(t *testing.T) {
	for _, tc := range []struct {
		name   string
		o      Options
		reason string
		word   string
	}{
		{"preset", Options{Preset: "starter"}, "unknown-preset", `did you mean "starter-5"?`},
		{"preset far off", Options{Preset: "zzzzzzzzz"}, "unknown-preset", "known are dev-essentials"},
		{"included name", Options{Include: Rules{Names: []string{"getWether"}}}, "unknown-tool", `did you mean "getWeather"?`},
		{"excluded name", Options{Exclude: Rules{Names: []string{"writetextfile"}}}, "unknown-tool", `did you mean "writeTextFile"?`},
		{"excluded tag", Options{Exclude: Rules{Tags: []string{"utils"}}}, "unknown-tag", `did you mean "util"?`},
		{"excluded category", Options{Exclude: Rules{Categories: []string{"web"}}}, "unknown-category", `did you mean "WEB"?`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := Open(context.Background(), tc.o)
			wantFault(t, err, fault.Usage, tc.reason, tc.word)
		})
	}
}
