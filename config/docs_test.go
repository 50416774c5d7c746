package config

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolwarrant/toolwarrant/schemas"
)

var update = flag.Bool("update", false, "write the part of docs/config.md that is made from the schema")

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

// made begins the part of docs/config.md that is made from the schema.
const made = "<!-- From here on made from cue/config.cue by go test ./config -run TestReference -update. Do not edit. -->\n"

// TestReference: docs/config.md has every key as the schema states it.
// go test ./config -run TestReference -update writes it.
func TestReference(t *testing.T) {
	text, err := schemas.FS.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	r := reference{}
	if err := json.Unmarshal(text, &r.root); err != nil {
		t.Fatal(err)
	}
	r.page()

	file := filepath.Join("..", "docs", "config.md")
	have, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	prose, tables, ok := strings.Cut(strings.ReplaceAll(string(have), "\r\n", "\n"), made)
	if !ok {
		t.Fatalf("docs/config.md lacks the line %s", made)
	}
	if tables == r.out.String() {
		return
	}
	if !*update {
		t.Fatal("docs/config.md is not what the schema says; go test ./config -run TestReference -update")
	}
	if err := os.WriteFile(file, []byte(prose+made+r.out.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// stated is what the schema states of one key, bounds included.
type stated struct {
	Ref, Type, Description string
	Enum                   []string
	Default                json.RawMessage
	Minimum, Maximum       *float64
	Properties             map[string]*stated
	Required               []string
	Items                  *stated
	Defs                   map[string]*stated
}

func (s *stated) UnmarshalJSON(b []byte) error {
	type plain stated
	var refs struct {
		Ref  string             `json:"$ref"`
		Defs map[string]*stated `json:"$defs"`
	}
	if err := json.Unmarshal(b, &refs); err != nil {
		return err
	}
	s.Ref, s.Defs = refs.Ref, refs.Defs
	return json.Unmarshal(b, (*plain)(s))
}

// reference writes the tables of the page.
type reference struct {
	root stated
	out  strings.Builder
}

// at is the key itself, whether it is stated in place or by reference.
func (r *reference) at(s *stated) *stated {
	if s.Ref == "" {
		return s
	}
	out := *r.root.Defs[strings.TrimPrefix(s.Ref, "#/$defs/")]
	if s.Description != "" {
		out.Description = s.Description
	}
	return &out
}

func (r *reference) page() {
	const head = "| key | variable | type | default | meaning |\n|---|---|---|---|---|\n"
	r.out.WriteString("\n## Keys\n\nA row without a default is a group of those that follow.\n\n### Of no section\n\n" + head)
	for _, name := range sorted(r.root.Properties) {
		if k := r.at(r.root.Properties[name]); k.Type != "object" {
			r.row([]string{name}, k)
		}
	}
	for _, name := range sorted(r.root.Properties) {
		k := r.at(r.root.Properties[name])
		if k.Type != "object" {
			continue
		}
		fmt.Fprintf(&r.out, "\n### %s\n\n%s\n\n%s", name, oneLine(k.Description), head)
		lists := r.rows([]string{name}, k)
		for _, list := range lists {
			fmt.Fprintf(&r.out, "\nMembers of an entry of `%s`. %s\n\n| member | type | has to be there | meaning |\n|---|---|---|---|\n", list.key, oneLine(list.of.Description))
			for _, m := range sorted(list.of.Properties) {
				needed := "no"
				if slices.Contains(list.of.Required, m) {
					needed = "yes"
				}
				of := r.at(list.of.Properties[m])
				fmt.Fprintf(&r.out, "| `%s` | %s | %s | %s |\n", m, r.kind(of), needed, oneLine(of.Description))
			}
		}
	}
}

// listOf is a list whose entries have members.
type listOf struct {
	key string
	of  *stated
}

// rows writes those below a group, plain keys first, and gives the lists that
// need tables of their own.
func (r *reference) rows(path []string, group *stated) (lists []listOf) {
	names := sorted(group.Properties)
	slices.SortStableFunc(names, func(a, b string) int { return r.rank(group, a) - r.rank(group, b) })
	for _, name := range names {
		k, below := r.at(group.Properties[name]), extend(path, name)
		r.row(below, k)
		if k.Type == "object" {
			lists = append(lists, r.rows(below, k)...)
		}
		if k.Type == "array" {
			if of := r.at(k.Items); of.Type == "object" {
				lists = append(lists, listOf{dotted(below), of})
			}
		}
	}
	return lists
}

func (r *reference) rank(group *stated, name string) int {
	if r.at(group.Properties[name]).Type == "object" {
		return 1
	}
	return 0
}

func (r *reference) row(path []string, k *stated) {
	value, kind := "", r.kind(k)
	if k.Type != "object" {
		value = "`" + string(k.Default) + "`"
	}
	fmt.Fprintf(&r.out, "| `%s` | `%s` | %s | %s | %s |\n", dotted(path), variable(path), kind, value, oneLine(k.Description))
}

// kind says in words what a value may be.
func (r *reference) kind(k *stated) string {
	switch {
	case len(k.Enum) > 0:
		return oneOf(k.Enum)
	case k.Type == "object":
		return "group"
	case k.Type == "array":
		of := r.at(k.Items)
		switch {
		case len(of.Enum) > 0:
			return "list of " + oneOf(of.Enum)
		case of.Type == "object":
			return "list of the entries below"
		}
		return "list of texts"
	case k.Type == "boolean":
		return oneOf([]string{"true", "false"})
	case k.Type == "integer" && k.Minimum != nil && k.Maximum != nil:
		return fmt.Sprintf("whole number, %.0f to %.0f", *k.Minimum, *k.Maximum)
	case k.Type == "integer" && k.Minimum != nil:
		return fmt.Sprintf("whole number, %.0f or more", *k.Minimum)
	case k.Type == "integer":
		return "whole number"
	}
	return "text"
}

func oneOf(words []string) string {
	last := len(words) - 1
	return "`" + strings.Join(words[:last], "`, `") + "` or `" + words[last] + "`"
}

// oneLine is a comment of the schema as one cell.
func oneLine(doc string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(doc), " "), "|", "\\|")
}
