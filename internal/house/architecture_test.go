package house

import (
	"fmt"
	"go/ast"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestPageOfPackages: docs/packages.md lists every package with its level, what
// its document says first, and what of this module it imports.
// go test ./internal/house -run TestPageOfPackages -update writes it.
func TestPageOfPackages(t *testing.T) {
	type pkg struct {
		says    string
		imports map[string]bool
	}
	all := map[string]*pkg{}
	sources(t, func(dir string, file *ast.File, test bool) {
		if test || dir == "." {
			return
		}
		p := all[dir]
		if p == nil {
			p = &pkg{imports: map[string]bool{}}
			all[dir] = p
		}
		if file.Doc != nil && p.says == "" {
			p.says = sentence(file.Doc.Text())
		}
		for _, i := range file.Imports {
			path, _ := strconv.Unquote(i.Path.Value)
			if own, ok := strings.CutPrefix(path, module); ok {
				p.imports[own] = true
			}
		}
	})
	byLevel := map[int][]string{}
	for name := range all {
		l, _, ok := place(name)
		if !ok {
			t.Errorf("package %s has no level", name)
		}
		byLevel[l] = append(byLevel[l], name)
	}
	var b strings.Builder
	b.WriteString("# Packages\n\n<!-- Generated from the source by go test ./internal/house -run TestPageOfPackages -update. Do not edit. -->\n\n" +
		"A package imports only packages of a lower level, or of its own tree; a test holds that. Lower levels know nothing of higher ones: level 0 is contracts and data, the highest are programs.\n")
	for _, l := range slices.Backward(slices.Sorted(maps.Keys(byLevel))) {
		fmt.Fprintf(&b, "\n## Level %d\n\n| Package | What it is | Imports |\n|---|---|---|\n", l)
		slices.Sort(byLevel[l])
		for _, name := range byLevel[l] {
			imports := slices.Sorted(maps.Keys(all[name].imports))
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", name, strings.ReplaceAll(all[name].says, "|", "\\|"), strings.Join(imports, ", "))
		}
	}
	written(t, "packages.md", b.String())
}

// sentence is the first one of a document, on one line.
func sentence(doc string) string {
	text := strings.Join(strings.Fields(doc), " ")
	if i := strings.Index(text, ". "); i >= 0 {
		text = text[:i+1]
	}
	return text
}
