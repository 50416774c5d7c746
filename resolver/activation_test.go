package resolver

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/fault"
)

func readFile(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestFolderIsTheEmbeddedPolicy(t *testing.T) {
	if testing.Short() {
		t.Skip("long, and no goroutines of its own")
	}
	builtin, folder := newResolver(t, Options{}), newResolver(t, Options{Policy: fullPolicyFolder(t, nil)})
	if builtin.Revision() != folder.Revision() {
		t.Errorf("revisions differ: %s, %s", builtin.Revision(), folder.Revision())
	}
	if builtin.Policy() != Builtin || folder.Policy() == Builtin {
		t.Errorf("names: %q, %q", builtin.Policy(), folder.Policy())
	}
}

func TestActivationRefuses(t *testing.T) {
	if testing.Short() {
		t.Skip("long, and no goroutines of its own")
	}
	data := readFile(t, "../rego/data.json")
	access := readFile(t, "../rego/access/access.rego")
	for _, tt := range []struct {
		name, reason, message string
		changes               map[string]string
	}{
		{"syntax", "policy-compile", "rego_parse_error", map[string]string{"rego/x.rego": "package x\nimport rego.v2\nallow if {"}},
		{"without rego.v2", "policy-compile", "import rego.v2", map[string]string{"rego/x.rego": "package x\nallow := true"}},
		{"http.send", "policy-compile", "http.send", map[string]string{"rego/x.rego": "package x\nimport rego.v2\nr := http.send({\"url\": \"http://a\", \"method\": \"GET\"})"}},
		{"the clock", "policy-compile", "time.now_ns", map[string]string{"rego/x.rego": "package x\nimport rego.v2\nr := time.now_ns()"}},
		{"random", "policy-compile", "rand.intn", map[string]string{"rego/x.rego": "package x\nimport rego.v2\nr := rand.intn(\"a\", 5)"}},
		{"JWT", "policy-compile", "io.jwt.decode", map[string]string{"rego/x.rego": "package x\nimport rego.v2\nr := io.jwt.decode(\"a\")"}},
		{"no entry point", "policy-compile", "data.toolwarrant.decision", map[string]string{"rego/decision.rego": "package toolwarrant\nimport rego.v2\nother := 1"}},
		{"second data file", "policy-compile", "rego/other.json", map[string]string{"rego/other.json": "{}"}},
		{"data is a list", "policy-compile", "not a JSON object", map[string]string{"rego/data.json": "[]"}},
		{"data lacks a comma", "policy-compile", "rego/data.json:3:1: the file is no JSON: invalid character", map[string]string{"rego/data.json": "{\n\"a\": 1\n\"b\": 2}"}},
		{"data is not JSON", "policy-compile", "data.json", map[string]string{"rego/data.json": "{"}},
		{"data without settings", "policy-compile", "settings", map[string]string{"rego/data.json": "{}"}},
		{"a misspelled setting", "policy-cue", "flour", map[string]string{"rego/data.json": strings.Replace(data, `"floor"`, `"flour"`, 1)}},
		{"a bad level", "policy-cue", "", map[string]string{"rego/data.json": strings.Replace(data, `"floor": "L5"`, `"floor": "l5"`, 1)}},
		{"a bad access rule", "policy-cue", "", map[string]string{"rego/data.json": strings.Replace(data, `"rules": []`, `"rules": [{"id": "x", "effect": "deny", "tool": ["a"]}]`, 1)}},
		{"CUE syntax", "policy-cue", "cue/baseline.cue:", map[string]string{"cue/baseline.cue": "package toolwarrant\nbaseline: {"}},
		{"unknown key of a layer", "policy-cue", "removeDenyClasses", map[string]string{"cue/profiles/x.cue": "package toolwarrant\nprofiles: x: removeDenyClasses: [\"java.lang.System\"]"}},
		{"unknown constraint", "policy-cue", "timeout", map[string]string{"cue/profiles/x.cue": "package toolwarrant\nprofiles: x: constraints: timeout: 5"}},
		{"unknown mode", "policy-cue", "", map[string]string{"cue/profiles/x.cue": "package toolwarrant\nprofiles: x: network: mode: \"custom\""}},
		{"incomplete baseline", "policy-cue", "", map[string]string{"cue/baseline.cue": "package toolwarrant\nbaseline: network: mode: \"blocked\""}},
		{"layers in another file", "policy-cue", "cue/more.cue", map[string]string{"cue/more.cue": "package toolwarrant\nprofiles: x: fileRead: true"}},
		{"a form that there is not", "policy-cue", "maskParams", map[string]string{"rego/data.json": strings.Replace(data, `"maskParams": []`, `"maskParams": {"pin": "hide"}`, 1)}},
		{"a field that may not go", "policy-cue", "dropFields", map[string]string{"rego/data.json": strings.Replace(data, `"dropFields": []`, `"dropFields": ["/callId"]`, 1)}},
		{"a rule that drops what may not go", "policy-compile", `log.drop names "/outcome" at rego/x.rego:3`, map[string]string{
			"rego/x.rego": "package toolwarrant.log\nimport rego.v2\ndrop contains \"/outcome\" if input.tool.name == \"x\""}},
		{"a failing test", "policy-tests-failed", "test_no", map[string]string{"policy_test/x_test.rego": "package x_test\nimport rego.v2\ntest_no if false"}},
		{"visible reads the time", "policy-compile", "input.now", map[string]string{
			"rego/access/access.rego": strings.Replace(access, "visible := count(hidden) == 0", "visible if {\n\tcount(hidden) == 0\n\t_late\n}\n\n_late if input.now > \"2026\"", 1)}},
		{"visible reads all input", "policy-compile", "reads input", map[string]string{
			"rego/access/access.rego": strings.Replace(access, "visible := count(hidden) == 0", "visible if {\n\tcount(hidden) == 0\n\tx := input\n\tx.now > \"2026\"\n}", 1)}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := New(context.Background(), Options{Policy: policyFolder(t, tt.changes)})
			f := wantFault(t, err, fault.PolicyUnavailable, tt.reason)
			if !strings.Contains(f.Message, tt.message) {
				t.Errorf("%q lacks %q", f.Message, tt.message)
			}
		})
	}
	for _, dir := range []string{"rego", "cue", "policy_test"} {
		policy := policyFolder(t, nil)
		if err := os.RemoveAll(filepath.Join(policy, dir)); err != nil {
			t.Fatal(err)
		}
		_, err := New(context.Background(), Options{Policy: policy})
		wantFault(t, err, fault.PolicyUnavailable, "policy-missing")
	}
	_, err := New(context.Background(), Options{Policy: filepath.Join(t.TempDir(), "nowhere")})
	wantFault(t, err, fault.PolicyUnavailable, "policy-missing")
}

// The policy's own tests hold its defaults.
func TestActivationRefusesAWeakerDefault(t *testing.T) {
	if testing.Short() {
		t.Skip("long, and no goroutines of its own")
	}
	data := readFile(t, "../rego/data.json")
	_, err := New(context.Background(), Options{Policy: fullPolicyFolder(t, map[string]string{
		"rego/data.json": strings.Replace(data, `"defaultFrom": "L1"`, `"defaultFrom": "L5"`, 1)})})
	f := wantFault(t, err, fault.PolicyUnavailable, "policy-tests-failed")
	if !strings.Contains(f.Message, "hitl") {
		t.Errorf("%q does not name the test", f.Message)
	}
}

func TestActivationWithoutTests(t *testing.T) {
	_, err := New(context.Background(), Options{Policy: policyFolder(t, map[string]string{"policy_test/one_test.rego": "package one_test\n\nimport rego.v2\n"})})
	wantFault(t, err, fault.PolicyUnavailable, "policy-tests-failed")
}

func TestOperatorIsChecked(t *testing.T) {
	for reason, o := range map[string]Operator{
		"path-not-absolute":    {BasePath: "relative"},
		"private-host-invalid": {PrivateHosts: []string{"nohost"}},
	} {
		_, err := New(context.Background(), Options{Operator: o})
		wantFault(t, err, fault.Usage, reason)
	}
}

func TestReload(t *testing.T) {
	policy := policyFolder(t, nil)
	r := newResolver(t, Options{Policy: policy})
	first := r.Revision()
	reload := func(want bool, reason string) {
		t.Helper()
		changed, err := r.Reload(context.Background())
		if reason != "" {
			wantFault(t, err, fault.PolicyUnavailable, reason)
		} else if err != nil {
			t.Fatal(err)
		}
		if changed != want {
			t.Errorf("changed = %v, want %v", changed, want)
		}
	}
	reload(false, "")
	now := time.Now()
	if err := os.Chtimes(filepath.Join(policy, "rego", "data.json"), now, now); err != nil {
		t.Fatal(err)
	}
	reload(false, "")

	change(t, policy, map[string]string{"rego/x.rego": "package x\n"})
	reload(false, "policy-compile")
	change(t, policy, map[string]string{"rego/x.rego": "package x\n\nimport rego.v2\n", "policy_test/bad_test.rego": "package bad_test\nimport rego.v2\ntest_bad if false\n"})
	reload(false, "policy-tests-failed")
	if r.Revision() != first {
		t.Error("a bad policy came into force")
	}
	if _, err := r.Resolve(context.Background(), request(doc(t, nil))); err != nil {
		t.Errorf("the last good policy does not decide: %v", err)
	}
	if err := os.Remove(filepath.Join(policy, "policy_test", "bad_test.rego")); err != nil {
		t.Fatal(err)
	}
	reload(true, "")
	if r.Revision() == first {
		t.Error("the new policy is not in force")
	}
}

// A policy may narrow by what only a call has; one that widens is refused.
func TestNarrowingOnly(t *testing.T) {
	effective := readFile(t, "../rego/effective/policy.rego")
	edit := func(rule string) string {
		return policyFolder(t, map[string]string{
			"rego/effective/policy.rego": strings.Replace(effective, "policy := folded\n", rule+"\n", 1),
		})
	}
	reader := overrides(map[string]any{"fileRead": true})

	narrow := newResolver(t, Options{Policy: edit(`policy := object.union(folded, {"fs": {"read": false}}) if {
	input.call.origin == "cli-run"
} else := folded`)})
	for origin, want := range map[decision.Origin]bool{decision.OriginCLIRun: false, decision.OriginMCPHTTP: true} {
		req := request(doc(t, reader))
		req.Origin = origin
		d, err := narrow.Resolve(context.Background(), req)
		if err != nil {
			t.Fatal(err)
		}
		if d.EffectivePolicy.FS.Read != want || d.ToolSafety.Capabilities.FileRead != want {
			t.Errorf("%s: reading = %v, want %v", origin, d.EffectivePolicy.FS.Read, want)
		}
	}

	wide := newResolver(t, Options{Policy: edit(`policy := object.union(folded, {"fs": {"write": true}})`)})
	_, err := wide.Resolve(context.Background(), request(doc(t, reader)))
	f := wantFault(t, err, fault.PolicyUnavailable, "widened")
	if !strings.Contains(f.Message, "fs.write") {
		t.Errorf("%q does not name the dimension", f.Message)
	}

	partial := newResolver(t, Options{Policy: edit("policy := folded if input.call.origin == \"mcp-http\"")})
	req := request(doc(t, reader))
	req.Origin = decision.OriginCLIRun
	_, err = partial.Resolve(context.Background(), req)
	wantFault(t, err, fault.PolicyUnavailable, "undefined")

	shapeless := newResolver(t, Options{Policy: edit(`policy := folded if input.call.origin == "mcp-http" else := {"fs": 1}`)})
	_, err = shapeless.Resolve(context.Background(), req)
	wantFault(t, err, fault.PolicyUnavailable, "eval-error")
}

func TestTimeout(t *testing.T) {
	access := readFile(t, "../rego/access/access.rego")
	dir := policyFolder(t, map[string]string{"rego/access/access.rego": strings.Replace(access, "callable := count(reasons) == 0",
		"callable := count(reasons) == 0 if not _slow\n\n_slow if {\n\tinput.call.args.slow\n\tsome a in numbers.range(1, 100000)\n\tsome b in numbers.range(1, 100000)\n\ta + b < 0\n}", 1)})
	r := newResolver(t, Options{Policy: dir})
	req := request(doc(t, nil))
	req.Args = []byte(`{"slow":true}`)
	_, err := r.Resolve(context.Background(), req)
	wantFault(t, err, fault.PolicyUnavailable, "eval-timeout")
}

func TestTestPolicy(t *testing.T) {
	if testing.Short() {
		t.Skip("long, and no goroutines of its own")
	}
	report, err := TestPolicy(context.Background(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !report.OK() || report.Passed < 100 || report.Revision != newResolver(t, Options{}).Revision() {
		t.Errorf("report: %d passed, %d failed, %s", report.Passed, report.Failed, report.Revision)
	}
	report, err = TestPolicy(context.Background(), Options{Policy: policyFolder(t, map[string]string{
		"policy_test/x_test.rego": "package x_test\nimport rego.v2\ntest_table[name] if {\n\tsome name, ok in {\n\t\t\"good\": true,\n\t\t\"bad\": false,\n\t}\n\tok\n}\n"})})
	if err != nil {
		t.Fatal(err)
	}
	if report.OK() || report.Failed != 1 {
		t.Errorf("report: %d failed", report.Failed)
	}
	for _, res := range report.Tests {
		if !res.Passed && (res.Name != "x_test.test_table[bad]" || res.File != "policy_test/x_test.rego" || res.Line != 6 || res.Message == "") {
			t.Errorf("failure %+v", res)
		}
	}
}

func TestWriteBuiltinRefuses(t *testing.T) {
	dir := t.TempDir()
	change(t, dir, map[string]string{"x": "y"})
	wantFault(t, WriteBuiltin(dir), fault.Usage, "folder-not-empty")
	if err := WriteBuiltin(t.TempDir()); err != nil {
		t.Errorf("an empty folder: %v", err)
	}
}

// TestUntested: a policy that is only looked at need not pass its tests, and
// has to compile all the same.
func TestUntested(t *testing.T) {
	failing := policyFolder(t, map[string]string{"policy_test/one_test.rego": "package one_test\n\nimport rego.v2\n\ntest_one if false\n"})
	if _, err := New(context.Background(), Options{Policy: failing}); err == nil {
		t.Error("a policy that fails its tests is put into force")
	}
	if _, err := New(context.Background(), Options{Policy: failing, Untested: true}); err != nil {
		t.Error(err)
	}
	broken := policyFolder(t, map[string]string{"rego/broken.rego": "package broken\n\nx :="})
	_, err := New(context.Background(), Options{Policy: broken, Untested: true})
	wantFault(t, err, fault.PolicyUnavailable, "policy-compile")
}
