package cue_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestGolden: every golden file is valid by CUE and by its JSON Schema. The
// name of a file begins with its definition.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/golden/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		def, _, _ := strings.Cut(filepath.Base(file), ".")
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := verdict(t, "#"+def, text); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		if strings.HasPrefix(def, "Audit") {
			if err := verdict(t, "#AuditRecord", text); err != nil {
				t.Errorf("%s is no record: %v", file, err)
			}
		}
	}
}

// TestEdits: one edit of a golden file at a time, with what becomes of it.
// The name of a file is its definition.
func TestEdits(t *testing.T) {
	files, err := filepath.Glob("testdata/bad/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		def := "#" + strings.TrimSuffix(filepath.Base(file), ".json")
		var table struct {
			Golden         string
			Valid, Invalid map[string]string
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, &table); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		golden, err := os.ReadFile(filepath.Join("testdata/golden", table.Golden))
		if err != nil {
			t.Fatal(err)
		}
		try := func(why, edit string, valid bool) {
			t.Run(def+"/"+why, func(t *testing.T) {
				var doc any
				if err := json.Unmarshal(golden, &doc); err != nil {
					t.Fatal(err)
				}
				doc, err := change(doc, edit)
				if err != nil {
					t.Fatal(err)
				}
				edited, err := json.Marshal(doc)
				if err != nil {
					t.Fatal(err)
				}
				if err := verdict(t, def, edited); (err == nil) != valid {
					t.Errorf("%s: valid is %v, want %v: %v", edit, err == nil, valid, err)
				}
			})
		}
		for why, edit := range table.Valid {
			try(why, edit, true)
		}
		for why, edit := range table.Invalid {
			try(why, edit, false)
		}
	}
}

// TestCatalogFiles: what ships is of the formats that it is said to be.
func TestCatalogFiles(t *testing.T) {
	found := map[string]int{}
	root := os.DirFS("../catalog")
	err := fs.WalkDir(root, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		def := map[string]string{
			"manifest.json": "#Manifest", "presets.json": "#Presets", "vocabulary.json": "#Vocabulary", "fixtures.json": "#Fixtures",
		}[d.Name()]
		if def == "" || strings.Contains(p, "testdata") {
			return nil
		}
		found[def]++
		text, err := fs.ReadFile(root, p)
		if err != nil {
			return err
		}
		if err := verdict(t, def, text); err != nil {
			t.Errorf("catalog/%s: %v", p, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != 4 {
		t.Errorf("found only %v", found)
	}
}
