package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/cuecontext"
	"cuelang.org/go/cue/load"
	"cuelang.org/go/encoding/jsonschema"
)

// base is where the schemas live on the web; the file name follows.
const base = "https://toolwarrant.dev/schemas/"

// entry is one row of #Schemas.
type entry struct {
	Definition string   `json:"definition"`
	Title      string   `json:"title"`
	Defaults   string   `json:"defaults"`
	Open       []string `json:"open"`
}

// Generate gives the content of every schema file by its name. It depends on
// sources alone: equal sources give equal bytes.
func Generate(sources fs.FS) (map[string][]byte, error) {
	pkg, err := buildPackage(sources)
	if err != nil {
		return nil, err
	}
	table := pkg.LookupPath(cue.ParsePath("#Schemas"))
	if !table.Exists() {
		return nil, errors.New("the CUE package has no #Schemas")
	}
	rows, err := table.Fields()
	if err != nil {
		return nil, err
	}
	out := map[string][]byte{}
	for rows.Next() {
		var row entry
		if err := rows.Value().Decode(&row); err != nil {
			return nil, err
		}
		name := rows.Selector().Unquoted()
		if out[name], err = schema(pkg, name, row); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return out, nil
}

// buildPackage builds the CUE package in the root folder of sources. It reads
// nothing else: the sources lie over the disk at a path of their own.
func buildPackage(sources fs.FS) (cue.Value, error) {
	root, err := filepath.Abs(string(filepath.Separator) + "cue")
	if err != nil {
		return cue.Value{}, err
	}
	overlay := map[string]load.Source{}
	err = fs.WalkDir(sources, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := fs.ReadFile(sources, p)
		overlay[filepath.Join(root, filepath.FromSlash(p))] = load.FromBytes(content)
		return err
	})
	if err != nil {
		return cue.Value{}, err
	}
	instances := load.Instances([]string{"."}, &load.Config{Dir: root, ModuleRoot: root, Overlay: overlay})
	if err := instances[0].Err; err != nil {
		return cue.Value{}, err
	}
	v := cuecontext.New().BuildInstance(instances[0])
	return v, v.Err()
}

// schema generates one document with CUE's own encoder and then adds what
// that encoder leaves out; see improve.go.
func schema(pkg cue.Value, name string, row entry) ([]byte, error) {
	v := pkg.LookupPath(cue.ParsePath(row.Definition))
	if err := v.Err(); err != nil {
		return nil, err
	}
	expr, err := jsonschema.Generate(v, &jsonschema.GenerateConfig{Version: jsonschema.VersionDraft2020_12})
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(cuecontext.New().BuildExpr(expr))
	if err != nil {
		return nil, err
	}
	doc := map[string]any{}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := dec.Decode(&doc); err != nil {
		return nil, err
	}
	if err := loosen(doc, row.Open); err != nil {
		return nil, err
	}
	bounds(pkg, row.Definition, doc)
	doc = simplify(doc).(map[string]any)
	if row.Defaults != "" {
		if err := defaults(doc, doc, pkg.LookupPath(cue.ParsePath(row.Defaults))); err != nil {
			return nil, err
		}
	}
	doc["$id"], doc["title"] = base+name, row.Title
	return encode(doc)
}
