package house

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	quoted   = regexp.MustCompile("`([^`]+)`")
	testName = regexp.MustCompile(`^(?:Test|Fuzz)[A-Z]\w*$`)
)

// namedTests reads which tests a page names, of which package: "`a/b`:
// `TestC`, `FuzzD`; `e`, `f`: `TestG`". Packages that stand in one list have
// each of the tests; a line begins anew.
func namedTests(page string, isPackage func(string) bool) (named [][2]string, stray []string) {
	for line := range strings.Lines(page) {
		var packages []string
		end, last := 0, false // where the token before ended, and whether it was a package
		for _, m := range quoted.FindAllStringSubmatchIndex(line, -1) {
			token := line[m[2]:m[3]]
			switch {
			case testName.MatchString(token):
				if len(packages) == 0 {
					stray = append(stray, token)
				}
				for _, p := range packages {
					named = append(named, [2]string{p, token})
				}
				last = false
			case isPackage(token):
				if !last || line[end:m[0]] != ", " {
					packages = nil
				}
				packages, last = append(packages, token), true
			default:
				last = false
			}
			end = m[1]
		}
	}
	return named, stray
}

// TestNamedTests: every test that docs/security.md names is there, in the
// package that the page says, so that no row of it is a promise alone.
func TestNamedTests(t *testing.T) {
	root := filepath.Join("..", "..")
	sources := map[string]string{} // of the tests of a package
	isPackage := func(path string) bool {
		if _, known := sources[path]; known {
			return true
		}
		files, _ := filepath.Glob(filepath.Join(root, filepath.FromSlash(path), "*_test.go"))
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			sources[path] += string(text)
		}
		return len(files) > 0
	}
	page, err := os.ReadFile(filepath.Join(root, "docs", "security.md"))
	if err != nil {
		t.Fatal(err)
	}
	named, stray := namedTests(string(page), isPackage)
	for _, test := range stray {
		t.Errorf("docs/security.md names %s and not its package, before it in the same line", test)
	}
	for _, n := range named {
		if !strings.Contains(sources[n[0]], "\nfunc "+n[1]+"(") {
			t.Errorf("docs/security.md names %s of %s, which is not there", n[1], n[0])
		}
	}
	if len(named) < 100 {
		t.Errorf("only %d tests are named", len(named))
	}
}

func TestNamedTestsAreRead(t *testing.T) {
	isPackage := func(p string) bool { return p == "a/b" || p == "c" || p == "d" }
	named, stray := namedTests("`eval`, `a/b`: `TestX` (many), `FuzzY`; `c`, `d`: `TestZ`; `a/b` tests, `c`: `TestV`\n`TestW`\n", isPackage)
	want := [][2]string{{"a/b", "TestX"}, {"a/b", "FuzzY"}, {"c", "TestZ"}, {"d", "TestZ"}, {"c", "TestV"}}
	if len(named) != len(want) || len(stray) != 1 || stray[0] != "TestW" {
		t.Fatalf("%v %v", named, stray)
	}
	for i := range want {
		if named[i] != want[i] {
			t.Errorf("%v", named[i])
		}
	}
}
