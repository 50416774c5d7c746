package catalog_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolwarrant/toolwarrant/catalog"
	"github.com/toolwarrant/toolwarrant/executor/broker"
	"github.com/toolwarrant/toolwarrant/executor/js"
	"github.com/toolwarrant/toolwarrant/executor/secret"
	"github.com/toolwarrant/toolwarrant/executor/worker"
	"github.com/toolwarrant/toolwarrant/resolver"
	"github.com/toolwarrant/toolwarrant/spec"
)

// budget is the default number of statements; a tool with its testValues may
// use a fifth of it.
const budget = 500_000

// casesOf reads the cases of a tool, and those in hostile.json: with files that
// no author could ship and only workspace makes.
func casesOf(t *testing.T, tool string) []catalog.Case {
	t.Helper()
	var out []catalog.Case
	for _, name := range []string{"cases.json", "hostile.json"} {
		file := filepath.Join("tools", tool, name)
		data, err := os.ReadFile(file)
		if name != "cases.json" && errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			t.Fatalf("%v: each tool has its cases beside it", err)
		}
		cases, err := catalog.ParseCases(file, data)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, cases...)
	}
	return out
}

// TestTools runs the cases of every tool, fetches answered from its fixtures.
func TestTools(t *testing.T) {
	if testing.Short() {
		t.Skip("long, and no goroutines of its own")
	}
	tools := bundledTools(t)
	policy := builtinPolicy(t, resolver.Operator{})
	rt := js.New(js.Options{})
	defer func() { _ = rt.Close() }()
	for _, tool := range tools {
		t.Run(tool.Spec.Name, func(t *testing.T) {
			own, bad, further := false, false, 0
			for _, tc := range casesOf(t, tool.Spec.Name) {
				own, bad = own || tc.Args == nil && tc.Fail == "", bad || tc.Args != nil && tc.Fail != ""
				if tc.Args != nil {
					further++
				}
				t.Run(tc.Name(), func(t *testing.T) {
					reply := call(t, rt, tool, tc, policy, broker.Options{})
					n := reply.Usage.Statements
					if tc.Args == nil && (n == nil || *n > budget/5) {
						t.Errorf("the testValues cost %v statements", n)
					}
					if n != nil {
						t.Logf("%d statements", *n)
					}
					check(t, tc, reply)
				})
			}
			if !own || !bad || further < 3 && len(tool.Spec.Params) > 0 {
				t.Errorf("the cases have a passing one with the testValues: %v, with a bad input: %v, further ones: %d of 3", own, bad, further)
			}
		})
	}
}

// bundledTools gives every bundled tool.
func bundledTools(t *testing.T) []*catalog.Tool {
	t.Helper()
	c, err := catalog.Open(context.Background(), catalog.Options{Preset: "everything"})
	if err != nil {
		t.Fatal(err)
	}
	tools, err := c.List(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return tools
}

func check(t *testing.T, tc catalog.Case, reply worker.Reply) {
	t.Helper()
	var f worker.Failure
	if reply.Failure != nil {
		f = *reply.Failure
	}
	if wrong := tc.Mismatch(reply.Result, reply.Failure != nil, f.Code, f.Message); wrong != "" {
		t.Errorf("%s (reason %q, line %d)", wrong, f.Reason, f.Line)
	}
}

// call runs a tool as a served call does: arguments checked against its
// parameters, code and effects under the decision of policy, files in a fresh
// workspace.
func call(t *testing.T, rt *js.Runtime, tool *catalog.Tool, tc catalog.Case, policy *resolver.Resolver, opts broker.Options) worker.Reply {
	t.Helper()
	return callWithin(t, rt, tool, tc, policy, opts, 0, nil)
}

// callWithin is call with a time limit of its own; 0 is that of the policy.
// The hosts staged are on this machine. No operator opens private addresses
// to a tool that reaches any public host, so such a tool is given them as the
// only ones.
func callWithin(t *testing.T, rt *js.Runtime, tool *catalog.Tool, tc catalog.Case, policy *resolver.Resolver, opts broker.Options, limit time.Duration, staged []string) worker.Reply {
	t.Helper()
	c, b, failure := prepared(t, tool, tc, policy, opts, limit, staged)
	if failure != nil {
		return worker.Reply{Failure: failure}
	}
	reply, err := rt.Run(context.Background(), c, b)
	if err != nil {
		t.Fatal(err)
	}
	return reply
}

// prepared is what callWithin runs, and serves its effects with.
func prepared(t *testing.T, tool *catalog.Tool, tc catalog.Case, policy *resolver.Resolver, opts broker.Options, limit time.Duration, staged []string) (worker.Call, worker.Broker, *worker.Failure) {
	t.Helper()
	s := tool.Spec
	raw, ferr := s.TestArgs()
	if tc.Args != nil {
		raw, ferr = s.Args(json.RawMessage(tc.Args))
	}
	if ferr != nil {
		return worker.Call{}, nil, &worker.Failure{Code: string(ferr.Code), Reason: ferr.Reason, Message: ferr.Message}
	}
	var params []string
	for _, p := range s.Params {
		params = append(params, p.Name)
	}
	p := decide(t, policy, tool).EffectivePolicy
	p.FS.BasePath = workspace(t, tool, tc)
	if staged != nil && p.Network.Mode == "strict" {
		p.Network.Mode, p.Network.Hosts, p.Network.PrivateHosts = "allowlist", staged, staged
	}
	statics := madeUp(t, tool, p.Env)
	return worker.Call{
		CallID:  "test",
		Program: worker.Program{ID: s.Digest(), Name: s.Name + ".js", Source: s.Code, Params: params},
		Args:    raw,
		Statics: statics,
		Globals: worker.Globals{Fetch: p.Network.Mode != "blocked", FSRead: p.FS.Read, FSWrite: p.FS.Write},
		Limits: worker.Limits{
			MaxStatements: p.MaxStatements, TimeoutMillis: cmp.Or(limit.Milliseconds(), p.TimeoutSeconds*1000),
			MaxOutputBytes: p.MaxOutputBytes, MaxLogLines: p.MaxLogLines, MaxLogBytes: 8 << 10,
		},
	}, newBroker(t, tool, p, opts), nil
}

// madeUp resolves the static variables of a tool with the values of its
// fixtures: no secret of this machine gets into a test.
func madeUp(t *testing.T, tool *catalog.Tool, granted []string) []worker.Static {
	t.Helper()
	recording, _, err := catalog.Fixtures(tool)
	if err != nil {
		t.Fatal(err)
	}
	lookup := func(name string) (string, bool) { v, ok := recording.Env[name]; return v, ok }
	statics, _, missing, err := secret.New("", lookup).Resolve(tool.Spec.StaticVariables, granted)
	if err != nil || len(missing) > 0 {
		t.Fatalf("%s: its fixtures.json gives no value for %v, %v", tool.Spec.Name, missing, err)
	}
	return statics
}

// TestTexts checks what a model and a person read before they use a tool.
func TestTexts(t *testing.T) {
	for _, tool := range bundledTools(t) {
		describe(t, tool.Spec)
	}
}

// foreign finds the places at which other languages may stand: quoted
// examples in a description, texts and comments in code.
var foreign = map[string]*regexp.Regexp{
	"the description": regexp.MustCompile(`'[^']*'`),
	"the code":        regexp.MustCompile("\"[^\"\\n]*\"|'[^'\\n]*'|`[^`]*`|//[^\\n]*"),
}

// describe checks what a model reads: ASCII but for quoted examples, every
// parameter explained and, if required, named in the description, and a
// literal sketch of the result.
func describe(t *testing.T, s *spec.Spec) {
	t.Helper()
	ascii := func(what, text string) {
		if quoted := foreign[what]; quoted != nil {
			text = quoted.ReplaceAllString(text, "")
		}
		for _, r := range text {
			if r > 126 || r < 32 && r != '\n' {
				t.Errorf("%s: %s has the character %q", s.Name, what, r)
			}
		}
	}
	ascii("the description", s.Description)
	ascii("the code", s.Code)
	korean := strings.HasPrefix(s.Description, "Korea-locale (KR) tool")
	if slices.Contains(s.Tags, "korea") != korean {
		t.Errorf("%s: the description begins with the locale: %v", s.Name, korean)
	}
	if !regexp.MustCompile(`Returns [^.]+`).MatchString(s.Description) {
		t.Errorf("%s: the description does not say what it returns", s.Name)
	}
	for _, p := range s.Params {
		ascii("a parameter", p.Name)
		ascii("the description", p.Description)
		if p.Description == "" || p.TestValue == nil {
			t.Errorf("%s: %s lacks a description or a testValue", s.Name, p.Name)
		}
		if !regexp.MustCompile(`\b` + p.Name + `\b`).MatchString(s.Description) {
			t.Errorf("%s: the description does not mention %s", s.Name, p.Name)
		}
		if p.Required && !regexp.MustCompile(`\b`+p.Name+` \(required\)`).MatchString(s.Description) {
			t.Errorf("%s: the description does not say that %s is required", s.Name, p.Name)
		}
		if p.Type == "OBJECT" || p.Type == "ARRAY" {
			if !strings.Contains(s.Description, "JSON string") {
				t.Errorf("%s: the description does not say that %s may be given as a JSON string too", s.Name, p.Name)
			}
		}
	}
	for _, name := range s.Placeholders() {
		if !strings.Contains(s.Description, name) {
			t.Errorf("%s: the description does not say how to give it %s", s.Name, name)
		}
	}
	for _, f := range s.CheckCode() {
		t.Errorf("%s: %v", s.Name, f)
	}
	if len(s.Tags) > 2 {
		t.Errorf("%s has %d tags", s.Name, len(s.Tags))
	}
}

// TestFolderHoldsOneToolOnly: nothing is in a tool's folder but the tool, its
// cases and what its Local Pass needs.
func TestFolderHoldsOneToolOnly(t *testing.T) {
	names := []string{"spec.json", "action.js", "fixtures.json", "cases.json", "hostile.json", "README.md"}
	err := fs.WalkDir(os.DirFS("tools"), ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		parts := strings.Split(file, "/")
		seed := len(parts) > 2 && parts[1] == "fixtures"
		if !seed && (len(parts) != 2 || !slices.Contains(names, parts[1])) {
			t.Errorf("tools/%s: unexpected file", file)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// workspace is what a Local Pass of the tool starts with, its folder
// fixtures/. Beside that are the files of the case and, for calls of file
// tools with arguments of their own, what no file tool may trip over.
func workspace(t *testing.T, tool *catalog.Tool, tc catalog.Case) string {
	t.Helper()
	dir := t.TempDir()
	if seed := catalog.Workspace(tool); seed != nil {
		if err := os.CopyFS(dir, seed); err != nil {
			t.Fatal(err)
		}
	}
	outside := filepath.Join(t.TempDir(), "secret.txt")
	files := map[string]string{outside: "secret"}
	for path, text := range tc.Files {
		files[filepath.Join(dir, path)] = text
	}
	if tc.Args != nil {
		files[filepath.Join(dir, "hostile", "bytes.bin")] = "\xff\xfe"
	}
	for path, text := range files {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if tc.Args != nil {
		if err := os.Symlink(outside, filepath.Join(dir, "hostile", "link.txt")); err != nil {
			t.Log("no symbolic links here:", err)
		}
	}
	return dir
}
