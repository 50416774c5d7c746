package config

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSample: the sample has every key and changes nothing.
func TestSample(t *testing.T) {
	file := filepath.Join("..", "docs", "config.sample.yaml")
	got, err := Load(file, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(defaultConfig(), got); d != "" {
		t.Errorf("the sample is not the defaults (-want +got):\n%s", d)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	tree, err := parse(file, data)
	if err != nil {
		t.Fatal(err)
	}
	s, err := loadSchema()
	if err != nil {
		t.Fatal(err)
	}
	s.root.walk(func(k *key) {
		n := tree
		for _, step := range k.path {
			m := n.member(step)
			if m == nil {
				t.Errorf("the sample lacks %s", dotted(k.path))
				return
			}
			n = m.node
		}
	})
}

// TestReference: docs/config.md has a row with the name, the variable and
// the default of every key.
func TestReference(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "docs", "config.md"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := loadSchema()
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	s.root.walk(func(k *key) {
		if k.kind == object {
			return
		}
		rows++
		start := "| `" + dotted(k.path) + "` | `" + variable(k.path) + "` | "
		_, row, ok := strings.Cut(string(text), start)
		if !ok {
			t.Errorf("docs/config.md lacks a row %q", start)
			return
		}
		row, _, _ = strings.Cut(row, "\n")
		value, err := json.Marshal(k.fallback.plain())
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(row, "| `"+string(value)+"` |") {
			t.Errorf("docs/config.md: %s does not have the default %s: %s", dotted(k.path), value, row)
		}
		if doc := strings.Join(strings.Fields(k.doc), " "); !strings.HasSuffix(row, "| "+doc+" |") {
			t.Errorf("docs/config.md: %s is not described as %q", dotted(k.path), doc)
		}
	})
	if got := strings.Count(string(text), "| `TOOLWARRANT_"); got != rows {
		t.Errorf("docs/config.md has %d rows for %d keys", got, rows)
	}
}
