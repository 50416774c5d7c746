package catalog

import (
	"bytes"
	"io/fs"
	"os"
	"path"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/toolwarrant/toolwarrant/schemas"
)

// conforms validates data against one of the generated JSON Schemas.
func conforms(t *testing.T, schema, what string, data []byte) {
	t.Helper()
	raw, err := fs.ReadFile(schemas.FS, schema)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource(schema, doc); err != nil {
		t.Fatal(err)
	}
	compiled, err := compiler.Compile(schema)
	if err != nil {
		t.Fatal(err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if err := compiled.Validate(value); err != nil {
		t.Errorf("%s: %v", what, err)
	}
}

func TestFilesConformToTheirFormats(t *testing.T) {
	for _, name := range []string{"manifest", "presets", "vocabulary"} {
		data, err := fs.ReadFile(bundledFiles, name+".json")
		if err != nil {
			t.Fatal(err)
		}
		conforms(t, name+".schema.json", name+".json", data)
	}
	fixtures, err := fs.Glob(bundledFiles, path.Join("tools", "*", fixtureFile))
	if err != nil || len(fixtures) == 0 {
		t.Fatalf("%v, %v", fixtures, err)
	}
	for _, file := range fixtures {
		data, err := fs.ReadFile(bundledFiles, file)
		if err != nil {
			t.Fatal(err)
		}
		conforms(t, "fixtures.schema.json", file, data)
	}

	c := mustOpen(t, Options{Home: t.TempDir()})
	setPass(t, c, lookup(t, c, "hash"))
	choose(t, c, "uuid", ExposureHidden)
	keep(t, c, func(k *Kept) {
		k.Preset, k.AutoExpose = "everything", false
		k.Approvals["test"] = Standing{Mode: "DISABLED", Reason: "r", By: "uid:1", At: time.Now().UTC().Truncate(time.Millisecond)}
	})
	if err := c.SetPass(t.Context(), lookup(t, c, "hmac").Spec.ToolID, nil); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(c.statePath())
	if err != nil {
		t.Fatal(err)
	}
	conforms(t, "state.schema.json", "state.json", data)
}
