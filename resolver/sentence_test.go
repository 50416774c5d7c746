package resolver

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolwarrant/toolwarrant/fault"
)

// TestWhoForbids: the message names the expression that a value does not
// satisfy, wherever it stands.
func TestWhoForbids(t *testing.T) {
	for _, tt := range []struct{ name, constraints, more, message string }{
		{"the second of two fields", "\n\tnetwork: mode: !=\"open\"\n\tnetwork: mode: !=\"strict\"\n", "", `(cue/profiles/x.cue:5) demands network.mode: !="strict", but the tool asks for "strict"`},
		{"the first of two fields", "\n\tnetwork: mode: !=\"strict\"\n\tnetwork: mode: !=\"open\"\n", "", `(cue/profiles/x.cue:4) demands network.mode: !="strict", but`},
		{"another file", "network: mode: !=\"open\"", "profiles: x: constraints: network: mode: !=\"strict\"", `(cue/profiles/y.cue:3) demands network.mode: !="strict", but`},
		{"one expression", "network: mode: !=\"open\" & !=\"strict\"", "", `(cue/profiles/x.cue:3) demands network.mode: !="open" & !="strict", but`},
		{"a shared field", "_low", "_low: {\n\tnetwork: mode: \"blocked\"\n}", `(cue/profiles/y.cue:4) demands network.mode: "blocked", but`},
		{"an embedded definition", "{#low, fileWrite: false}", "#low: network: mode: \"blocked\"", `(cue/profiles/y.cue:3) demands network.mode: "blocked", but`},
		{"a level", "_low", "_low: riskLevel: <=\"L2\"", `demands riskLevel: <="L2", but the tool is "L3"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newResolver(t, Options{Policy: policyFolder(t, map[string]string{
				"cue/profiles/x.cue": "package toolwarrant\n\nprofiles: x: constraints: {" + tt.constraints + "}\n",
				"cue/profiles/y.cue": "package toolwarrant\n\n" + tt.more + "\n",
				"cue/bindings.cue":   "package toolwarrant\n\nbindings: [{profile: \"x\"}]\n",
			})})
			_, err := r.Resolve(context.Background(), request(doc(t, overrides(map[string]any{"networkMode": "strict"}))))
			if f := wantFault(t, err, fault.ResolverReject, "constraint"); !strings.Contains(f.Message, tt.message) {
				t.Errorf("%q lacks %q", f.Message, tt.message)
			}
			if _, err := r.Resolve(context.Background(), request(doc(t, nil))); err != nil {
				t.Errorf("a tool that asks for nothing: %v", err)
			}
		})
	}
}

// TestBoundsByReference: what is shared by a hidden field is shown as if it
// stood in the layer.
func TestBoundsByReference(t *testing.T) {
	s, err := readSource(context.Background(), Options{Policy: policyFolder(t, map[string]string{
		"cue/profiles/x.cue": "package toolwarrant\n\nprofiles: x: constraints: _low\n_low: riskLevel: <=\"L2\"\n",
	})})
	if err != nil {
		t.Fatal(err)
	}
	l, err := loadLayers(s)
	if err != nil {
		t.Fatal(err)
	}
	got := l.bounds([]*layer{l.profiles["x"]})
	want := []BoundTrail{{"riskLevel", `<="L2"`, "profile:x", "cue/profiles/x.cue:4", []string{"L0", "L1", "L2"}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
