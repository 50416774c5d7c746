// Package house holds the tests that the repository makes of itself: one
// direction of imports, a package document for every package, no test that
// depends on the machine it was written on.
package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/toolwarrant/toolwarrant/"

// level orders the packages; one may import only what has a lower level, or
// its own tree. A package is placed by the longest prefix that names it.
var level = map[string]int{
	"internal/optional": -1,
	"fault":             0, "digest": 0, "internal/atomicfile": 0, "internal/suggest": 0, "internal/handed": 0, "internal/junit": 0, "internal/printable": 0, "internal/tick": 0, "internal/plural": 0, "internal/figures": 0, "cue": 0, "docs": 0, "rego": 0, "policy_test": 0, "schemas": 0,
	"keyring": 1, "spec/script": 1, "executor/worker": 1, "executor/confine": 2, "executor/mask": 1, "config": 1,
	"spec": 2, "internal/standardhook": 2,
	"decision": 3, "lint": 3, "authoring": 3,
	"resolver": 4, "approval": 4, "audit": 4, "catalog": 4,
	"executor/class": 4, "executor/egress": 4, "executor/filesystem": 4, "executor/parser": 4, "executor/secret": 4, "executor/js": 4,
	"executor/broker": 6, "executor/command": 6, "executor/process": 5, "executor/sandbox": 5, "impact": 5, "lint/regolint": 5,
	"executor": 7,
	"service":  8,
	"server":   9,
	"cmd":      10, "bench": 10, "internal": 10,
}

// siblings are packages of one level; the steps of a call do not know each
// other.
func place(pkg string) (int, string, bool) {
	for p := pkg; ; {
		if l, ok := level[p]; ok {
			return l, p, true
		}
		i := strings.LastIndexByte(p, '/')
		if i < 0 {
			return 0, "", false
		}
		p = p[:i]
	}
}

// sources gives every Go file of the repository, with its package folder.
func sources(t *testing.T, each func(dir string, file *ast.File, test bool)) {
	t.Helper()
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name := d.Name(); path != root && (strings.HasPrefix(name, ".") || name == "testdata" || name == "node_modules" || name == "tools" && filepath.Dir(path) == root) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		dir, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		each(filepath.ToSlash(dir), file, strings.HasSuffix(path, "_test.go"))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestImportsGoOneWay(t *testing.T) {
	seen := 0
	sources(t, func(dir string, file *ast.File, test bool) {
		if test {
			return
		}
		from, fromTree, ok := place(dir)
		if !ok {
			t.Errorf("package %s has no place in the order of packages", dir)
			return
		}
		for _, imp := range file.Imports {
			path, ours := strings.CutPrefix(strings.Trim(imp.Path.Value, `"`), module)
			if !ours {
				continue
			}
			seen++
			to, toTree, ok := place(path)
			if !ok || to > from || to == from && toTree != fromTree {
				t.Errorf("%s imports %s, against the direction of imports", dir, path)
			}
		}
	})
	if seen == 0 {
		t.Error("no import was looked at")
	}
}

func TestEveryPackageHasADocument(t *testing.T) {
	docs := map[string]bool{}
	sources(t, func(dir string, file *ast.File, test bool) {
		if !test {
			docs[dir] = docs[dir] || file.Doc != nil && strings.TrimSpace(file.Doc.Text()) != ""
		}
	})
	for dir, ok := range docs {
		if !ok {
			t.Errorf("package %s has no document", dir)
		}
	}
}

// TestExportedNamesAreDocumented keeps what a reader of pkg.go.dev sees
// explained.
func TestExportedNamesAreDocumented(t *testing.T) {
	total, bare := 0, []string{}
	note := func(dir, name string, doc ...*ast.CommentGroup) {
		if !ast.IsExported(name) {
			return
		}
		total++
		if !slices.ContainsFunc(doc, func(c *ast.CommentGroup) bool { return c != nil }) {
			bare = append(bare, dir+"."+name)
		}
	}
	sources(t, func(dir string, file *ast.File, test bool) {
		if test || strings.HasPrefix(dir, "internal/") || file.Name.Name == "main" {
			return
		}
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil || ast.IsExported(receiver(d)) {
					note(dir, d.Name.Name, d.Doc)
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					switch s := s.(type) {
					case *ast.TypeSpec:
						note(dir, s.Name.Name, s.Doc, d.Doc)
					case *ast.ValueSpec:
						for _, n := range s.Names {
							note(dir, n.Name, s.Doc, s.Comment, d.Doc)
						}
					}
				}
			}
		}
	})
	if share := 1 - float64(len(bare))/float64(total); total == 0 || share < 0.95 {
		t.Errorf("%.0f %% of %d exported names are documented; not: %v", share*100, total, bare)
	}
}

func receiver(d *ast.FuncDecl) string {
	e := d.Recv.List[0].Type
	if star, ok := e.(*ast.StarExpr); ok {
		e = star.X
	}
	if index, ok := e.(*ast.IndexExpr); ok {
		e = index.X
	}
	id, _ := e.(*ast.Ident)
	if id == nil {
		return ""
	}
	return id.Name
}

// TestLicence keeps the text that the header of the README names.
func TestLicence(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "LICENSE"))
	if err != nil || !strings.Contains(string(text), "Apache License") || !strings.Contains(string(text), "Version 2.0") {
		t.Errorf("LICENSE is not the Apache License 2.0 (%v)", err)
	}
}
