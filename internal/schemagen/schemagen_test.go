package main

import (
	"encoding/json"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/toolwarrant/toolwarrant/cue"
	"github.com/toolwarrant/toolwarrant/schemas"
)

// TestDrift: the checked-in schemas are exactly what the CUE sources give.
func TestDrift(t *testing.T) {
	want, err := Generate(cue.FS)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Generate(cue.FS)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, again); d != "" {
		t.Errorf("two runs differ:\n%s", d)
	}
	names, err := fs.Glob(schemas.FS, "*.json")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(slices.Sorted(maps.Keys(want)), names); d != "" {
		t.Errorf("schema files (-want +got), run \"go generate ./cue\" and delete what is no longer generated:\n%s", d)
	}
	for name, content := range want {
		got, err := fs.ReadFile(schemas.FS, name)
		if err != nil {
			t.Errorf("schemas/%s is missing; run \"go generate ./cue\"", name)
			continue
		}
		if d := cmp.Diff(string(content), string(got)); d != "" {
			t.Errorf("schemas/%s does not follow from cue/ (-want +got); run \"go generate ./cue\":\n%s", name, d)
		}
	}
}

// TestMetaSchema: every schema is a valid 2020-12 schema under its own name.
func TestMetaSchema(t *testing.T) {
	names, err := fs.Glob(schemas.FS, "*.json")
	if err != nil {
		t.Fatal(err)
	}
	meta, err := jsonschema.NewCompiler().Compile("https://json-schema.org/draft/2020-12/schema")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		text, err := fs.ReadFile(schemas.FS, name)
		if err != nil {
			t.Fatal(err)
		}
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
		if err != nil {
			t.Fatal(err)
		}
		if err := meta.Validate(doc); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		top := doc.(map[string]any)
		if top["$schema"] != "https://json-schema.org/draft/2020-12/schema" || top["$id"] != "https://toolwarrant.dev/schemas/"+name {
			t.Errorf("%s calls itself %v of %v", name, top["$id"], top["$schema"])
		}
		if title, _ := top["title"].(string); title == "" {
			t.Errorf("%s has no title", name)
		}
	}
}

// TestNothingLost: what the CUE encoder leaves out without a word has to be
// noticed, or a schema would accept more than its source.
func TestNothingLost(t *testing.T) {
	const source = `package toolwarrant
import "struct"
#Schemas: "x.json": {definition: "#X", title: "x", defaults: "#D"}
#X: {
	one?: null | #One
	count?: null | int & >=0
	size?: int & >=1 & <=9
	ref?: #One
}
#One: {[string]: string} & struct.MinFields(1) & struct.MaxFields(2)
#D: #X & {size: 3}
`
	got, err := Generate(fstest.MapFS{
		"x.cue":              {Data: []byte(source)},
		"cue.mod/module.cue": {Data: []byte("module: \"example.org/x\"\nlanguage: version: \"v0.17.0\"\n")},
	})
	if err != nil {
		t.Fatal(err)
	}
	var doc, want any
	if err := json.Unmarshal(got["x.json"], &doc); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(`{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": "https://toolwarrant.dev/schemas/x.json", "title": "x",
		"type": "object", "additionalProperties": false,
		"properties": {
			"one": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/One"}]},
			"count": {"type": ["integer", "null"], "minimum": 0},
			"size": {"type": "integer", "minimum": 1, "maximum": 9, "default": 3},
			"ref": {"$ref": "#/$defs/One"}
		},
		"$defs": {"One": {"type": "object", "additionalProperties": {"type": "string"}, "minProperties": 1, "maxProperties": 2}}
	}`), &want); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, doc); d != "" {
		t.Errorf("schema (-want +got):\n%s", d)
	}
}

func TestGenerateErrors(t *testing.T) {
	module := &fstest.MapFile{Data: []byte("module: \"example.org/x\"\nlanguage: version: \"v0.17.0\"\n")}
	for name, source := range map[string]string{
		"not CUE":            "package toolwarrant\n#Schemas: {",
		"no table":           "package toolwarrant\na: 1\n",
		"no definition":      "package toolwarrant\n#Schemas: \"x.json\": {definition: \"#X\", title: \"x\"}\n",
		"open and not used":  "package toolwarrant\n#Schemas: \"x.json\": {definition: \"#X\", title: \"x\", open: [\"#Y\"]}\n#X: a!: 1\n",
		"default of nothing": "package toolwarrant\n#Schemas: \"x.json\": {definition: \"#X\", title: \"x\", defaults: \"#D\"}\n#X: a?: int\n#D: b: 1\n",
		"two defaults": "package toolwarrant\n#Schemas: \"x.json\": {definition: \"#X\", title: \"x\", defaults: \"#D\"}\n" +
			"#X: {a?: #F, b?: #F}\n#F: n?: int\n#D: #X & {a: n: 1, b: n: 2}\n",
	} {
		if _, err := Generate(fstest.MapFS{"x.cue": {Data: []byte(source)}, "cue.mod/module.cue": module}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
