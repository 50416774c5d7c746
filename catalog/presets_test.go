package catalog

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolwarrant/toolwarrant/fault"
)

// wholeCatalog is a bundled catalog that has every tool of
// testdata/facts.ndjson under its name, category and tags, and the presets
// and vocabulary that ship.
func wholeCatalog(t *testing.T) *bundle {
	t.Helper()
	raw, err := os.ReadFile("testdata/facts.ndjson")
	if err != nil {
		t.Fatal(err)
	}
	tools := map[string]string{}
	for line := range bytes.Lines(raw) {
		var f struct {
			Name, Category string
			Tags           json.RawMessage
		}
		if err := json.Unmarshal(line, &f); err != nil {
			t.Fatal(err)
		}
		tools[f.Name] = fmt.Sprintf(`"category":%q,"tags":%s`, f.Category, f.Tags)
	}
	presets, err := fs.ReadFile(bundledFiles, "presets.json")
	if err != nil {
		t.Fatal(err)
	}
	b := smallBundle(t, string(presets), tools)
	if err := readData(bundledFiles, "vocabulary.json", &b.vocabulary, func() int { return b.vocabulary.Version }); err != nil {
		t.Fatal(err)
	}
	return b
}

// TestPresetFigures counts what the presets and rules choose of the whole
// catalog.
func TestPresetFigures(t *testing.T) {
	b := wholeCatalog(t)
	for _, tc := range []struct {
		name string
		o    Options
		want int
	}{
		{"no preset is starter-5", Options{}, 5},
		{"starter-5", Options{Preset: "starter-5"}, 5},
		{"dev-essentials", Options{Preset: "dev-essentials"}, 7},
		{"korea-toolkit", Options{Preset: "korea-toolkit"}, 6},
		{"file-toolkit", Options{Preset: "file-toolkit"}, 10},
		{"everything", Options{Preset: "everything"}, 88},
		{"starter-5 + tag korea", Options{Preset: "starter-5", Include: Rules{Tags: []string{"korea"}}}, 26},
		{"dev-essentials + tag korea", Options{Preset: "dev-essentials", Include: Rules{Tags: []string{"korea"}}}, 28},
		{"everything - category WEB", Options{Preset: "everything", Exclude: Rules{Categories: []string{"WEB"}}}, 42},
		{"starter-5 + category CRYPTO - name uuid", Options{Preset: "starter-5", Include: Rules{Categories: []string{"CRYPTO"}}, Exclude: Rules{Names: []string{"uuid"}}}, 11},
		{"file-toolkit - tag util", Options{Preset: "file-toolkit", Exclude: Rules{Tags: []string{"util"}}}, 8},
		{"starter-5 + name hash - category CRYPTO", Options{Preset: "starter-5", Include: Rules{Names: []string{"hash"}}, Exclude: Rules{Categories: []string{"CRYPTO"}}}, 5},
		{"no preset + name uuid", Options{Include: Rules{Names: []string{"uuid"}}}, 1},
		{"no preset + tag github", Options{Include: Rules{Tags: []string{"github"}}}, 8},
		{"everything - tags korea, util, pipeline", Options{Preset: "everything", Exclude: Rules{Tags: []string{"korea", "util", "pipeline"}}}, 27},
		{"everything - name writeTextFile - tag korea", Options{Preset: "everything", Exclude: Rules{Names: []string{"writeTextFile"}, Tags: []string{"korea"}}}, 66},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c, err := open(context.Background(), tc.o, b)
			if err != nil {
				t.Fatal(err)
			}
			if got := exposed(t, c); len(got) != tc.want {
				t.Errorf("%d tools, want %d: %v", len(got), tc.want, got)
			}
		})
	}
	// A word that names nothing is a slip, and not an empty choice.
	for _, tc := range []struct {
		o      Options
		reason string
	}{
		{Options{Preset: "starter-5", Include: Rules{Names: []string{"nope", "hash"}}}, "unknown-tool"},
		{Options{Preset: "starter", Include: Rules{Tags: []string{"github"}}}, "unknown-preset"},
	} {
		_, err := open(context.Background(), tc.o, b)
		wantFault(t, err, fault.Usage, tc.reason)
	}
}

// TestPresets is the content of the presets, in their order.
func TestPresets(t *testing.T) {
	c := mustOpen(t, Options{Preset: "everything"})
	presets, byDefault := c.Presets()
	got := map[string][]string{}
	for id, p := range presets {
		got[id] = p.Names
	}
	want := map[string][]string{
		"starter-5":      {"getCurrentTime", "getWeather", "searchWikipedia", "extractPageContent", "evalExpression"},
		"dev-essentials": {"getCurrentTime", "evalExpression", "uuid", "hash", "base64", "jwtDecode", "regexExtract"},
		"korea-toolkit":  {"getCurrentTime", "evalExpression", "getUpbitTicker", "getBithumbTicker", "searchKpopOnItunes", "searchKBeautyProducts"},
		"file-toolkit": {"getCurrentTime", "evalExpression", "listAllowedDirectories", "readTextFile", "listDir", "grepFile",
			"findFiles", "sliceFile", "sortFile", "cutFileFields"},
		"everything": {"*"},
	}
	if diff := cmp.Diff(want, got); diff != "" || byDefault != "starter-5" {
		t.Errorf("the default is %s (-want +got):\n%s", byDefault, diff)
	}
	whole := wholeCatalog(t)
	for id, names := range got {
		for _, name := range names {
			if name != everyTool && !slices.Contains(whole.names, name) {
				t.Errorf("the preset %s names %q, which is no tool", id, name)
			}
		}
	}
	orders := map[string]int{}
	for _, k := range c.Vocabulary().Categories {
		orders[k.ID] = k.Order
	}
	for id, order := range map[string]int{
		"TEXT": 10, "DATA": 20, "DATETIME": 30, "MATH": 40, "ENCODING": 50, "CRYPTO": 60, "SECURITY": 70, "FILE": 75,
		"WEB": 80, "PRODUCTIVITY": 90, "MESSAGING": 100, "AI": 110, "CUSTOM": 999,
	} {
		if orders[id] != order {
			t.Errorf("category %s has the order %d, want %d", id, orders[id], order)
		}
	}
	tags := []string{"example", "finance", "geo", "github", "korea", "pipeline", "search", "util", "weather"}
	if got := c.Vocabulary().Tags; !slices.Equal(got, tags) {
		t.Errorf("tags %v", got)
	}
}
