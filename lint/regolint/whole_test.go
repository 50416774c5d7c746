package regolint

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/lint"
	"github.com/toolwarrant/toolwarrant/resolver"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestBuiltin: the policy that people copy is an example of every rule kept.
func TestBuiltin(t *testing.T) {
	for _, f := range run(t, resolver.Builtin).Findings {
		t.Errorf("%s:%d: %s %s", f.File, f.Line, f.RuleID, f.Message)
	}
	r := run(t, write(t, nil))
	if len(r.Findings) > 0 || r.Summary.Files < 40 {
		t.Errorf("a copy of it has %v", r)
	}
}

// change is an edit of a file of the built-in policy; an empty old text stands
// for the whole of it.
type change struct{ file, old, new string }

// whole are policies with one change each, and what comes of it as
// "id file:line", the warnings about tests and METADATA of new rules aside.
var whole = []struct {
	note    string
	changes []change
	want    []string
}{
	{"a syntax error", []change{{"rego/own.rego", "", "package toolwarrant.own\n\nimport rego.v2\n\nx := \n"}}, []string{"TW201 rego/own.rego:6"}},
	{"no Rego at all", []change{{"rego/own.rego", "", "hello\n"}}, []string{"TW201 rego/own.rego:1"}},
	{"an unknown function", []change{{"rego/own.rego", "", "package toolwarrant.own\n\nimport rego.v2\n\nx if start_with(input.tool.name, \"a\")\n"}}, []string{"TW201 rego/own.rego:5"}},
	{"an unused import", []change{{"rego/own.rego", "", "package toolwarrant.own\n\nimport rego.v2\n\nimport data.toolwarrant.risk\n\nx if input.tool.name == \"a\"\n"}}, []string{"TW201 rego/own.rego:5"}},
	{"the list reads the arguments", []change{{"rego/access/own.rego", "", "package toolwarrant.access\n\nimport rego.v2\n\nhidden contains {\"id\": \"x\", \"message\": \"\", \"path\": \"\"} if input.call.args.x\n"}}, []string{"TW201 rego/access/own.rego:5"}},
	{"a layer of another type", []change{{"cue/profiles/own.cue", "", "package toolwarrant\n\nprofiles: own: timeoutSeconds: \"ten\"\n"}}, []string{"TW201 cue/profiles/own.cue:3"}},
	{"settings that are no JSON", []change{{"rego/data.json", `"threshold": "L3",`, `"threshold": "L3"`}}, []string{"TW201 rego/data.json:71"}},
	{"a setting that does not fit", []change{{"rego/data.json", `"threshold": "L3"`, `"threshold": "L9"`}}, []string{"TW201 rego/data.json:70"}},
	{"a setting of another value", []change{{"rego/data.json", `"threshold": "L3"`, `"threshold": "L2"`}}, nil},
	{"hosts below a public suffix", []change{{"cue/profiles/own.cue", "", "package toolwarrant\n\nprofiles: own: network: {\n\tmode: \"allowlist\"\n\thosts: [\"*.com\"]\n}\nprofiles: pages: network: hosts: [\"*.github.io\", \"*.co.uk\"]\n"}}, []string{"TW212 cue/profiles/own.cue:5", "TW212 cue/profiles/own.cue:7", "TW212 cue/profiles/own.cue:7"}},
	{"hosts of one's own", []change{{"cue/profiles/own.cue", "", "package toolwarrant\n\nprofiles: own: network: hosts: [\"*.corp\", \"*.internal\", \"*.example.com\", \"api.github.io\"]\n"}}, nil},
	{"a profile", []change{{"cue/profiles/own.cue", "", "package toolwarrant\n\nprofiles: own: {\n\textends: \"standard\"\n\tnetwork: hosts: [\"*.example.com\"]\n}\n"}}, nil},

	{"a field of a reason", []change{{"rego/access/access.rego", `"message": sprintf("the tool is`, `"mesage": sprintf("the tool is`}}, []string{"TW215 rego/access/access.rego:80"}},
	{"a reason that is a text", []change{{"rego/access/access.rego", "# METADATA\n# title: A rule holds for the origin", "# METADATA\n# title: No\n# labels:\n#   id: no\nreasons contains \"no\"\n\n# METADATA\n# title: A rule holds for the origin"}}, []string{"TW215 rego/decision.rego:25"}},
	{"a part of the decision", []change{{"rego/decision.rego", `"riskLevel": risk.level,`, `"riskLevl": risk.level,`}}, []string{"TW215 rego/decision.rego:30"}},
	{"a part that is missing", []change{{"rego/decision.rego", `	"mask": log.mask,` + "\n" + `	"record": log.record,` + "\n", ""}, {"rego/decision.rego", "import data.toolwarrant.log\n", ""}}, []string{"TW215 rego/decision.rego:24"}},
	{"a part of another type", []change{{"rego/decision.rego", `"allow": access.callable,`, `"allow": access.reasons,`}}, []string{"TW215 rego/decision.rego:25"}},
	{"a field of a finding", []change{{"rego/lint/texts.rego", "\t\"severity\": \"error\",\n\t\"message\": \"the text has characters", "\t\"severty\": \"error\",\n\t\"message\": \"the text has characters"}}, []string{"TW215 rego/lint/texts.rego:59"}},
	{"another message", []change{{"rego/access/access.rego", `sprintf("the tool is %s, and`, `sprintf("it is %s, and`}}, nil},
	{"fields of a finding that may be absent", []change{{"rego/lint/own.rego", "", "package toolwarrant.lint\n\nimport rego.v2\n\nfindings contains {\"id\": \"x\", \"severity\": \"info\", \"message\": \"\", \"pointer\": \"\", \"value\": \"a\", \"line\": 1} if input.document.description == \"a\"\n"}}, nil},

	{"a category that is none", []change{{"rego/data.json", `"rules": []`, `"rules": [{"id": "x", "effect": "deny", "categories": ["WEB", "web"]}]`}, {"rego/data.json", `"requiredCategories": []`, `"requiredCategories": ["MAHT"]`}}, []string{"TW217 rego/data.json:73", "TW217 rego/data.json:82"}},
	{"a category of a binding that is none", []change{{"cue/bindings.cue", "bindings: []", "bindings: [\n\t{profile: \"offline\", group: \"staff\"},\n\t{profile: \"offline\", category: \"web\"},\n]"}}, []string{"TW217 cue/bindings.cue:12"}},
	{"categories", []change{{"rego/data.json", `"rules": []`, `"rules": [{"id": "x", "effect": "deny", "categories": ["WEB"]}]`}, {"cue/bindings.cue", "bindings: []", "bindings: [{profile: \"offline\", category: \"MATH\"}]"}}, nil},
	{"a wildcard in an access rule", []change{{"rego/data.json", `"rules": []`, `"rules": [{"id": "x", "effect": "deny", "groups": ["*"]}]`}}, []string{"TW213 rego/data.json:82"}},
	{"a wildcard among trusted authors", []change{{"rego/data.json", `"groups": ["trusted-authors"]`, `"groups": ["**"]`}}, []string{"TW213 rego/data.json:138"}},
	{"an origin that is none", []change{{"rego/data.json", `"rules": []`, `"rules": [{"id": "x", "effect": "deny", "origins": ["mcp-htp"]}]`}}, []string{"TW201 rego/data.json:82", "TW206 rego/data.json:82"}},
	{"an access rule", []change{{"rego/data.json", `"rules": []`, `"rules": [{"id": "x", "effect": "deny", "groups": ["staff"], "origins": ["mcp-http"]}]`}}, nil},
	{"no floor", []change{{"rego/data.json", `"floor": "L5"`, `"floor": "none"`}}, []string{"TW212 rego/data.json:71"}},
	{"anybody publishes", []change{{"rego/data.json", `"trustedFrom": "L5"`, `"trustedFrom": "none"`}}, []string{"TW212 rego/data.json:137"}},
	{"an own setting", []change{{"rego/data.json", `"log": {`, `"own": {"autoApprove": ["*"], "hosts": ["a.example"]}, "log": {`}}, []string{"TW212 rego/data.json:140"}},
	{"an own setting about something else", []change{{"rego/data.json", `"log": {`, `"own": {"operators": ["*"]}, "log": {`}}, nil},

	{"open to all", []change{{"cue/baseline.cue", `mode: "blocked"`, `mode: "open"`}}, []string{"TW212 cue/baseline.cue:32"}},
	{"strict for all", []change{{"cue/baseline.cue", `mode: "blocked"`, `mode: "strict"`}}, []string{"TW212 cue/baseline.cue:32"}},
	{"files of all", []change{{"cue/baseline.cue", "fileWrite: false", "fileWrite: true"}}, []string{"TW212 cue/baseline.cue:39"}},
	{"hosts of a profile", []change{{"cue/profiles/own.cue", "", "package toolwarrant\n\nprofiles: own: {\n\tnetwork: {\n\t\tmode: \"allowlist\"\n\t\thosts: [\"*\"]\n\t}\n}\n"}}, []string{"TW212 cue/profiles/own.cue:6"}},
	{"an open profile", []change{{"cue/profiles/own.cue", "", "package toolwarrant\n\nprofiles: own: network: mode: \"open\"\n"}}, []string{"TW212 cue/profiles/own.cue:3"}},
	{"classes of a vendor", []change{{"cue/profiles/own.cue", "", "package toolwarrant\n\nprofiles: own: allowClasses: [\"org.*\", \"com.example.*\"]\n"}}, []string{"TW212 cue/profiles/own.cue:3"}},
	{"no denies", []change{{"cue/baseline.cue", "denyClasses: [", "denyClasses: [] & ["}}, []string{"TW201 cue/baseline.cue:16"}},
	{"a value that its layer forbids", []change{{"cue/profiles/own.cue", "", "package toolwarrant\n\nprofiles: own: {\n\tfileRead: true\n\tconstraints: fileRead: false\n}\n"}}, []string{"TW218 cue/profiles/own.cue:4"}},
	{"a bound by another field", []change{{"cue/profiles/own.cue", "", "package toolwarrant\n\nprofiles: own: {\n\tmaxStatements: 100000\n\tconstraints: {\n\t\ttimeoutSeconds: <=30\n\t\tmaxStatements: >=(1000 * timeoutSeconds)\n\t}\n}\n"}}, nil},
	{"a bound under a condition", []change{{"cue/profiles/own.cue", "", "package toolwarrant\n\nprofiles: own: {\n\tnetwork: mode: \"allowlist\"\n\tconstraints: {\n\t\tfileRead: bool\n\t\tif fileRead {\n\t\t\tnetwork: mode: \"blocked\"\n\t\t}\n\t}\n}\n"}}, nil},
	{"a value that the child forbids", []change{{"cue/profiles/own.cue", "", "package toolwarrant\n\nprofiles: own: network: mode: \"allowlist\"\nprofiles: kid: {\n\textends: \"own\"\n\tconstraints: network: mode: \"blocked\"\n}\n"}}, []string{"TW218 cue/profiles/own.cue:4"}},
	{"a value that the child corrects", []change{{"cue/profiles/own.cue", "", "package toolwarrant\n\nprofiles: own: fileRead: true\nprofiles: kid: {\n\textends: \"own\"\n\tfileRead: false\n\tconstraints: fileRead: false\n}\n"}}, nil},
	{"entries of a list", []change{{"cue/profiles/own.cue", "", "package toolwarrant\n\nprofiles: own: {\n\tnetwork: {\n\t\tmode: \"allowlist\"\n\t\thosts: [\"a.example\", \"b.example\"]\n\t}\n\tconstraints: network: hosts: [...\"a.example\"]\n}\n"}}, []string{"TW218 cue/profiles/own.cue:6"}},
	{"a list that is short for now", []change{{"cue/profiles/own.cue", "", "package toolwarrant\n\nimport \"list\"\n\nprofiles: own: {\n\tnetwork: hosts: [\"a.example\"]\n\tconstraints: network: hosts: list.MinItems(2)\n}\n"}}, nil},
	{"what a tool has to ask for", []change{{"cue/profiles/own.cue", "", "package toolwarrant\n\nprofiles: own: constraints: network: mode: \"allowlist\"\n"}}, nil},
	{"a number", []change{{"cue/profiles/own.cue", "", "package toolwarrant\n\nprofiles: own: {\n\ttimeoutSeconds: 20\n\tconstraints: timeoutSeconds: <=10\n}\n"}}, []string{"TW218 cue/profiles/own.cue:4"}},
	{"ports", []change{{"cue/profiles/own.cue", "", "package toolwarrant\n\nprofiles: own: {\n\tnetwork: ports: [443, 8443]\n\tconstraints: network: ports: [443]\n}\n"}}, []string{"TW218 cue/profiles/own.cue:4"}},
	{"the baseline forbids what it gives", []change{{"cue/baseline.cue", "fileWrite: false", "fileWrite: false\n\tconstraints: fileWrite: true"}}, []string{"TW218 cue/baseline.cue:39"}},

	{"a tool as a whole in a level", []change{{"rego/risk/own.rego", "", "package toolwarrant.risk\n\nimport rego.v2\n\nsignals contains {\"id\": \"own\", \"level\": \"L3\", \"message\": \"paid\"} if {\n\tt := input.tool\n\t\"paid\" in t.tags\n}\n"}}, []string{"TW219 rego/risk/own.rego:5"}},
	{"the parameters of a tool in a level", []change{{"rego/risk/own.rego", "", "package toolwarrant.risk\n\nimport rego.v2\n\nsignals contains {\"id\": \"own\", \"level\": \"L3\", \"message\": \"paid\"} if count(input.tool.params) > 9\n"}}, []string{"TW219 rego/risk/own.rego:5"}},
	{"a tool as a whole, accepted", []change{{"rego/risk/own.rego", "", "package toolwarrant.risk\n\nimport rego.v2\n\n# METADATA\n# title: Many parameters\n# labels:\n#   id: own\n# custom:\n#   accept:\n#     TW219: there are ten tools\nsignals contains {\"id\": \"own\", \"level\": \"L3\", \"message\": \"many\"} if count(input.tool.params) > 9\n"}}, nil},
	{"a part that tools share", []change{{"rego/risk/own.rego", "", "package toolwarrant.risk\n\nimport rego.v2\n\nsignals contains {\"id\": \"own\", \"level\": \"L3\", \"message\": \"paid\"} if \"paid\" in input.tool.tags\n"}}, nil},
	{"a tool as a whole where no list looks", []change{{"rego/hitl/own.rego", "", "package toolwarrant.hitl\n\nimport rego.v2\n\nown if object.get(input.tool, \"name\", \"\") == \"a\"\n"}}, nil},
	{"a constraint opens nothing", []change{{"cue/profiles/own.cue", "", "package toolwarrant\n\nprofiles: own: constraints: network: mode: \"blocked\" | \"open\"\n"}}, nil},
}

func TestWhole(t *testing.T) {
	for i, tc := range whole {
		t.Run(tc.note, func(t *testing.T) {
			t.Parallel()
			if testing.Short() && i%8 > 0 {
				t.Skip("one of eight is enough to see races")
			}
			dir := write(t, nil)
			for _, c := range tc.changes {
				apply(t, dir, c)
			}
			var got []string
			for _, f := range run(t, dir).Findings {
				rel, err := filepath.Rel(dir, f.File)
				if err != nil {
					t.Fatal(err)
				}
				if slices.Contains([]string{"TW208", "TW209", "TW210"}, f.RuleID) || strings.HasPrefix(filepath.ToSlash(rel), "policy_test/") {
					continue
				}
				got = append(got, f.RuleID+" "+filepath.ToSlash(rel)+":"+strconv.Itoa(f.Line))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s\n%v", diff, run(t, dir).Findings)
			}
		})
	}
}

func apply(t *testing.T, dir string, c change) {
	t.Helper()
	file := filepath.Join(dir, filepath.FromSlash(c.file))
	text := []byte(c.new)
	if c.old != "" {
		before, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if text = bytes.Replace(before, []byte(c.old), []byte(c.new), 1); bytes.Equal(before, text) {
			t.Fatalf("%s does not say %q", c.file, c.old)
		}
	}
	if err := os.WriteFile(file, text, 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestAccept: METADATA accepts a finding of its rule, with a reason, and none
// that keeps the policy from coming into force.
func TestAccept(t *testing.T) {
	const own = `package toolwarrant.own

import rego.v2

# METADATA
# title: Hosts of a rule
# labels:
#   id: own-hosts
# custom:
#   accept:
#     TW212: every host of the intranet, agreed with the network team
#     TW210: REASON
#     TW207: it has to be the clock
hosts := {"*"} if time.now_ns() > 3
`
	for reason, want := range map[string][]string{
		"seen in the tests of the network": {"TW207", "TW216"},
		`""`:                               {"TW207", "TW210", "TW216", "TW216"},
	} {
		r := run(t, write(t, map[string]string{"rego/own.rego": strings.Replace(own, "REASON", reason, 1)}))
		var got []string
		for _, f := range r.Findings {
			got = append(got, f.RuleID)
		}
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", reason, diff)
		}
	}
}

// TestUnreadable: what is no policy is a fault of the system, as everywhere.
func TestUnreadable(t *testing.T) {
	for _, policy := range []string{t.TempDir(), filepath.Join(t.TempDir(), "nowhere")} {
		_, err := Run(context.Background(), Options{Policy: resolver.Options{Policy: policy}})
		if !errors.Is(err, &fault.Error{Code: fault.PolicyUnavailable, Reason: "policy-missing"}) {
			t.Errorf("%s: %v", policy, err)
		}
	}
}

// TestGolden compares what each format makes of one bad policy.
func TestGolden(t *testing.T) {
	own, err := os.ReadFile("testdata/own.rego")
	if err != nil {
		t.Fatal(err)
	}
	dir := write(t, map[string]string{"rego/access/own.rego": string(own), "cue/profiles/own.cue": "package toolwarrant\n\nprofiles: own: fileWrite: true\n"})
	t.Chdir(filepath.Dir(dir))
	r, err := Run(context.Background(), Options{Policy: resolver.Options{Policy: "p", Operator: resolver.Operator{BasePath: t.TempDir()}}, Version: "1.2.3"})
	if err != nil {
		t.Fatal(err)
	}
	for name, print := range map[string]func(io.Writer, lint.Report) error{
		"text": lint.Text, "json": lint.JSON, "sarif": lint.SARIF, "junit": lint.JUnit, "github": lint.GitHub,
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := print(&b, r); err != nil {
				t.Fatal(err)
			}
			golden(t, name, b.Bytes())
			if name == "sarif" {
				bySchema(t, &b)
			}
		})
	}
}

// here is the folder of the package, wherever a test has gone.
var here, _ = os.Getwd()

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join(here, "testdata", "golden", name+".golden")
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.ReplaceAll(string(want), "\r\n", "\n"), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

func bySchema(t *testing.T, r io.Reader) {
	t.Helper()
	c := jsonschema.NewCompiler()
	schema, err := c.Compile(filepath.Join(here, "..", "testdata", "sarif-schema-2.1.0.json"))
	if err != nil {
		t.Fatal(err)
	}
	v, err := jsonschema.UnmarshalJSON(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(v); err != nil {
		t.Error(err)
	}
}
