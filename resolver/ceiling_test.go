package resolver

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/fault"
)

const ceilings = `package toolwarrant

profiles: low: constraints: riskLevel: <="L3"
profiles: own: {network: mode: "strict", constraints: riskLevel: <"L3"}
profiles: pinned: constraints: riskLevel: "L0" | "L3"
profiles: words: constraints: category: "TEXT" | "MATH"
profiles: listed: constraints: allowClasses: [...("java.lang.*" | "java.math.*" | "java.text.*" | "java.time.*" | "java.util.*" | "com.example.Fine")]
profiles: few: constraints: denyClasses: [_, _, _]
profiles: denied: {denyClasses: ["com.example.Bad"], constraints: denyClasses: [...!~"^com"]}
bindings: [
	{profile: "low", tag: "low"},
	{profile: "own", tag: "own"},
	{profile: "pinned", tag: "pinned"},
	{profile: "words", tag: "words"},
	{profile: "listed", tag: "listed"},
	{profile: "few", tag: "few"},
	{profile: "denied", tag: "denied"},
	{profile: "aside", tag: "aside"},
	{profile: "far-off", tag: "far-off"},
]

// A bound that stands elsewhere.
_low: riskLevel: <="L3"
profiles: aside: constraints: _low
profiles: [=~"^far"]: constraints: riskLevel: <="L3"
profiles: "far-off": description: "test"
`

// raising raises the level by what the caller passes.
const raising = `package toolwarrant.risk

import rego.v2

# METADATA
# title: Large amounts
# labels:
#   id: large-amount
signals contains {"id": "large-amount", "level": "L4", "message": "moves a large amount"} if input.call.args.amount > 1000
`

func TestCeilings(t *testing.T) {
	r := newResolver(t, Options{Policy: policyFolder(t, map[string]string{"cue/bindings.cue": ceilings, "rego/risk/amount.rego": raising})})
	tagged := func(tag string, o map[string]any) map[string]any {
		return map[string]any{"tags": []string{tag}, "category": "WEB", "sandboxOverrides": o}
	}
	for _, tt := range []struct {
		name    string
		fields  map[string]any
		args    string
		pointer string // "" = accepted
		says    string
	}{
		{"below", tagged("low", map[string]any{"fileRead": true}), "", "", ""},
		{"above", tagged("low", map[string]any{"fileRead": true, "fileWrite": true}), "",
			"/sandboxOverrides/fileWrite",
			`profile "low" (cue/bindings.cue:3) demands riskLevel: <="L3", but the tool is "L4" (file-write) at /sandboxOverrides/fileWrite`},
		{"above by an entry of a list", tagged("low", map[string]any{"networkMode": "allowlist", "hostsAllow": []string{"a.example", "*"}}), "",
			"/sandboxOverrides/hostsAllow/1",
			`but the tool is "L4" (network-wildcard) at /sandboxOverrides/hostsAllow/1`},
		{"above by two together", tagged("low", map[string]any{"fileWrite": true, "addAllowClasses": []string{"java.io.File"}}), "",
			"/sandboxOverrides",
			`but the tool is "L4" (allow-file-read, file-write) at /sandboxOverrides`},
		{"above by the layer itself", tagged("own", nil), "",
			namePointer, `profile "own" (cue/bindings.cue:4) demands riskLevel: <"L3", but the tool is "L3" (network-strict)`},
		{"above by the call", tagged("low", nil), `{"amount": 2000}`,
			namePointer, `profile "low" (cue/bindings.cue:3) demands riskLevel: <="L3", but the tool is "L4" (large-amount)`},
		{"above by the call, bound elsewhere", tagged("aside", nil), `{"amount": 2000}`,
			namePointer, `profile "aside" (cue/bindings.cue:`},
		{"above by the call, bound by a pattern", tagged("far-off", nil), `{"amount": 2000}`,
			namePointer, `profile "far-off" (cue/bindings.cue:`},
		{"the same call below", tagged("low", nil), `{"amount": 2}`, "", ""},
		{"the same call without ceiling", tagged("none", nil), `{"amount": 2000}`, "", ""},
		{"pinned", tagged("pinned", map[string]any{"fileWrite": true}), "",
			"/sandboxOverrides/fileWrite", `demands riskLevel: "L0" | "L3", but the tool is "L4" (file-write)`},
		{"a category", tagged("words", nil), "",
			"/category", `profile "words" (cue/bindings.cue:6) demands category: "TEXT" | "MATH", but the tool is of "WEB" at /category`},
		{"without a category", map[string]any{"tags": []string{"words"}}, "", namePointer, `but the tool is of ""`},
		{"a category that is allowed", map[string]any{"tags": []string{"words"}, "category": "MATH"}, "", "", ""},
		{"a class of the tool", tagged("listed", map[string]any{"addAllowClasses": []string{"com.example.Fine", "com.example.X"}}), "",
			"/sandboxOverrides/addAllowClasses/1", `but the tool asks for "com.example.X" at /sandboxOverrides/addAllowClasses/1`},
		{"many classes", tagged("listed", map[string]any{"addAllowClasses": []string{"a.A", "a.B", "a.C", "a.D", "a.E"}}), "",
			"/sandboxOverrides/addAllowClasses/0", `but the tool asks for "a.A", "a.B", "a.C" and 2 more at /sandboxOverrides/addAllowClasses/0`},
		{"the length of a list", tagged("few", nil), "",
			namePointer, `demands denyClasses: [_, _, _], but the baseline (cue/baseline.cue:16) gives a list of 12`},
		{"a class of a layer", tagged("denied", nil), "",
			namePointer, `but profile "denied" (cue/bindings.cue:9) gives "com.example.Bad"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			req := request(doc(t, tt.fields))
			if tt.args != "" {
				req.Args = []byte(tt.args)
			}
			_, err := r.Resolve(context.Background(), req)
			if tt.pointer == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			f := wantFault(t, err, fault.ResolverReject, "constraint")
			if f.Pointer != tt.pointer || !strings.Contains(f.Message, tt.says) {
				t.Errorf("%q at %q, want %q at %q", f.Message, f.Pointer, tt.says, tt.pointer)
			}
			if f.Line == 0 || strings.Contains(f.Message, "conflicting") || strings.Contains(f.Message, "disjunction") {
				t.Errorf("no place, or raw text of CUE: %+v", f)
			}
			if tt.args != "" {
				return
			}
			// The same words where nobody calls.
			_, err = r.Findings(context.Background(), req.Tool, decision.Principal{})
			if diff := cmp.Diff(f.Message, fault.From(err).Message); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestACeilingThatHoldsNothingIsRefused(t *testing.T) {
	for _, bound := range []string{`<="l3"`, `string`, `>="L0"`} {
		folder := policyFolder(t, map[string]string{"cue/bindings.cue": "package toolwarrant\n\nprofiles: low: constraints: riskLevel: " + bound + "\n"})
		_, err := New(context.Background(), Options{Policy: folder})
		if f := wantFault(t, err, fault.PolicyUnavailable, "policy-cue"); !strings.Contains(f.Message, `profile "low" forbids no level`) {
			t.Errorf("%s: %q", bound, f.Message)
		}
	}
}

// A policy that was copied before layers could bound level and category still
// decides, by its own shape; a ceiling in it is a mistake that it reports.
func TestAnOlderShapeOfLayers(t *testing.T) {
	older := func(text string) string {
		folder := policyFolder(t, nil)
		shape := read(t, folder, "cue/policy.cue")
		at := strings.Index(shape, "	// Two that no layer sets")
		end := strings.Index(shape[at:], "\n}")
		for _, name := range []string{"cue/profiles/offline.cue", "cue/profiles/regulated.cue"} {
			change(t, folder, map[string]string{name: regexp.MustCompile(`(?m)^\s*riskLevel: .*\n`).ReplaceAllString(read(t, folder, name), "")})
		}
		change(t, folder, map[string]string{"cue/policy.cue": shape[:at] + shape[at+end+1:], "cue/bindings.cue": text})
		return folder
	}
	r := newResolver(t, Options{Policy: older("package toolwarrant\n\nbindings: [{profile: \"standard\"}]\n")})
	if _, err := r.Resolve(context.Background(), request(doc(t, nil))); err != nil {
		t.Error(err)
	}
	_, err := r.Resolve(context.Background(), request(doc(t, overrides(map[string]any{"fileWrite": true}))))
	wantFault(t, err, fault.ResolverReject, "constraint")
	_, err = New(context.Background(), Options{Policy: older(ceilings)})
	wantFault(t, err, fault.PolicyUnavailable, "policy-cue")
}

// What the ceiling rejects is in no list.
func TestWhatIsAboveTheCeilingIsNotVisible(t *testing.T) {
	r := newResolver(t, Options{Policy: policyFolder(t, map[string]string{"cue/bindings.cue": ceilings})})
	above := doc(t, map[string]any{"tags": []string{"low"}, "sandboxOverrides": map[string]any{"fileWrite": true}})
	seen, err := r.Visible(context.Background(), decision.Principal{}, []Tool{{Spec: above}, {Spec: doc(t, nil)}})
	if err != nil || !cmp.Equal(seen, []bool{false, true}) {
		t.Errorf("%v, %v", seen, err)
	}
	var rejected *Rejection
	if _, err := r.Safety(context.Background(), Tool{Spec: above}, decision.Principal{}); !errors.As(err, &rejected) {
		t.Error(err)
	}
}

func read(t *testing.T, folder, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
