package house

import (
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

var mdLink = regexp.MustCompile(`\]\(([^()\s]+)\)`)

// anchors gives the headings of a page as links name them.
func anchors(page string) map[string]bool {
	known, fenced := map[string]bool{}, false
	for line := range strings.Lines(page) {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		if fenced || !strings.HasPrefix(line, "#") {
			continue
		}
		heading := strings.ToLower(strings.TrimSpace(strings.TrimLeft(line, "#")))
		known[strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				return r
			}
			return -1
		}, heading)] = true
	}
	return known
}

// TestLinksLeadSomewhere: every relative link of a document is to a file that
// is in the tree, and to a heading that this file has.
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
			if err != nil || to.Scheme != "" || to.Host != "" {
				continue
			}
			seen++
			file := filepath.Join(filepath.Dir(path), filepath.FromSlash(to.Path))
			if to.Path == "" {
				file = path
			}
			if _, err := os.Stat(file); err != nil {
				t.Errorf("%s links to %s, which is not there", path, m[1])
				continue
			}
			if to.Fragment == "" || filepath.Ext(file) != ".md" {
				continue
			}
			page, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			if !anchors(string(page))[to.Fragment] {
				t.Errorf("%s links to %s, a heading that is not there", path, m[1])
			}
		}
		return nil
	})
	if err != nil || seen < 50 {
		t.Fatalf("%d links, %v", seen, err)
	}
}
