package house

import (
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/cuecontext"
)

// TestPageOfErrors: docs/errors.md has every code of cue/errors.cue and every
// reason that the code of the product gives with it.
// go test ./internal/house -run TestPageOfErrors -update writes it.
func TestPageOfErrors(t *testing.T) {
	source, err := os.ReadFile(filepath.Join("..", "..", "cue", "errors.cue"))
	if err != nil {
		t.Fatal(err)
	}
	table := cuecontext.New().CompileBytes(source).LookupPath(cue.ParsePath("#ErrorTable"))
	rows, err := table.Fields()
	if err != nil {
		t.Fatal(err)
	}
	given := reasons(t)
	var b strings.Builder
	b.WriteString("# Errors\n\n<!-- Generated from cue/errors.cue and from the source by go test ./internal/house -run TestPageOfErrors -update. Do not edit. -->\n\n" +
		"Every failure has a code, and most have a reason below it. Both are stable: codes and reasons are added and never change their meaning. The outcome is what a call that fails so is recorded with, the exit status is that of a command. A reason that a gate of the runtime adds is in [runtime.md](runtime.md).\n\n" +
		"| Code | Outcome | Exit | When | Reasons |\n|---|---|---|---|---|\n")
	for rows.Next() {
		code := rows.Selector().String()
		row := rows.Value()
		text := func(field string) string {
			s, err := row.LookupPath(cue.ParsePath(field)).String()
			if err != nil {
				t.Fatal(code, err)
			}
			return s
		}
		exit, err := row.LookupPath(cue.ParsePath("exit")).Int64()
		if err != nil {
			t.Fatal(code, err)
		}
		all := given[code]
		if list, err := row.LookupPath(cue.ParsePath("reasons")).List(); err == nil {
			for list.Next() {
				r, _ := list.Value().String()
				all = append(all, r)
			}
		}
		slices.Sort(all)
		shown := ""
		for i, r := range slices.Compact(all) {
			if i > 0 {
				shown += ", "
			}
			shown += "`" + r + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %d | %s | %s |\n", code, text("outcome"), exit, text("note"), shown)
		delete(given, code)
	}
	for code := range maps.Keys(given) {
		t.Errorf("the source gives %s, which cue/errors.cue does not have", code)
	}
	written(t, "errors.md", b.String())
}

// reasons gives, by code, the literal reasons of all fault.New calls of the
// product.
func reasons(t *testing.T) map[string][]string {
	t.Helper()
	codes := map[string]string{} // constant of package fault -> code
	sources(t, func(dir string, file *ast.File, test bool) {
		if dir != "fault" || test {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			v, ok := n.(*ast.ValueSpec)
			if !ok || len(v.Values) != 1 {
				return true
			}
			if typ, ok := v.Type.(*ast.Ident); ok && typ.Name == "Code" {
				codes[v.Names[0].Name] = literal(v.Values[0])
			}
			return true
		})
	})
	named := map[string]string{} // package.constant -> its text
	sources(t, func(dir string, file *ast.File, test bool) {
		for _, d := range file.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.CONST || test {
				continue
			}
			for _, sp := range g.Specs {
				v := sp.(*ast.ValueSpec)
				for i, value := range v.Values {
					named[dir+"."+v.Names[i].Name] = literal(value)
				}
			}
		}
	})
	out := map[string][]string{}
	sources(t, func(dir string, file *ast.File, test bool) {
		if test || strings.HasPrefix(dir, "bench") || strings.HasPrefix(dir, "internal") {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) < 2 {
				return true
			}
			// fault.New and the wrappers that take a code and a reason
			// among their first arguments.
			for i, arg := range call.Args[:len(call.Args)-1] {
				sel, ok := arg.(*ast.SelectorExpr)
				if !ok {
					continue
				}
				if x, ok := sel.X.(*ast.Ident); !ok || x.Name != "fault" {
					continue
				}
				code := codes[sel.Sel.Name]
				for _, next := range call.Args[i+1 : min(i+3, len(call.Args))] {
					r := literal(next)
					if name, ok := next.(*ast.Ident); ok {
						r = named[dir+"."+name.Name]
					}
					if code != "" && isSlug(r) {
						out[code] = append(out[code], r)
						break
					}
				}
			}
			return true
		})
	})
	return out
}

func literal(e ast.Expr) string {
	if l, ok := e.(*ast.BasicLit); ok && l.Kind == token.STRING {
		s, _ := strconv.Unquote(l.Value)
		return s
	}
	return ""
}

// isSlug tells a reason from the name of a helper or a sentence.
func isSlug(s string) bool {
	if s == "" {
		return false
	}
	for _, r := range s {
		if r != '-' && (r < 'a' || r > 'z') && (r < '0' || r > '9') {
			return false
		}
	}
	return true
}

// written compares a page of docs with what it has to be, and writes it first
// with -update.
func written(t *testing.T, page, want string) {
	t.Helper()
	file := filepath.Join("..", "..", "docs", page)
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(file)
	if err != nil || strings.ReplaceAll(string(have), "\r\n", "\n") != want {
		t.Errorf("docs/%s is not what it is made from (%v); go test ./internal/house -run %s -update", page, err, t.Name())
	}
}
