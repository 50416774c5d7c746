package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Nothing in a cell steers a terminal or looks like another row.
func TestTable(t *testing.T) {
	var out bytes.Buffer
	table := newTable(&out, "NAME", "WHY")
	_ = table.add("a\x1b[2J", "b\nforged  ACTIVE\tyes")
	_ = table.add("c", "")
	if err := table.flush(); err != nil {
		t.Fatal(err)
	}
	const want = "NAME        WHY\n" + `a\u001b[2J  b\nforged  ACTIVE\tyes` + "\nc\n"
	if got := out.String(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Each table of the command line is one of these.
func TestOneTable(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if file != "table.go" && file != "table_test.go" && strings.Contains(string(text), `"text/tabwriter"`) {
			t.Errorf("%s writes a table by itself; use newTable", file)
		}
	}
}
