//go:build unix

package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolwarrant/toolwarrant/internal/figures"
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

type attribute struct{ key, value string }

func (a *attribute) Attr(key, value string) { *a = attribute{key, value} }

// TestSaidAndRead: what a test says is what the page reads.
func TestSaidAndRead(t *testing.T) {
	var a attribute
	figures.Say(&a, "naive", "88 tools", figures.Millis(1500*time.Microsecond), figures.Times(3*time.Second, 2*time.Second), figures.Ratio(0.5))
	got, ok := readRow("=== ATTR  TestRatios/some " + a.key + " " + a.value)
	if want := (row{"naive", "88 tools", []string{"1.50 ms", "x1.50", "x0.50"}}); !ok || !cmp.Equal(want, got, cmp.AllowUnexported(row{})) {
		t.Errorf("%v %v", ok, got)
	}
	for _, other := range []string{"", "=== ATTR ", "=== RUN   TestRatios", "=== ATTR  TestRatios colour red | blue | green", "=== ATTR  TestRatios figures a | b"} {
		if r, ok := readRow(other); ok {
			t.Errorf("%q is %v", other, r)
		}
	}
}
