package house

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolwarrant/toolwarrant/schemas"
	"github.com/toolwarrant/toolwarrant/spec"
)

const ownPrefix = "x-toolwarrant-"

// extensions are the members of our own that the schema of a document knows,
// which is generated from cue/spec.cue.
func extensions(t *testing.T) []string {
	t.Helper()
	text, err := schemas.FS.ReadFile("safe-tool-spec.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var schema struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	var names []string
	for name := range schema.Properties {
		if strings.HasPrefix(name, ownPrefix) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	if len(names) == 0 {
		t.Fatal("the schema knows none")
	}
	return names
}

// TestExtensions: the page, the linter, the digest and every line of code that
// names one know the members that the schema knows, and no others.
func TestExtensions(t *testing.T) {
	want := extensions(t)
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "extensions.md"))
	if err != nil {
		t.Fatal(err)
	}
	sections := map[string]string{}
	for _, part := range strings.Split(strings.ReplaceAll(string(page), "\r\n", "\n"), "\n## ")[1:] {
		name, text, _ := strings.Cut(part, "\n")
		sections[name] = text
		if !strings.Contains(string(page), "| [`"+name+"`](#"+strings.ToLower(name)+") |") {
			t.Errorf("the table does not list %s", name)
		}
	}
	if diff := cmp.Diff(want, sortedNames(sections)); diff != "" {
		t.Errorf("sections of docs/extensions.md, schema first: %s", diff)
	}
	for name, text := range sections {
		for _, row := range []string{"| Type |", "| Default |", "| Read by |", "```json\n"} {
			if !strings.Contains(text, row) {
				t.Errorf("%s lacks %q", name, strings.TrimSpace(row))
			}
		}
		example := regexp.MustCompile("(?s)```json\n(.*?)```").FindStringSubmatch(text)
		if example != nil {
			counts(t, name, example[1])
		}
	}

	text, err := os.ReadFile(filepath.Join("..", "..", "rego", "data.json"))
	if err != nil {
		t.Fatal(err)
	}
	var data struct {
		Toolwarrant struct {
			Settings struct {
				Lint struct{ Extensions []string }
			}
		}
	}
	if err := json.Unmarshal(text, &data); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, data.Toolwarrant.Settings.Lint.Extensions); diff != "" {
		t.Errorf("lint.extensions of rego/data.json: %s", diff)
	}
	for _, name := range namedInCode(t) {
		if !slices.Contains(want, name) {
			t.Errorf("the code names %s, which the schema does not know", name)
		}
	}
}

// counts takes the example at its word: a valid document, whose digest is
// another with the member.
func counts(t *testing.T, name, members string) {
	t.Helper()
	document := map[string]json.RawMessage{"name": []byte(`"example"`), "code": []byte(`"return 1"`), "codeType": []byte(`"Javascript"`)}
	if err := json.Unmarshal([]byte(members), &document); err != nil {
		t.Fatal(err)
	}
	digest := func() string {
		raw, err := json.Marshal(document)
		if err != nil {
			t.Fatal(err)
		}
		s, faults := spec.Parse("example.json", raw)
		if len(faults) > 0 {
			t.Fatal(faults[0])
		}
		return s.Digest()
	}
	with := digest()
	document[name] = []byte("null")
	null := digest()
	delete(document, name)
	if without := digest(); with == without || null != without {
		t.Errorf("%s: the digest with the member %s, as null %s, without %s", name, with, null, without)
	}
}

func sortedNames(m map[string]string) []string {
	var out []string
	for name := range m {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// namedInCode finds the names in the Go that is no test.
func namedInCode(t *testing.T) []string {
	t.Helper()
	var out []string
	names := regexp.MustCompile(ownPrefix + `[A-Za-z]+`)
	for _, dir := range []string{"spec", "lint", "resolver", "executor", "catalog", "service"} {
		files, err := filepath.Glob(filepath.Join("..", "..", dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if strings.HasSuffix(f, "_test.go") {
				continue
			}
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, names.FindAllString(string(text), -1)...)
		}
	}
	return out
}
