package house

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"
)

// row is one of docs/dependencies.md: module, version, date of that release,
// why, licence.
var row = regexp.MustCompile("(?m)^\\| `([^`]+)` \\| (v[^ ]+) \\| (\\d{4}-\\d{2}-\\d{2}) \\| (.{10,}) \\| (.{3,}) \\|$")

// TestDependenciesAreExplained: each module that go.mod requires directly is in
// docs/dependencies.md with its version, the date of it, a reason and a licence,
// and none is there that is not required.
func TestDependenciesAreExplained(t *testing.T) {
	root := filepath.Join("..", "..")
	text, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	mod, err := modfile.Parse("go.mod", text, nil)
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(root, "docs", "dependencies.md"))
	if err != nil {
		t.Fatal(err)
	}
	said := map[string]string{}
	for _, m := range row.FindAllStringSubmatch(string(page), -1) {
		said[m[1]] = m[2]
	}
	for _, r := range mod.Require {
		if r.Indirect {
			continue
		}
		version := strings.TrimSuffix(r.Mod.Version, "+incompatible")
		if said[r.Mod.Path] != version {
			t.Errorf("docs/dependencies.md says %q of %s, go.mod %s", said[r.Mod.Path], r.Mod.Path, version)
		}
		delete(said, r.Mod.Path)
	}
	for path := range said {
		t.Errorf("docs/dependencies.md explains %s, which go.mod does not require directly", path)
	}
}
