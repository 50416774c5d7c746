package catalog_test

import (
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolwarrant/toolwarrant/catalog"
	"github.com/toolwarrant/toolwarrant/executor/broker"
	"github.com/toolwarrant/toolwarrant/executor/js"
	"github.com/toolwarrant/toolwarrant/executor/worker"
	"github.com/toolwarrant/toolwarrant/resolver"
	"github.com/toolwarrant/toolwarrant/spec"
)

// budget is the default number of statements; a tool with its testValues may
// use a fifth of it.
const budget = 500_000

// toolCase is one call of a bundled tool: arguments in, result or error out.
type toolCase struct {
	tool string
	args string // "" = the testValues
	want string // JSON of the result
	like string // or a pattern of it
	fail string // or words of the error message
}

func TestTools(t *testing.T) {
	c, err := catalog.Open(context.Background(), catalog.Options{Preset: "everything"})
	if err != nil {
		t.Fatal(err)
	}
	policy := builtinPolicy(t, resolver.Operator{})
	rt := js.New(js.Options{})
	defer func() { _ = rt.Close() }()
	perTool := map[string]int{}
	for _, tc := range toolCases {
		perTool[tc.tool]++
		name := tc.tool + "/" + tc.args
		if tc.args == "" {
			name = tc.tool + "/testValues"
		}
		t.Run(name, func(t *testing.T) {
			tool, err := c.Lookup(context.Background(), tc.tool)
			if err != nil {
				t.Fatal(err)
			}
			reply := call(t, rt, tool, tc.args, policy, broker.Options{})
			if n := reply.Usage.Statements; tc.args == "" && (n == nil || *n > budget/5) {
				t.Errorf("the testValues cost %v statements", n)
			}
			check(t, tc, reply)
		})
	}
	tools, err := c.List(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range tools {
		if n := perTool[tool.Spec.Name]; n < 4 {
			t.Errorf("%s has %d cases, want its testValues and three more", tool.Spec.Name, n)
		}
	}
}

func check(t *testing.T, tc toolCase, reply worker.Reply) {
	t.Helper()
	if f := reply.Failure; f != nil {
		if tc.fail == "" || !strings.Contains(f.Message, tc.fail) {
			t.Fatalf("failed with %s (%s): %s at line %d; want %s%s%s", f.Code, f.Reason, f.Message, f.Line, tc.want, tc.like, tc.fail)
		}
		return
	}
	if tc.fail != "" {
		t.Fatalf("got %s, want a failure that says %q", reply.Result, tc.fail)
	}
	if tc.like != "" {
		if !regexp.MustCompile(tc.like).Match(reply.Result) {
			t.Errorf("got %s, want something like %s", reply.Result, tc.like)
		}
		return
	}
	var got, want any
	if err := json.Unmarshal(reply.Result, &got); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(tc.want), &want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// call runs a tool as a served call does: arguments checked against its
// parameters, code and effects under the decision of policy, files in a fresh
// workspace.
func call(t *testing.T, rt *js.Runtime, tool *catalog.Tool, args string, policy *resolver.Resolver, opts broker.Options) worker.Reply {
	t.Helper()
	s := tool.Spec
	raw, ferr := s.TestArgs()
	if args != "" {
		raw, ferr = s.Args(json.RawMessage(args))
	}
	if ferr != nil {
		return worker.Reply{Failure: &worker.Failure{Code: string(ferr.Code), Reason: ferr.Reason, Message: ferr.Message}}
	}
	var params []string
	for _, p := range s.Params {
		params = append(params, p.Name)
	}
	p := decide(t, policy, tool).EffectivePolicy
	p.FS.BasePath = workspace(t)
	reply, err := rt.Run(context.Background(), worker.Call{
		CallID:  "test",
		Program: worker.Program{ID: s.Digest(), Name: s.Name + ".js", Source: s.Code, Params: params},
		Args:    raw,
		Globals: worker.Globals{Fetch: p.Network.Mode != "blocked", FSRead: p.FS.Read, FSWrite: p.FS.Write},
		Limits: worker.Limits{
			MaxStatements: p.MaxStatements, TimeoutMillis: p.TimeoutSeconds * 1000,
			MaxOutputBytes: p.MaxOutputBytes, MaxLogLines: p.MaxLogLines, MaxLogBytes: 8 << 10,
		},
	}, newBroker(t, tool, p, opts))
	if err != nil {
		t.Fatal(err)
	}
	return reply
}

// TestPosture is the golden table of what a person has to know about each
// bundled tool before serving it.
func TestPosture(t *testing.T) {
	const none = "no network, no files"
	want := map[string][3]string{ // posture, approval, category
		"base64":          {none, "DISABLED", "ENCODING"},
		"cronNext":        {none, "DISABLED", "DATETIME"},
		"evalExpression":  {none, "DISABLED", "MATH"},
		"getWeather":      {"allowlist wttr.in", "DISABLED", "WEB"},
		"hash":            {none, "DISABLED", "CRYPTO"},
		"hmac":            {none, "DISABLED", "CRYPTO"},
		"jwtDecode":       {none, "DISABLED", "CRYPTO"},
		"parseCsv":        {none, "DISABLED", "DATA"},
		"readTextFile":    {"reads files", "DISABLED", "FILE"},
		"timezoneConvert": {none, "DISABLED", "DATETIME"},
		"uuid":            {none, "DISABLED", "CRYPTO"},
		"writeTextFile":   {"reads files, writes files", "REQUIRED", "FILE"},
	}
	c, err := catalog.Open(context.Background(), catalog.Options{Preset: "everything"})
	if err != nil {
		t.Fatal(err)
	}
	tools, err := c.List(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][3]string{}
	for _, tool := range tools {
		s := tool.Spec
		row := [3]string{posture(s.Overrides), "", s.Category}
		if h := s.HumanInTheLoop; h != nil && h.Mode != nil {
			row[1] = *h.Mode
			if asks := h.PromptTemplate != nil; asks != (*h.Mode == "REQUIRED") {
				t.Errorf("%s: mode %s and a prompt: %v", s.Name, *h.Mode, asks)
			}
		}
		got[s.Name] = row
		describe(t, s)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func posture(o *spec.Overrides) string {
	if o == nil {
		return "no network, no files"
	}
	var parts []string
	if o.NetworkMode != nil && *o.NetworkMode != "blocked" {
		parts = append(parts, *o.NetworkMode+" "+strings.Join(o.HostsAllow, " "))
	}
	if o.FileRead != nil && *o.FileRead {
		parts = append(parts, "reads files")
	}
	if o.FileWrite != nil && *o.FileWrite {
		parts = append(parts, "writes files")
	}
	if n := len(o.AddAllowClasses) + len(o.RemoveDenyClasses); n > 0 {
		parts = append(parts, "host classes")
	}
	if len(parts) == 0 {
		return "no network, no files"
	}
	return strings.Join(parts, ", ")
}

// describe checks what a model reads: ASCII, every parameter explained and,
// if required, named in the description, and a literal sketch of the result.
func describe(t *testing.T, s *spec.Spec) {
	t.Helper()
	ascii := func(what, text string) {
		for _, r := range text {
			if r > 126 || r < 32 && r != '\n' {
				t.Errorf("%s: %s has the character %q", s.Name, what, r)
			}
		}
	}
	ascii("the description", s.Description)
	ascii("the code", s.Code)
	if !regexp.MustCompile(`Returns [^.]+`).MatchString(s.Description) {
		t.Errorf("%s: the description does not say what it returns", s.Name)
	}
	for _, p := range s.Params {
		ascii("a parameter", p.Name+p.Description)
		if p.Description == "" || p.TestValue == nil {
			t.Errorf("%s: %s lacks a description or a testValue", s.Name, p.Name)
		}
		if !regexp.MustCompile(`\b` + p.Name + `\b`).MatchString(s.Description) {
			t.Errorf("%s: the description does not mention %s", s.Name, p.Name)
		}
		if p.Required && !regexp.MustCompile(`\b`+p.Name+` \(required\)`).MatchString(s.Description) {
			t.Errorf("%s: the description does not say that %s is required", s.Name, p.Name)
		}
	}
	for _, f := range s.CheckCode() {
		t.Errorf("%s: %v", s.Name, f)
	}
	if len(s.Tags) > 2 {
		t.Errorf("%s has %d tags", s.Name, len(s.Tags))
	}
}

func TestFolderHoldsOneToolOnly(t *testing.T) {
	err := fs.WalkDir(catalog.Bundled(), "tools", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if !slices.Contains([]string{"spec.json", "action.js", "fixtures.json"}, filepath.Base(path)) {
			t.Errorf("%s: unexpected file", path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// workspace is a folder with the files that the file tools expect.
func workspace(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	outside := filepath.Join(t.TempDir(), "secret.txt")
	for path, text := range map[string]string{
		filepath.Join(dir, "README.md"):     "# Workspace\nline two\n",
		filepath.Join(dir, "umlaut.txt"):    "Gr\u00fc\u00dfe",
		filepath.Join(dir, "bytes.bin"):     "\xff\xfe",
		filepath.Join(dir, "sub", "in.txt"): "inner",
		outside:                             "secret",
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(outside, filepath.Join(dir, "link.txt")); err != nil {
		t.Log("no symbolic links here:", err)
	}
	return dir
}
