package catalog

import (
	"context"
	"encoding/json"
	"flag"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/toolwarrant/toolwarrant/fault"
)

var update = flag.Bool("update", false, "rewrite manifest.json from the bundled tools")

// currentManifest is what manifest.json has to say. Which placeholder names a
// tool may resolve is a decision of whoever bundles it: they are the ones
// that its static variables mention.
func currentManifest(t *testing.T) manifest {
	t.Helper()
	dirs, err := fs.ReadDir(bundledFiles, "tools")
	if err != nil {
		t.Fatal(err)
	}
	m := manifest{Version: dataVersion, Tools: map[string]manifestEntry{}}
	for _, dir := range dirs {
		s, errs := readFolder(bundledFiles, "tools/"+dir.Name())
		if len(errs) > 0 {
			t.Fatalf("%s: %v", dir.Name(), errs)
		}
		m.Tools[s.Name] = manifestEntry{Digest: s.Digest(), Env: append([]string{}, s.Placeholders()...)}
	}
	return m
}

func TestManifestIsCurrent(t *testing.T) {
	want, err := json.MarshalIndent(currentManifest(t), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	want = append(want, '\n')
	if *update {
		if err := os.WriteFile("manifest.json", want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := fs.ReadFile(bundledFiles, "manifest.json")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("manifest.json is stale, run go generate ./catalog (-want +got):\n%s", diff)
	}
}

func TestBundledCatalogIsWhole(t *testing.T) {
	b, err := builtins()
	if err != nil {
		t.Fatal(err)
	}
	if len(b.findings) > 0 {
		t.Fatalf("findings: %v", b.findings)
	}
	c := mustOpen(t, Options{Preset: "everything"})
	if got := len(exposed(t, c)); got != len(b.docs) {
		t.Errorf("everything serves %d of %d tools", got, len(b.docs))
	}
	for id, p := range b.presets.Presets {
		if p.DisplayName == "" || p.Description == "" {
			t.Errorf("preset %s has no text for people", id)
		}
	}
	presets, byDefault := c.Presets()
	if _, ok := presets[byDefault]; !ok {
		t.Errorf("the default preset %q does not exist", byDefault)
	}
	known := c.Vocabulary()
	if !slices.IsSortedFunc(known.Categories, func(a, b Category) int { return a.Order - b.Order }) {
		t.Error("the categories are not in their order")
	}
	for _, d := range b.docs {
		if !slices.ContainsFunc(known.Categories, func(k Category) bool { return k.ID == d.spec.Category }) {
			t.Errorf("%s has the unknown category %q", d.spec.Name, d.spec.Category)
		}
		for _, tag := range d.spec.Tags {
			if !slices.Contains(known.Tags, tag) {
				t.Errorf("%s has the unknown tag %q", d.spec.Name, tag)
			}
		}
	}
}

// copyBundled gives the bundled files, to be changed.
func copyBundled(t *testing.T) fstest.MapFS {
	t.Helper()
	m := fstest.MapFS{}
	err := fs.WalkDir(bundledFiles, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(bundledFiles, path)
		m[path] = &fstest.MapFile{Data: data}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestTamperedBundledTool(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(m fstest.MapFS)
		reason string
		hidden string // the tool that must not be served
	}{
		{"one byte of the code", func(m fstest.MapFS) {
			code := m["tools/hash/action.js"].Data
			code[len(code)-2] = ' '
		}, "manifest-mismatch", "hash"},
		{"one letter of the description", func(m fstest.MapFS) {
			doc := m["tools/hash/spec.json"].Data
			doc[slices.Index(doc, 'C')] = 'K'
		}, "manifest-mismatch", "hash"},
		{"approval dropped", func(m fstest.MapFS) {
			doc := string(m["tools/writeTextFile/spec.json"].Data)
			m["tools/writeTextFile/spec.json"].Data = []byte(replaceOnce(t, doc, "REQUIRED", "DISABLED"))
		}, "manifest-mismatch", "writeTextFile"},
		{"a tool that nobody listed", func(m fstest.MapFS) {
			m["tools/extra/spec.json"] = &fstest.MapFile{Data: []byte(`{"toolId":"extra","name":"extra","description":"x","category":"MATH","params":[],"codeType":"Javascript","draft":false}`)}
			m["tools/extra/action.js"] = &fstest.MapFile{Data: []byte("return 1;")}
		}, "manifest-mismatch", "extra"},
		{"a folder under another name", func(m fstest.MapFS) {
			m["tools/hush/spec.json"], m["tools/hush/action.js"] = m["tools/hash/spec.json"], m["tools/hash/action.js"]
			maps.DeleteFunc(m, func(file string, _ *fstest.MapFile) bool { return strings.HasPrefix(file, "tools/hash/") })
		}, "manifest-mismatch", "hash"},
		{"code that is gone", func(m fstest.MapFS) { delete(m, "tools/hash/action.js") }, "unreadable", "hash"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := copyBundled(t)
			tc.change(m)
			b, err := readBundle(m)
			if err != nil {
				t.Fatal(err)
			}
			c, err := open(context.Background(), Options{Preset: "everything", Home: t.TempDir()}, b)
			if err != nil {
				t.Fatal(err)
			}
			if got := findingReasons(c); !slices.Equal(got, []string{tc.reason}) {
				t.Errorf("findings %v", c.Findings())
			}
			served := exposed(t, c)
			if slices.Contains(served, tc.hidden) || !slices.Contains(served, "base64") {
				t.Errorf("served: %v", served)
			}
			if tool, err := c.Lookup(context.Background(), tc.hidden); err == nil {
				wantFault(t, tool.Verify(), fault.Revoked, "manifest-mismatch")
				setPass(t, c, tool)
				if tool = lookup(t, c, tc.hidden); tool.State == StateActive {
					t.Error("a pass made a tampered bundled tool active")
				}
			}
		})
	}
}

func replaceOnce(t *testing.T, s, old, new string) string {
	t.Helper()
	if !strings.Contains(s, old) {
		t.Fatalf("%q is not in the document", old)
	}
	return strings.Replace(s, old, new, 1)
}

func TestBrokenDataFile(t *testing.T) {
	for _, tc := range []struct{ file, content string }{
		{"manifest.json", `{"version":2,"tools":{}}`},
		{"manifest.json", `{"version":1,"tools":{},"more":1}`},
		{"presets.json", `{`},
		{"vocabulary.json", ``},
	} {
		m := copyBundled(t)
		m[tc.file].Data = []byte(tc.content)
		_, err := readBundle(m)
		wantFault(t, err, fault.Internal, "catalog-data", tc.file)
	}
}
