package catalog

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What a person or a model would take for another name is not served, from the
// home or from a folder, and nothing of it is lost.
func TestNamesThatAreNotServed(t *testing.T) {
	for _, tc := range []struct {
		why, name string
		served    bool
	}{
		{"plain", "getWeather2", true},
		{"all that is allowed", "a_b.c-D", true},
		{"the longest", strings.Repeat("a", 128), true},
		{"longer", strings.Repeat("a", 129), false},
		{"a space at the end", "getWeather ", false},
		{"a line feed at the end", "plain\n", false},
		{"two lines", "a\nb", false},
		{"zero width", "base64\u200b", false},
		{"Cyrillic", "b\u0430se64", false},
		{"full width", "\uff42ase64", false},
		{"another direction", "a\u202eb", false},
		{"a slash", "a/b", false},
	} {
		t.Run(tc.why, func(t *testing.T) {
			home, dir := t.TempDir(), t.TempDir()
			writeFile(t, filepath.Join(dir, "one.json"), docJSON("id-1", tc.name, "return 1;", false))
			trusted := mustOpen(t, Options{Dirs: []string{dir}, TrustDirs: true, Preset: "everything"})
			writeFile(t, filepath.Join(home, "catalog", "one.json"), docJSON("id-1", tc.name, "return 1;", false))
			mine := mustOpen(t, Options{Home: home, Preset: "everything"})
			setPass(t, mine, lookup(t, mine, "id-1"))
			for _, c := range []*Catalog{trusted, mine} {
				if slices.Contains(exposed(t, c), tc.name) != tc.served {
					t.Errorf("served is %v", !tc.served)
				}
				if tc.served {
					continue
				}
				wantState(t, c, "id-1", StateDraft, "name-not-servable")
				if got := findingReasons(c); !slices.Equal(got, []string{"name-not-servable"}) {
					t.Errorf("findings: %v", c.Findings())
				}
			}
		})
	}
}
