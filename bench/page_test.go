//go:build unix

package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPage: docs/performance.md is what bench writes with the figures that it
// has, with every table and row. go run ./bench page measures and writes it.
func TestPage(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "docs", "performance.md"))
	if err != nil {
		t.Fatal(err)
	}
	found := readPage(string(text))
	if d := cmp.Diff(page(found), string(text)); d != "" {
		t.Errorf("docs/performance.md is not what bench writes; go run ./bench page (-want +got):\n%s", d)
	}
	for _, id := range tableIDs() {
		m, ok := found[id]
		if !ok {
			t.Errorf("the table %s was not measured; go run ./bench page -only %s", id, id)
			continue
		}
		if wrong := tableOf(id).lacks(m); wrong != "" {
			t.Errorf("the table %s: %s", id, wrong)
		}
	}
}

// TestMeasurements: every table is measured once, and what a page says comes
// back from it.
func TestMeasurements(t *testing.T) {
	var all []string
	for _, m := range measurements {
		all = append(all, m.tables...)
	}
	if d := cmp.Diff(tableIDs(), all); d != "" {
		t.Errorf("tables of the page, and of the measurements:\n%s", d)
	}
	made := map[string]measured{}
	for _, id := range all {
		p := tableOf(id)
		m := measured{about: "2 cores, a day", rows: map[string][]string{}}
		for _, row := range p.rows {
			m.rows[row] = slices.Repeat([]string{"x1.00"}, len(p.columns)-1)
		}
		made[id] = m
	}
	if d := cmp.Diff(made, readPage(page(made)), cmp.AllowUnexported(measured{})); d != "" {
		t.Errorf("what comes back:\n%s", d)
	}
	delete(made["naive"].rows, "L3")
	if wrong := tableOf("naive").lacks(made["naive"]); !strings.Contains(wrong, "L3") {
		t.Errorf("a row that is not there: %q", wrong)
	}
}
