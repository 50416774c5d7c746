package house

import (
	"context"
	"encoding/json"
	"errors"
	"go/ast"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	rego "github.com/open-policy-agent/opa/v1/ast"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/lint"
	"github.com/toolwarrant/toolwarrant/resolver"
	"github.com/toolwarrant/toolwarrant/spec"
)

// ruleIDs finds, in the sources, every id that a decision, a rejection or a
// finding can carry.
func ruleIDs(t *testing.T) map[string]bool {
	ids := map[string]bool{}
	signalIDs(t, ids)
	regoIDs(t, ids)
	goIDs(t, ids)
	return ids
}

// signalIDs reads the risk signals of the settings.
func signalIDs(t *testing.T, ids map[string]bool) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "rego", "data.json"))
	if err != nil {
		t.Fatal(err)
	}
	var data struct {
		Toolwarrant struct {
			Settings struct {
				Risk struct {
					Signals map[string]json.RawMessage `json:"signals"`
				} `json:"risk"`
			} `json:"settings"`
		} `json:"toolwarrant"`
	}
	if err := json.Unmarshal(text, &data); err != nil || len(data.Toolwarrant.Settings.Risk.Signals) == 0 {
		t.Fatalf("no signals in rego/data.json: %v", err)
	}
	for id := range data.Toolwarrant.Settings.Risk.Signals {
		ids[id] = true
	}
}

// regoIDs reads what the rules give as "id", and the ruleId of the verdict.
// Labels name every rule, also those whose id no decision shows; so only
// texts in the rules themselves count.
func regoIDs(t *testing.T, ids map[string]bool) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join("..", "..", "rego"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".rego" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		module, err := rego.ParseModule(path, string(text))
		if err != nil {
			return err
		}
		rego.WalkTerms(module, func(term *rego.Term) bool {
			switch v := term.Value.(type) {
			case rego.Object:
				note(ids, v.Get(rego.StringTerm("id")))
				note(ids, v.Get(rego.StringTerm("ruleId")))
			case rego.Call:
				callIDs(ids, v)
			}
			return false
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// callIDs knows the functions of the policy that take an id.
func callIDs(ids map[string]bool, call rego.Call) {
	switch name := call[0].String(); {
	case name == "_signal" || name == "_plain":
		note(ids, call[1])
	case name == "object.get" && len(call) == 4 && call[2].Equal(rego.StringTerm("id")):
		note(ids, call[3])
	}
}

func note(ids map[string]bool, term *rego.Term) {
	if term == nil {
		return
	}
	if s, ok := term.Value.(rego.String); ok {
		ids[string(s)] = true
	}
}

// tw is an id of package lint, or of the packages below it.
var tw = regexp.MustCompile(`^TW[0-9]{3}$`)

// goIDs reads the ids that Go gives: lint rules, rejections of the resolver,
// denials of the executor.
func goIDs(t *testing.T, ids map[string]bool) {
	t.Helper()
	text := func(e ast.Expr) string {
		lit, ok := e.(*ast.BasicLit)
		if !ok || lit.Kind != token.STRING {
			return ""
		}
		s, _ := strconv.Unquote(lit.Value)
		return s
	}
	found := func(id string) {
		if id != "" {
			ids[id] = true
		}
	}
	sources(t, func(dir string, file *ast.File, test bool) {
		if test {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BasicLit:
				if s := text(n); strings.HasPrefix(dir, "lint") && tw.MatchString(s) {
					found(s)
				}
			case *ast.ValueSpec: // const Hidden = "..." of a reason that no rule gives
				if dir == "impact" && n.Names[0].Name == "Hidden" && len(n.Values) == 1 {
					found(text(n.Values[0]))
				}
			case *ast.KeyValueExpr: // violation{ID: "..."}
				if key, ok := n.Key.(*ast.Ident); ok && dir == "resolver" && key.Name == "ID" {
					found(text(n.Value))
				}
			case *ast.CallExpr:
				switch name := called(n); {
				case dir == "resolver" && name == "reject", dir == "executor" && name == "conceal":
					found(text(n.Args[0]))
				case dir == "executor" && name == "New" && len(n.Args) > 1 && selected(n.Args[0]) == "PolicyDenied":
					found(text(n.Args[1]))
				}
			}
			return true
		})
	})
}

func called(call *ast.CallExpr) string {
	if id, ok := call.Fun.(*ast.Ident); ok {
		return id.Name
	}
	return selected(call.Fun)
}

func selected(e ast.Expr) string {
	if s, ok := e.(*ast.SelectorExpr); ok {
		return s.Sel.Name
	}
	return ""
}

// pages gives the text of docs/rules by id.
func pages(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", "docs", "rules", "*.md"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no pages: %v", err)
	}
	out := map[string]string{}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		out[strings.TrimSuffix(filepath.Base(f), ".md")] = strings.ReplaceAll(string(text), "\r\n", "\n")
	}
	return out
}

func TestEveryRuleHasAPage(t *testing.T) {
	ids, docs := ruleIDs(t), pages(t)
	for id := range ids {
		if docs[id] == "" {
			t.Errorf("docs/rules/%s.md is missing: say what the rule is for and how to satisfy it", id)
		}
	}
	for id, text := range docs {
		if !ids[id] {
			t.Errorf("docs/rules/%s.md names no id of the policy, the linter or the resolver", id)
		}
		if !strings.HasPrefix(text, "# "+id+"\n") {
			t.Errorf("docs/rules/%s.md does not begin with its id", id)
		}
	}
}

// example is the part of a document that a page shows.
var example = regexp.MustCompile("(?s)\n```json\n(.*?)\n```\n")

// TestExamplesOfRules lints and resolves the example of each page under the
// built-in policy: the id has to come out.
func TestExamplesOfRules(t *testing.T) {
	ctx := context.Background()
	base := t.TempDir()
	open := func(allowOpen bool) *resolver.Resolver {
		r, err := resolver.New(ctx, resolver.Options{Operator: resolver.Operator{BasePath: base, AllowOpenMode: allowOpen}})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	usual, lenient := open(false), open(true)
	tried := 0
	for id, text := range pages(t) {
		m := example.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		tried++
		t.Run(id, func(t *testing.T) {
			policy := usual
			if id == "network-open" {
				policy = lenient
			}
			if got := idsOf(ctx, t, policy, m[1]); !slices.Contains(got, id) {
				t.Errorf("the example gives %v", got)
			}
		})
	}
	if tried < 40 {
		t.Errorf("only %d pages have an example that can be tried", tried)
	}
}

// idsOf gives every id that the members of an example cause.
func idsOf(ctx context.Context, t *testing.T, policy *resolver.Resolver, members string) []string {
	t.Helper()
	document := map[string]json.RawMessage{"name": []byte(`"example"`), "code": []byte(`"return 1"`), "codeType": []byte(`"Javascript"`)}
	if err := json.Unmarshal([]byte(members), &document); err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(document)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "example.json")
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	report, err := lint.Run(ctx, []string{file}, lint.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, f := range report.Findings {
		ids = append(ids, f.RuleID)
	}
	s, faults := spec.Parse("example.json", raw)
	if s == nil {
		t.Fatal(faults)
	}
	who := decision.Principal{Subject: "local", Method: "none", Groups: []string{}, Scopes: []string{}}
	tool := resolver.Tool{Spec: s, Source: "user"}
	d, err := policy.Resolve(ctx, resolver.Request{Tool: tool, Principal: who, Origin: decision.OriginCLIRun, Args: []byte("{}")})
	var rejected *resolver.Rejection
	switch {
	case errors.As(err, &rejected):
		for _, f := range rejected.All {
			ids = append(ids, f.Reason)
		}
		return ids
	case err != nil:
		t.Fatal(err)
	}
	for _, signal := range d.RiskSignals {
		ids = append(ids, signal.ID)
	}
	findings, err := policy.Findings(ctx, tool, who)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range findings {
		ids = append(ids, f.ID)
	}
	return append(ids, d.HumanInTheLoop.RuleID)
}

// TestVocabularyOfTags: the tags that the linter knows are those of the
// catalog.
func TestVocabularyOfTags(t *testing.T) {
	read := func(into any, path ...string) {
		text, err := os.ReadFile(filepath.Join(append([]string{"..", ".."}, path...)...))
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, into); err != nil {
			t.Fatal(err)
		}
	}
	type tags struct {
		Vocabulary []string `json:"vocabulary"`
	}
	var data struct {
		Toolwarrant struct {
			Settings struct {
				Lint struct {
					Tags tags `json:"tags"`
				} `json:"lint"`
			} `json:"settings"`
		} `json:"toolwarrant"`
	}
	var catalog struct {
		Tags []string `json:"tags"`
	}
	read(&data, "rego", "data.json")
	read(&catalog, "catalog", "vocabulary.json")
	if got := data.Toolwarrant.Settings.Lint.Tags.Vocabulary; len(got) == 0 || !slices.Equal(got, catalog.Tags) {
		t.Errorf("the linter knows %v, the catalog %v", got, catalog.Tags)
	}
}
