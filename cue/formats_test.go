package cue_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/cuecontext"
	"cuelang.org/go/cue/load"
	cuejson "cuelang.org/go/encoding/json"
	"github.com/santhosh-tekuri/jsonschema/v6"

	formats "github.com/toolwarrant/toolwarrant/cue"
	"github.com/toolwarrant/toolwarrant/schemas"
)

// pkg is the CUE package as it is embedded.
var pkg = sync.OnceValues(func() (cue.Value, error) {
	root, err := filepath.Abs(string(filepath.Separator) + "formats")
	if err != nil {
		return cue.Value{}, err
	}
	overlay := map[string]load.Source{}
	err = fs.WalkDir(formats.FS, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := fs.ReadFile(formats.FS, p)
		overlay[filepath.Join(root, filepath.FromSlash(p))] = load.FromBytes(content)
		return err
	})
	if err != nil {
		return cue.Value{}, err
	}
	insts := load.Instances([]string{"."}, &load.Config{Dir: root, ModuleRoot: root, Overlay: overlay})
	if insts[0].Err != nil {
		return cue.Value{}, insts[0].Err
	}
	v := cuecontext.New().BuildInstance(insts[0])
	return v, v.Err()
})

func definition(t *testing.T, name string) cue.Value {
	t.Helper()
	v, err := pkg()
	if err != nil {
		t.Fatal(err)
	}
	def := v.LookupPath(cue.ParsePath(name))
	if !def.Exists() {
		t.Fatalf("no definition %s", name)
	}
	return def
}

// byCUE says what CUE finds wrong with a document.
func byCUE(t *testing.T, def string, doc []byte) error {
	t.Helper()
	schema := definition(t, def)
	expr, err := cuejson.Extract("doc.json", doc)
	if err != nil {
		return err
	}
	return schema.Unify(cuecontext.New().BuildExpr(expr)).Validate(cue.Concrete(true))
}

// compiled keeps the schemas of schemaOf by definition.
var compiled sync.Map

// schemaOf gives the generated schema of a definition, or nil when there is
// none or it is looser on purpose.
func schemaOf(t *testing.T, def string) *jsonschema.Schema {
	t.Helper()
	if s, ok := compiled.Load(def); ok {
		return s.(*jsonschema.Schema)
	}
	s := compileSchema(t, def)
	compiled.Store(def, s)
	return s
}

func compileSchema(t *testing.T, def string) *jsonschema.Schema {
	t.Helper()
	rows, err := definition(t, "#Schemas").Fields()
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		var row struct {
			Definition string   `json:"definition"`
			Open       []string `json:"open"`
		}
		if err := rows.Value().Decode(&row); err != nil {
			t.Fatal(err)
		}
		if row.Definition != def || len(row.Open) > 0 {
			continue
		}
		name := rows.Selector().Unquoted()
		text, err := fs.ReadFile(schemas.FS, name)
		if err != nil {
			t.Fatal(err)
		}
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
		if err != nil {
			t.Fatal(err)
		}
		c := jsonschema.NewCompiler()
		if err := c.AddResource(name, doc); err != nil {
			t.Fatal(err)
		}
		s, err := c.Compile(name)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	return nil
}

func bySchema(s *jsonschema.Schema, doc []byte) error {
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(string(doc)))
	if err != nil {
		return err
	}
	return s.Validate(v)
}

// verdict is what CUE says, after making sure that the JSON Schema says the
// same.
func verdict(t *testing.T, def string, doc []byte) error {
	t.Helper()
	c := byCUE(t, def, doc)
	if s := schemaOf(t, def); s != nil {
		if j := bySchema(s, doc); (c == nil) != (j == nil) {
			t.Errorf("CUE and JSON Schema do not agree on %s:\nCUE: %v\nJSON Schema: %v\n%s", def, c, j, doc)
		}
	}
	return c
}

// change applies one edit, written "/a/b=json" or "-/a/b", to a JSON value.
func change(doc any, edit string) (any, error) {
	remove := strings.HasPrefix(edit, "-")
	pointer, text, set := strings.Cut(strings.TrimPrefix(edit, "-"), "=")
	if remove == set {
		return nil, fmt.Errorf("%q neither sets nor removes", edit)
	}
	steps := strings.Split(pointer, "/")[1:]
	at := doc
	for _, step := range steps[:len(steps)-1] {
		switch v := at.(type) {
		case map[string]any:
			at = v[unescape(step)]
		case []any:
			var i int
			if _, err := fmt.Sscan(step, &i); err != nil || i >= len(v) {
				return nil, fmt.Errorf("%q: no entry %q", edit, step)
			}
			at = v[i]
		}
	}
	m, ok := at.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%q: no object there", edit)
	}
	name := unescape(steps[len(steps)-1])
	if remove {
		if _, there := m[name]; !there {
			return nil, fmt.Errorf("%q: nothing to remove", edit)
		}
		delete(m, name)
		return doc, nil
	}
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		return nil, errors.Join(fmt.Errorf("%q", edit), err)
	}
	m[name] = v
	return doc, nil
}

func unescape(step string) string {
	return strings.ReplaceAll(strings.ReplaceAll(step, "~1", "/"), "~0", "~")
}
