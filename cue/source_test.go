package cue_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"cuelang.org/go/cue"
	"github.com/google/go-cmp/cmp"

	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/spec"
)

// constants gives the values of the constants of one type in a Go file. A
// test cannot enumerate them at run time, and a list kept by hand would miss
// the one that was just added.
func constants(t *testing.T, file, typ string) []string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), filepath.FromSlash(file), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	ast.Inspect(f, func(n ast.Node) bool {
		v, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		id, ok := v.Type.(*ast.Ident)
		if !ok || id.Name != typ {
			return true
		}
		for _, e := range v.Values {
			if lit, ok := e.(*ast.BasicLit); ok {
				s, err := strconv.Unquote(lit.Value)
				if err != nil {
					t.Fatal(err)
				}
				out = append(out, s)
			}
		}
		return true
	})
	if len(out) == 0 {
		t.Fatalf("%s has no constants of type %s", file, typ)
	}
	return out
}

func faultCodes(t *testing.T) []fault.Code {
	var out []fault.Code
	for _, c := range constants(t, "../fault/fault.go", "Code") {
		out = append(out, fault.Code(c))
	}
	return out
}

// TestWords: enumerations are the same words in Go and in the formats.
func TestWords(t *testing.T) {
	for _, tc := range []struct {
		file, typ string
		def, path string
		except    string // Go words that are no part of the format
	}{
		{"../decision/decision.go", "Origin", "#NoCall", "", "mcp-http mcp-stdio cli-run cli-test admin studio"},
		{"../decision/decision.go", "Origin", "#Origin", "", "list lint"},
		{"../fault/fault.go", "Outcome", "#Outcome", "", ""},
		{"../audit/record.go", "HITLOutcome", "#HumanOutcome", "", ""},
		{"../approval/approval.go", "State", "#Pending", "state", ""},
		{"../executor/worker/message.go", "Op", "#WorkerOp", "", ""},
		{"../spec/types.go", "ParamType", "#SpecParam", "type", ""},
	} {
		want := map[string]bool{}
		for _, w := range constants(t, tc.file, tc.typ) {
			if !strings.Contains(" "+tc.except+" ", " "+w+" ") {
				want[w] = true
			}
		}
		v := definition(t, tc.def)
		if tc.path != "" {
			v = v.LookupPath(cue.MakePath(cue.Str(tc.path).Required()))
		}
		got := map[string]bool{}
		words(v, got)
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s.%s and %s.%s (-go +cue):\n%s", tc.file, tc.typ, tc.def, tc.path, d)
		}
	}
}

// words collects the texts of a disjunction.
func words(v cue.Value, into map[string]bool) {
	if s, err := v.String(); err == nil {
		into[s] = true
		return
	}
	op, args := cue.Dereference(v).Expr()
	if op == cue.OrOp {
		for _, a := range args {
			words(a, into)
		}
	}
}

// TestSizes: the sizes of the worker format are those of the code.
func TestSizes(t *testing.T) {
	n, err := definition(t, "#WorkerSizes").LookupPath(cue.ParsePath("source")).Int64()
	if err != nil || n != spec.MaxCodeBytes {
		t.Errorf("source size %d, %v; want %d", n, err, spec.MaxCodeBytes)
	}
}

// TestDefinitionsAreDocumented: a definition says what it is for.
func TestDefinitionsAreDocumented(t *testing.T) {
	files, err := filepath.Glob("*.cue")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(string(text), "\n")
		for i, line := range lines {
			if strings.HasPrefix(line, "#") && i > 0 && !strings.HasPrefix(lines[i-1], "//") && !strings.HasPrefix(file, "policy") {
				t.Errorf("cue/%s:%d: %s has no comment", file, i+1, line)
			}
		}
	}
}
