package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/build"
	"cuelang.org/go/cue/cuecontext"
	"cuelang.org/go/cue/load"
	"cuelang.org/go/encoding/jsonschema"
)

// base is where the schemas live on the web; the file name follows.
const base = "https://toolwarrant.dev/schemas/"

// Generate gives the content of every schema file by its name.
func Generate(sources fs.FS) (map[string][]byte, error) {
	pkg, err := buildPackage(sources)
	if err != nil {
		return nil, err
	}
	table := pkg.LookupPath(cue.ParsePath("#Schemas"))
	it, err := table.Fields()
	if err != nil {
		return nil, err
	}
	out := map[string][]byte{}
	for it.Next() {
		var entry struct{ Definition, Title string }
		if err := it.Value().Decode(&entry); err != nil {
			return nil, err
		}
		name := it.Selector().Unquoted()
		if out[name], err = schema(pkg, name, entry.Definition, entry.Title); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return out, nil
}

// buildPackage builds the CUE package of sources, the files of its root folder.
func buildPackage(sources fs.FS) (cue.Value, error) {
	overlay := map[string]load.Source{}
	const root = "/cue"
	err := fs.WalkDir(sources, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(sources, p)
		overlay[path.Join(root, p)] = load.FromBytes(b)
		return err
	})
	if err != nil {
		return cue.Value{}, err
	}
	var inst *build.Instance
	for _, i := range load.Instances([]string{"."}, &load.Config{Dir: root, ModuleRoot: root, Overlay: overlay}) {
		inst = i
	}
	if inst.Err != nil {
		return cue.Value{}, inst.Err
	}
	v := cuecontext.New().BuildInstance(inst)
	return v, v.Err()
}

// schema generates one document and improves what the CUE encoder leaves.
func schema(pkg cue.Value, name, definition, title string) ([]byte, error) {
	v := pkg.LookupPath(cue.ParsePath(definition))
	if err := v.Err(); err != nil {
		return nil, err
	}
	expr, err := jsonschema.Generate(v, &jsonschema.GenerateConfig{Version: jsonschema.VersionDraft2020_12})
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(pkg.Context().BuildExpr(expr))
	if err != nil {
		return nil, err
	}
	var doc map[string]any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := dec.Decode(&doc); err != nil {
		return nil, err
	}
	bounds(pkg, definition, doc)
	doc = nullable(doc).(map[string]any)
	doc["$id"] = base + name
	doc["title"] = title
	return encode(doc)
}
