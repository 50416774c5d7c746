package resolver

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/fault"
)

// profiles used by the tests of this file. p1 to p8 extend each other.
func profileText() string {
	var b strings.Builder
	b.WriteString("package toolwarrant\n")
	for i := 1; i <= 8; i++ {
		fmt.Fprintf(&b, "profiles: p%d: {timeoutSeconds: %d", i, 30-i)
		if i > 1 {
			fmt.Fprintf(&b, ", extends: \"p%d\"", i-1)
		}
		b.WriteString("}\n")
	}
	b.WriteString(`
profiles: reader: fileRead: true
profiles: lifter: allowClasses: ["java.lang.System"]
profiles: adder: {allowClasses: ["java.net.URL"], network: hosts: ["Added.example"]}
profiles: late: {timeoutSeconds: 20}
profiles: tight: {
	extends: "late"
	constraints: {
		network: {
			mode: "blocked" | "allowlist"
		}
		timeoutSeconds: <=10
	}
}
profiles: banned: constraints: fileWrite: false
profiles: combined: constraints: {
	network: mode: string
	if network.mode == "allowlist" {
		fileRead: false
	}
}
bindings: [
	{profile: "p8", name: "eighth"},
	{profile: "lifter", name: "lifter"},
	{profile: "adder", tag: "add"},
	{profile: "tight", category: "TIGHT"},
	{profile: "banned", group: "guests"},
	{profile: "combined", toolId: "id-combined"},
	{profile: "p2", name: "second"},
]
`)
	return b.String()
}

func profileResolver(t *testing.T) *Resolver {
	return newResolver(t, Options{Policy: policyFolder(t, map[string]string{"cue/bindings.cue": profileText()})})
}

func TestBindingsAndChains(t *testing.T) {
	r := profileResolver(t)
	for _, tt := range []struct {
		name   string
		fields map[string]any
		chain  []string
	}{
		{"none", nil, []string{}},
		{"by name", map[string]any{"name": "second"}, []string{"p1", "p2"}},
		{"eight", map[string]any{"name": "eighth"}, []string{"p1", "p2", "p3", "p4", "p5", "p6", "p7", "p8"}},
		{"by tag", map[string]any{"tags": []string{"x", "add"}}, []string{"adder"}},
		{"by category", map[string]any{"category": "TIGHT"}, nil},
		{"by id", map[string]any{"toolId": "id-combined"}, []string{"combined"}},
		{"document", map[string]any{"x-toolwarrant-profile": "offline"}, []string{"offline"}},
		{"both", map[string]any{"name": "second", "x-toolwarrant-profile": "p3"}, []string{"p1", "p2", "p3"}},
		{"both, the same", map[string]any{"name": "second", "x-toolwarrant-profile": "p2"}, []string{"p1", "p2"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d, err := r.Resolve(context.Background(), request(doc(t, tt.fields)))
			if tt.chain == nil {
				wantFault(t, err, fault.ResolverReject, "constraint")
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.chain, d.ProfileChain); diff != "" {
				t.Error(diff)
			}
		})
	}
	d, err := r.Resolve(context.Background(), request(doc(t, map[string]any{"name": "eighth"})))
	if err != nil || d.EffectivePolicy.TimeoutSeconds != 22 {
		t.Errorf("the leaf does not win: %+v, %v", d, err)
	}
}

func TestChainErrors(t *testing.T) {
	r := profileResolver(t)
	for _, tt := range []struct {
		name                     string
		fields                   map[string]any
		reason, pointer, message string
	}{
		{"unknown named", map[string]any{"x-toolwarrant-profile": "nope"}, "unknown-profile", profilePointer, "nope"},
		{"ninth together", map[string]any{"name": "eighth", "x-toolwarrant-profile": "offline"}, "profile-chain-too-long", profilePointer, "offline -> p8"},
		{"widening", map[string]any{"x-toolwarrant-profile": "reader"}, "profile-widens", profilePointer, "fs.read"},
		{"widening classes", map[string]any{"x-toolwarrant-profile": "adder"}, "profile-widens", profilePointer, "allowClasses"},
		{"lifting a baseline deny", map[string]any{"name": "lifter"}, "class-overlap", namePointer, "java.lang.System"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := r.Resolve(context.Background(), request(doc(t, tt.fields)))
			f := wantFault(t, err, fault.ResolverReject, tt.reason)
			if f.Line == 0 {
				t.Error("the rejection has no line")
			}
			if f.Pointer != tt.pointer || !strings.Contains(f.Message, tt.message) {
				t.Errorf("%q at %q, want %q at %q", f.Message, f.Pointer, tt.message, tt.pointer)
			}
		})
	}
	own := overrides(map[string]any{"removeDenyClasses": []string{"java.lang.System"}})
	own["name"] = "lifter"
	d, err := r.Resolve(context.Background(), request(doc(t, own)))
	if err != nil || d.RiskLevel != "L5" {
		t.Errorf("the tool's own removal: %+v, %v", d, err)
	}
}

// TestChainOfAProfile: activation refuses what chain refuses, and chain does
// not count on it.
func TestChainOfAProfile(t *testing.T) {
	l := &layers{profiles: map[string]*layer{}}
	for name, parent := range map[string]string{"ping": "pong", "pong": "ping", "self": "self", "orphan": "nobody", "p1": "", "p2": "p1", "p3": "p2",
		"p4": "p3", "p5": "p4", "p6": "p5", "p7": "p6", "p8": "p7", "p9": "p8"} {
		l.profiles[name] = &layer{name: name, extends: parent}
	}
	for _, tt := range []struct{ leaf, reason, message string }{
		{"p9", "profile-chain-too-long", "p9 -> p8"},
		{"ping", "profile-cycle", "ping -> pong"},
		{"self", "profile-cycle", "self"},
		{"gone", "unknown-profile", "gone"},
		{"orphan", "unknown-profile", "orphan -> nobody"},
	} {
		_, err := l.chain(tt.leaf, namePointer)
		if f := wantFault(t, err, fault.ResolverReject, tt.reason); f.Pointer != namePointer || !strings.Contains(f.Message, tt.message) {
			t.Errorf("%s: %q at %q", tt.leaf, f.Message, f.Pointer)
		}
	}
	if chain, err := l.chain("p8", namePointer); err != nil || len(chain) != 8 {
		t.Errorf("eight: %d, %v", len(chain), err)
	}
}

func TestProfileGrantsCountForRisk(t *testing.T) {
	r := profileResolver(t)
	fields := overrides(map[string]any{"networkMode": "allowlist", "hostsAllow": []string{"own.example"}})
	fields["tags"] = []string{"add"}
	d, err := r.Resolve(context.Background(), request(doc(t, fields)))
	if err != nil {
		t.Fatal(err)
	}
	if d.RiskLevel != "L4" {
		t.Errorf("level %s, want L4 for java.net.URL", d.RiskLevel)
	}
	if diff := cmp.Diff([]string{"added.example", "own.example"}, d.EffectivePolicy.Network.Hosts); diff != "" {
		t.Error(diff)
	}
}

func TestConstraints(t *testing.T) {
	r := profileResolver(t)
	guest := decision.Principal{Subject: "g", Method: "none", Groups: []string{"guests"}}
	for _, tt := range []struct {
		name    string
		fields  map[string]any
		guest   bool
		pointer string
		parts   []string
	}{
		{"the tool's mode", map[string]any{"x-toolwarrant-profile": "offline", "sandboxOverrides": map[string]any{"networkMode": "strict"}}, false,
			"/sandboxOverrides/networkMode", []string{`profile "offline" (cue/profiles/offline.cue:7)`, `network.mode: "blocked"`, `asks for "strict"`}},
		{"a constraint by group", overrides(map[string]any{"fileWrite": true}), true,
			"/sandboxOverrides/fileWrite", []string{`profile "banned" (cue/bindings.cue:`, "fileWrite: false", "asks for true"}},
		{"another layer's value", map[string]any{"category": "TIGHT"}, false,
			namePointer, []string{`profile "tight"`, "timeoutSeconds: <=10", `profile "late" (cue/bindings.cue:`, "gives 20"}},
		{"several fields together", map[string]any{"toolId": "id-combined", "sandboxOverrides": map[string]any{"networkMode": "allowlist", "fileRead": true}}, false,
			"/sandboxOverrides/fileRead", []string{`profile "combined"`, "fileRead"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			req := request(doc(t, tt.fields))
			if tt.guest {
				req.Principal = guest
			}
			_, err := r.Resolve(context.Background(), req)
			f := wantFault(t, err, fault.ResolverReject, "constraint")
			if f.Pointer != tt.pointer {
				t.Errorf("pointer %q, want %q", f.Pointer, tt.pointer)
			}
			for _, part := range tt.parts {
				if !strings.Contains(f.Message, part) {
					t.Errorf("%q lacks %q", f.Message, part)
				}
			}
			if strings.Contains(f.Message, "conflicting values") || strings.Contains(f.Message, "\n") {
				t.Errorf("raw text of CUE: %q", f.Message)
			}
		})
	}
	if _, err := r.Resolve(context.Background(), request(doc(t, overrides(map[string]any{"fileWrite": true})))); err != nil {
		t.Errorf("others than guests may write: %v", err)
	}
	ok := map[string]any{"toolId": "id-combined", "sandboxOverrides": map[string]any{"fileRead": true}}
	if _, err := r.Resolve(context.Background(), request(doc(t, ok))); err != nil {
		t.Errorf("the condition does not hold: %v", err)
	}
}
