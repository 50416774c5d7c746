package house

import (
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var mdLink = regexp.MustCompile(`\]\(([^()\s]+)\)`)

// TestLinksLeadSomewhere: every relative link of a document is to a file that
// is in the tree.
func TestLinksLeadSomewhere(t *testing.T) {
	root, seen := filepath.Join("..", ".."), 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name := d.Name(); path != root && (strings.HasPrefix(name, ".") || name == "node_modules" || name == "testdata") {
				return filepath.SkipDir
			}
			return nil
		}
		if filepath.Ext(path) != ".md" {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range mdLink.FindAllStringSubmatch(string(text), -1) {
			to, err := url.Parse(m[1])
			if err != nil || to.Scheme != "" || to.Host != "" || to.Path == "" {
				continue
			}
			seen++
			if _, err := os.Stat(filepath.Join(filepath.Dir(path), filepath.FromSlash(to.Path))); err != nil {
				t.Errorf("%s links to %s, which is not there", path, m[1])
			}
		}
		return nil
	})
	if err != nil || seen < 50 {
		t.Fatalf("%d links, %v", seen, err)
	}
}
