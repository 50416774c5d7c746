package resolver

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/cuecontext"
	"github.com/google/go-cmp/cmp"

	policycue "github.com/toolwarrant/toolwarrant/cue"
	"github.com/toolwarrant/toolwarrant/fault"
)

// refusal is a change of the policy, and what its activation says.
type refusal struct {
	name, file, text string
	parts            []string
}

func refuses(t *testing.T, reason string, table []refusal) {
	t.Helper()
	for _, tt := range table {
		t.Run(tt.name, func(t *testing.T) {
			s, err := readSource(context.Background(), Options{Policy: policyFolder(t, map[string]string{tt.file: tt.text})})
			if err == nil {
				_, err = loadLayers(s)
			}
			f := wantFault(t, err, fault.PolicyUnavailable, reason)
			for _, part := range tt.parts {
				if !strings.Contains(f.Error(), part) {
					t.Errorf("%q lacks %q", f.Error(), part)
				}
			}
			for _, raw := range []string{"empty disjunction", "#Settings", "\n"} {
				if strings.Contains(f.Error(), raw) {
					t.Errorf("raw text of CUE: %q", f.Error())
				}
			}
		})
	}
}

func TestUnknownFieldsOfLayers(t *testing.T) {
	layer := func(text string) string { return "package toolwarrant\n\n" + text + "\n" }
	refuses(t, "policy-cue", []refusal{
		{"a misspelled field", "cue/bindings.cue", layer(`binding: [{profile: "regulated"}]`), []string{"cue/bindings.cue:3: ", `"binding"`, "baseline, profiles and bindings", "_shared"}},
		{"an optional one", "cue/bindings.cue", layer(`binding?: [...{profile: "regulated"}]`), []string{`"binding"`}},
		{"in quotes", "cue/profiles/x.cue", layer(`"Profiles": x: fileRead: true`), []string{"cue/profiles/x.cue:3: ", `"Profiles"`}},
		{"under a condition", "cue/profiles/x.cue", layer("if true {\n\tprofile: x: fileRead: true\n}"), []string{"cue/profiles/x.cue:4: ", `"profile"`}},
		{"embedded", "cue/profiles/x.cue", layer("{\n\tprofile: x: fileRead: true\n}"), []string{`"profile"`}},
		{"an alias of a name", "cue/profiles/x.cue", layer("let n = \"binding\"\n(n): []"), []string{`"binding"`}},
		{"a capital", "cue/profiles/x.cue", layer("profiles: A: fileRead: true"), []string{"cue/profiles/x.cue:3: ", `"A"`, "small letters"}},
		{"a name with a dot", "cue/profiles/x.cue", layer(`profiles: "a.b": fileRead: true`), []string{`"a.b"`}},
		{"a field of a binding", "cue/bindings.cue", layer(`bindings: [{profile: "standard", tags: "x"}]`), []string{"cue/bindings.cue:3: ", "tags"}},
		{"a slip of a profile", "cue/profiles/x.cue", layer(`profiles: x: extend: "standard"`), []string{"cue/profiles/x.cue:3: profiles.x.extend: field not allowed", `did you mean "extends"?`}},
		{"a slip below", "cue/profiles/x.cue", layer(`profiles: x: network: host: ["a.example"]`), []string{"network.host", `did you mean "hosts"?`}},
		{"a slip of a constraint", "cue/profiles/x.cue", layer(`profiles: x: constraints: timeoutSecond: <=3`), []string{`did you mean "timeoutSeconds"?`}},
		{"another package", "cue/profiles/x.cue", "package other\nprofiles: x: fileRead: true\n", []string{`"other"`}},
	})
	for _, text := range []string{
		"_shared: true\nprofiles: x: fileRead: _shared",
		"#Shared: bool\nlet no = false\nprofiles: x: fileRead: #Shared & no",
		"profiles: x: constraints: _low\n_low: {riskLevel: <=\"L3\"}",
	} {
		s, err := readSource(context.Background(), Options{Policy: policyFolder(t, map[string]string{"cue/profiles/x.cue": layer(text)})})
		if err == nil {
			_, err = loadLayers(s)
		}
		if err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestLayerFields: what is suggested for a misspelled field is what the shape has.
func TestLayerFields(t *testing.T) {
	shape, err := policycue.FS.ReadFile("policy.cue")
	if err != nil {
		t.Fatal(err)
	}
	root := cuecontext.New().CompileBytes(shape)
	var names []string
	for _, path := range [][]cue.Selector{
		{cue.Def("Profile")}, {cue.Def("Profile"), cue.Str("network").Optional()}, {cue.Def("Constraints")}, {cue.Def("Binding")},
	} {
		fields, err := root.LookupPath(cue.MakePath(path...)).Fields(cue.Optional(true))
		if err != nil {
			t.Fatal(path, err)
		}
		for fields.Next() {
			names = append(names, fields.Selector().Unquoted())
		}
	}
	slices.Sort(names)
	if diff := cmp.Diff(slices.Compact(names), layerFields); diff != "" {
		t.Error(diff)
	}
}

func TestUnreadFiles(t *testing.T) {
	const profile = "package toolwarrant\n\nprofiles: x: fileRead: true\n"
	refuses(t, "policy-cue", []refusal{
		{"a sub folder", "cue/profiles/sub/x.cue", "package toolwarrant\n\nbaseline: constraints: fileWrite: false\n", []string{"cue/profiles/sub/x.cue:3: ", "baseline", "cue/profiles/*.cue"}},
		{"another folder", "cue/own/x.cue", profile, []string{"cue/own/x.cue:3: "}},
		{"beside", "cue/extra.cue", profile, []string{"cue/extra.cue:3: ", "profiles", "move it"}},
		{"beside, misspelled", "cue/extra.cue", "package toolwarrant\n\nprofile: x: fileRead: true\n", []string{"cue/extra.cue:3: "}},
		{"beside, under a condition", "cue/extra.cue", "package toolwarrant\n\nif true {profiles: x: fileRead: true}\n", []string{"cue/extra.cue:3: "}},
		{"beside, cannot be parsed", "cue/extra.cue", "package toolwarrant\nprofiles: {", []string{"cue/extra.cue"}},
		{"capitals", "cue/profiles/x.CUE", profile, []string{"cue/profiles/x.CUE:3: "}},
		{"capitals above", "cue/BINDINGS.Cue", profile, []string{"cue/BINDINGS.Cue:3: "}},
		{"a capital folder", "cue/Profiles/x.cue", profile, []string{"cue/Profiles/x.cue:3: "}},
		{"JSON", "cue/profiles/x.json", "{}", []string{"cue/profiles/x.json", "as CUE"}},
		{"YAML", "cue/bindings.YML", "a: b", []string{"cue/bindings.YML"}},
		{"rules", "cue/x.rego", "package x\n", []string{"cue/x.rego", "read from rego"}},
	})
	refuses(t, "policy-compile", []refusal{
		{"a module in capitals", "rego/site/x.REGO", "package x\n", []string{"rego/site/x.REGO:1:1", "rename"}},
		{"a test in capitals", "policy_test/x_test.Rego", "package x_test\n", []string{"policy_test/x_test.Rego", "rename"}},
		{"settings in capitals", "rego/DATA.JSON", "{}", []string{"rego/DATA.JSON", "rego/data.json alone"}},
		{"settings below", "rego/site/data.json", "{}", []string{"rego/site/data.json"}},
		{"layers", "rego/x.cue", profile, []string{"rego/x.cue", "cue/profiles/*.cue"}},
	})
	for file, text := range map[string]string{
		"cue/decision.cue":      "package toolwarrant\n\nimport \"strings\"\n\n#X: strings.MinRunes(1)\n_y: 1\n",
		"cue/cue.mod/pkg/a.cue": "package a\n\nx: 1\n", "cue/README.md": "layers", "rego/notes.txt": "rules", "cue/.git/x.cue": profile,
	} {
		if _, err := readSource(context.Background(), Options{Policy: policyFolder(t, map[string]string{file: text})}); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}

func TestLinkedFolders(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege there")
	}
	for link, reason := range map[string]string{"cue/profiles/shared": "policy-cue", "rego/site": "policy-compile", "rego/..data": ""} {
		folder := policyFolder(t, nil)
		if err := os.Symlink(t.TempDir(), filepath.Join(folder, filepath.FromSlash(link))); err != nil {
			t.Fatal(err)
		}
		_, err := readSource(context.Background(), Options{Policy: folder})
		if reason == "" {
			if err != nil {
				t.Errorf("%s: %v", link, err)
			}
			continue
		}
		if f := wantFault(t, err, fault.PolicyUnavailable, reason); !strings.Contains(f.Message, link) || !strings.Contains(f.Message, "copy") {
			t.Errorf("%q", f.Message)
		}
	}
}

func TestNamesOfProfiles(t *testing.T) {
	const top = "package toolwarrant\n\n"
	nine := top
	for i := 1; i <= 9; i++ {
		nine += fmt.Sprintf("profiles: p%d: extends: \"p%d\"\n", i, i-1)
	}
	nine = strings.Replace(nine, "profiles: p1: extends: \"p0\"", "profiles: p1: {}", 1)
	refuses(t, "policy-cue", []refusal{
		{"a binding", "cue/bindings.cue", top + "bindings: [\n\t{profile: \"standard\", tag: \"a\"},\n\t{profile: \"regulatd\"},\n]\n", []string{"cue/bindings.cue:5: ", `"regulatd"`, "offline, regulated, standard"}},
		{"a binding of a comprehension", "cue/bindings.cue", top + "bindings: [for t in [\"a\", \"b\"] {profile: \"gone\", tag: t}]\n", []string{"cue/bindings.cue:3: ", `"gone"`}},
		{"a parent", "cue/profiles/x.cue", top + "profiles: child: extends: \"orphan\"\nprofiles: orphan: {\n\textends: \"nobody\"\n}\n", []string{"cue/profiles/x.cue:5: ", `"orphan" extends "nobody"`}},
		{"a cycle", "cue/profiles/x.cue", top + "profiles: ping: extends: \"pong\"\nprofiles: pong: extends: \"ping\"\n", []string{"cue/profiles/x.cue:3: ", "ping -> pong", "remove one"}},
		{"itself", "cue/profiles/x.cue", top + "profiles: x: extends: \"x\"\n", []string{"cue/profiles/x.cue:3: ", `"x"`}},
		{"nine", "cue/profiles/x.cue", nine, []string{"cue/profiles/x.cue:11: ", "p9 -> p8", "more than 8"}},
	})
}

func TestClosedConstraints(t *testing.T) {
	refuses(t, "policy-cue", []refusal{
		{"a definition", "cue/profiles/x.cue", "package toolwarrant\n\nprofiles: x: constraints: #low\n#low: riskLevel: <=\"L3\"\n", []string{"cue/profiles/x.cue:", `profile "x"`, "_low", "#low"}},
		{"close", "cue/profiles/x.cue", "package toolwarrant\n\nprofiles: x: constraints: close({fileWrite: false})\n", []string{"_low"}},
		{"a part", "cue/profiles/x.cue", "package toolwarrant\n\nprofiles: x: constraints: network: #net\n#net: mode: \"blocked\"\n", []string{"_low"}},
		{"the baseline", "cue/bindings.cue", "package toolwarrant\n\nbaseline: constraints: #low\n#low: fileWrite: false\n", []string{"the baseline", "_low"}},
	})
}
