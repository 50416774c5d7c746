package lint

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/spec"
)

// tree writes files below a new folder and gives its path.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func document(members string) string {
	return `{"name":"t","code":"return 1","codeType":"Javascript"` + members + `}`
}

func TestDocumentRules(t *testing.T) {
	tests := map[string]struct {
		members string
		want    []string
	}{
		"clean":                {``, nil},
		"known modes":          {`,"humanInTheLoop":{"mode":"AUTO_APPROVE"}`, nil},
		"prompt hides":         {`,"humanInTheLoop":{"promptTemplate":"Refresh?"}`, []string{"warning TW114 /humanInTheLoop/promptTemplate"}},
		"dotted prompt":        {`,"humanInTheLoop":{"promptTemplate":"Write {args.path}?"}`, []string{"warning TW113 /humanInTheLoop/promptTemplate", "warning TW114 /humanInTheLoop/promptTemplate"}},
		"helper of the future": {`,"toolSafety":{"runtime":{"helpers":["safety.fs/v2"]}}`, []string{"error TW102 /toolSafety/runtime/helpers/0"}},
		"runtime too old":      {`,"toolSafety":{"runtime":{"id":"toolwarrant/goja","minVersion":"7.0.0"}}`, []string{"error TW102 /toolSafety/runtime/minVersion"}},
		"param with dash":      {`,"params":[{"name":"x-y","required":false,"type":"STRING"}]`, []string{"warning TW103 /params/0/name"}},
		"param is a keyword":   {`,"params":[{"name":"class","required":false,"type":"STRING"}]`, []string{"warning TW103 /params/0/name"}},
		"optional test value":  {`,"params":[{"name":"n","required":false,"type":"INTEGER","testValue":"x"}]`, []string{"warning TW112 /params/0/testValue"}},
		"hosts of every form":  {`,"sandboxOverrides":{"networkMode":"allowlist","hostsAllow":["*","*.a.example","a.example:8443","10.0.0.1","[::1]:80","bücher.example"]}`, nil},
		"no hosts": {
			`,"sandboxOverrides":{"networkMode":"allowlist","hostsAllow":["https://a.example","a.example/x","a.*.b","","a:0"]}`,
			[]string{"error TW111 /sandboxOverrides/hostsAllow/0", "error TW111 /sandboxOverrides/hostsAllow/1", "error TW111 /sandboxOverrides/hostsAllow/2",
				"error TW111 /sandboxOverrides/hostsAllow/3", "error TW111 /sandboxOverrides/hostsAllow/4"},
		},
		"hosts in white space": {
			`,"sandboxOverrides":{"networkMode":"allowlist","hostsAllow":[" *","a.example\\t"," "]}`,
			[]string{"error TW111 /sandboxOverrides/hostsAllow/0", "error TW111 /sandboxOverrides/hostsAllow/1", "error TW111 /sandboxOverrides/hostsAllow/2"},
		},
		"three tags":        {`,"tags":["a","b","c"]`, []string{"error TW108 /tags/2"}},
		"misspelled member": {`,"sandboxOverride":{},"x-sandboxOverrides":1`, []string{"warning TW109 /sandboxOverride"}},
		"replaced static":   {`,"staticVariables":[{"a":"1"},{"a":"2"}]`, []string{"warning TW110 /staticVariables/0"}},
		"bad code":          {`,"x":1`, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r, err := Run(context.Background(), []string{tree(t, map[string]string{"t.json": document(tt.members)})}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range r.Findings {
				got = append(got, string(f.Severity)+" "+f.RuleID+" "+f.Pointer)
				if f.Line != 1 || f.Column < 2 || f.Message == "" || filepath.Base(f.File) != "t.json" {
					t.Errorf("incomplete finding: %+v", f)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}

// TestLanguage holds that what the runtime would not start is a finding at its
// place in the code, and that what it runs is none.
func TestLanguage(t *testing.T) {
	for code, want := range map[string]string{
		"for await (const x of []) ;":        "",
		"async function* g() { yield 1 }":    "",
		`return /\p{L}/dv.test("a")`:         "",
		"return typeof SharedArrayBuffer":    "",
		"1\nreturn new SharedArrayBuffer(1)": "2:12 SharedArrayBuffer does not exist",
		"1\n eval('2')":                      "2:2 eval is not available",
		"with (Math) { }":                    "1:1 with statements are not supported",
		`return /\p{Nope}/u`:                 `1:8 invalid or unsupported regular expression: the property \p{Nope}`,
		"return /(?i:a)/":                    "1:8 invalid or unsupported regular expression: modifiers",
		"let a = 1, b = 2; return a<!--b":    "1:27 comments in the manner of HTML",
	} {
		dir := tree(t, map[string]string{"t/spec.json": `{"name":"t","codeType":"Javascript"}`, "t/action.js": code})
		r, err := Run(context.Background(), []string{filepath.Join(dir, "t")}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, f := range r.Findings {
			if f.Severity == Error {
				got += fmt.Sprintf("%d:%d %s", f.Line, f.Column, f.Message)
			}
		}
		if !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%q: %s, want %s", code, got, want)
		}
	}
}

func TestRuleIDsAreUnique(t *testing.T) {
	seen := map[string]bool{"TW106": true, "TW107": true}
	for _, r := range rules {
		if seen[r.id] {
			t.Errorf("%s is used twice", r.id)
		}
		seen[r.id] = true
	}
}

func TestWalk(t *testing.T) {
	dir := tree(t, map[string]string{
		"a.json":            `{"name":"a","code":"return 1","codeType":"Javascript"}`,
		"b/spec.json":       `{"name":"b","codeType":"Javascript"}`,
		"b/action.js":       "return 1\nconst = 1\n",
		"b/fixture.json":    `{"not":"a spec"}`,
		"c/d/bundle.json":   `[{"name":"a","code":"return 1","codeType":"Javascript"},{"toolId":"x","name":"z","code":"return 1","codeType":"Javascript"}]`,
		"c/d/same-id.json":  `{"toolId":"x","name":"y","code":"return 1","codeType":"Javascript"}`,
		"c/readme.txt":      "no document",
		".hidden/bad.json":  "{",
		"c/.hidden.json":    "{",
		"e/broken.JSON":     "{\n  \"name\": 1 }",
		"e/deep/draft.json": `{"name":"a","code":"return 1","codeType":"Javascript","draft":true}`,
	})
	r, err := Run(context.Background(), []string{dir}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range r.Findings {
		rel, _ := filepath.Rel(dir, f.File)
		got = append(got, filepath.ToSlash(rel)+" "+f.RuleID+" "+f.Pointer)
	}
	want := []string{
		"b/action.js SPEC_INVARIANT /code",
		"c/d/bundle.json TW106 /0/name",
		"c/d/same-id.json TW107 /toolId",
		"e/broken.JSON SPEC_PARSE /code",
		"e/broken.JSON SPEC_PARSE /codeType",
		"e/broken.JSON SPEC_PARSE /name",
		"e/deep/draft.json TW106 /name",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
	if want := (Summary{Errors: 4, Warnings: 3, Files: 6}); r.Summary != want || r.OK() {
		t.Errorf("summary = %+v, want %+v", r.Summary, want)
	}
}

func TestResolve(t *testing.T) {
	path := filepath.Join(tree(t, map[string]string{"t.json": document(`,"sandboxOverrides":{"networkMode":"open"}`)}), "t.json")
	mode := "/sandboxOverrides/networkMode"
	refuse := func(context.Context, *spec.Spec, []string) ([]*fault.Error, []Finding, error) {
		return []*fault.Error{
			fault.New(fault.ResolverReject, "open-mode", "open mode is not allowed").At("", mode, 0, 0),
			fault.New(fault.ResolverReject, "another", "nor is that").At("", mode, 0, 0),
		}, []Finding{{RuleID: "noted", Severity: Warning, Message: "noteworthy", Pointer: mode}}, nil
	}
	r, err := Run(context.Background(), []string{path}, Options{Resolve: refuse})
	if err != nil {
		t.Fatal(err)
	}
	want := []Finding{
		{"RESOLVER_REJECT", Error, "open mode is not allowed", path, mode, 1, 89},
		{"RESOLVER_REJECT", Error, "nor is that", path, mode, 1, 89},
		{"noted", Warning, "noteworthy", path, mode, 1, 89},
	}
	if diff := cmp.Diff(want, r.Findings); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
	// A policy that cannot answer says nothing about the document.
	broken := func(context.Context, *spec.Spec, []string) ([]*fault.Error, []Finding, error) {
		return nil, nil, fault.New(fault.PolicyUnavailable, "timeout", "no answer")
	}
	if _, err := Run(context.Background(), []string{path}, Options{Resolve: broken}); fault.From(err).Code != fault.PolicyUnavailable {
		t.Errorf("err = %v", err)
	}
	strange := func(context.Context, *spec.Spec, []string) ([]*fault.Error, []Finding, error) {
		return nil, nil, errors.New("boom")
	}
	if _, err := Run(context.Background(), []string{path}, Options{Resolve: strange}); fault.From(err).Code != fault.Internal {
		t.Errorf("err = %v", err)
	}
	// An invalid document is never given to the policy.
	bad := tree(t, map[string]string{"t.json": "{}"})
	if _, err := Run(context.Background(), []string{bad}, Options{Resolve: strange}); err != nil {
		t.Errorf("the policy was asked about an invalid document: %v", err)
	}
}

func TestUsage(t *testing.T) {
	for name, paths := range map[string][]string{
		"no path":      nil,
		"no such file": {filepath.Join(t.TempDir(), "none")},
		"empty folder": {t.TempDir()},
		"empty list":   {filepath.Join(tree(t, map[string]string{"a.json": "[]"}), "a.json")},
		"empty bundle": {tree(t, map[string]string{"a.json": `{"toolSpecs": []}`, "b.json": "[]"})},
	} {
		if _, err := Run(context.Background(), paths, Options{}); fault.From(err) == nil || fault.From(err).Code != fault.Usage {
			t.Errorf("%s: %v", name, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Run(ctx, []string{tree(t, map[string]string{"a.json": "{}"})}, Options{}); err == nil {
		t.Error("a cancelled run gave a report")
	}
}

func TestPrinters(t *testing.T) {
	r := Report{
		Findings: []Finding{
			{"SPEC_PARSE", Error, "want <string>, got number", "a\u202e.json", "/params/2/testValue", 3, 7},
			{"TW108", Warning, "m", "b.json", "", 0, 0},
		},
		Summary: Summary{Errors: 1, Warnings: 1, Files: 2},
	}
	var b bytes.Buffer
	if err := Text(&b, r); err != nil {
		t.Fatal(err)
	}
	want := "a\\u202e.json:3:7: error SPEC_PARSE: params[2].testValue: want <string>, got number\n" +
		"b.json: warning TW108: m\n1 error, 1 warning in 2 files\n"
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
	b.Reset()
	if err := JSON(&b, r); err != nil {
		t.Fatal(err)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, b.Bytes()); err != nil {
		t.Fatal(err)
	}
	const wantJSON = `{"findings":[{"ruleId":"SPEC_PARSE","severity":"error","message":"want <string>, got number","file":"a` + "\u202e" + `.json","pointer":"/params/2/testValue","line":3,"column":7},` +
		`{"ruleId":"TW108","severity":"warning","message":"m","file":"b.json","pointer":"","line":null,"column":null}],"summary":{"errors":1,"warnings":1,"files":2}}`
	if diff := cmp.Diff(wantJSON, compact.String()); diff != "" {
		t.Errorf("json (-want +got):\n%s", diff)
	}
	b.Reset()
	if err := JSON(&b, Report{}); err != nil || !strings.Contains(b.String(), `"findings": []`) {
		t.Errorf("an empty report: %s %v", b.String(), err)
	}
}
