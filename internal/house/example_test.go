package house

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/toolwarrant/toolwarrant/resolver"
)

// TestWorkedExample: the numbers of tests that the pages print are those of the
// built-in policy, and of the example of docs/policy.md with its one edit.
func TestWorkedExample(t *testing.T) {
	whole, err := resolver.TestPolicy(context.Background(), resolver.Options{})
	if err != nil || !whole.OK() {
		t.Fatalf("%+v %v", whole, err)
	}
	dir := filepath.Join(t.TempDir(), "mypolicy")
	if err := resolver.WriteBuiltin(dir); err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(dir, "rego", "data.json")
	raw, err := os.ReadFile(data)
	if err != nil {
		t.Fatal(err)
	}
	edited := bytes.Replace(raw, []byte(`"network-strict": {"level": "L3"`), []byte(`"network-strict": {"level": "L4"`), 1)
	if bytes.Equal(raw, edited) {
		t.Fatal("the edit of the example finds nothing")
	}
	if err := os.WriteFile(data, edited, 0o600); err != nil {
		t.Fatal(err)
	}
	broken, err := resolver.TestPolicy(context.Background(), resolver.Options{Policy: dir})
	if err != nil {
		t.Fatal(err)
	}
	failed := slices.IndexFunc(broken.Tests, func(r resolver.TestResult) bool { return !r.Passed })
	if broken.Failed != 1 || failed < 0 {
		t.Fatalf("%d of the example fail", broken.Failed)
	}
	f := broken.Tests[failed]

	text := func(page string) string {
		raw, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(page)))
		if err != nil {
			t.Fatal(err)
		}
		return strings.ReplaceAll(string(raw), "\r\n", "\n")
	}
	all := whole.Passed
	for _, want := range []string{
		fmt.Sprintf("FAIL  %s  %s:%d\n", f.Name, f.File, f.Line),
		fmt.Sprintf("\n    %d passed, 1 failed\n", broken.Passed),
		fmt.Sprintf("1 of %d tests of the policy mypolicy fail, first %s (%s:%d);", all, f.Name, f.File, f.Line),
		fmt.Sprintf("\n    %d passed, 0 failed\n", all),
		fmt.Sprintf("\n    tests        %d passed, 0 failed\n", all),
	} {
		if !strings.Contains(text("docs/policy.md"), want) {
			t.Errorf("docs/policy.md does not say %q", strings.TrimSpace(want))
		}
	}
	for _, page := range []string{"README.md", "docs/policy.md"} {
		numbers := regexp.MustCompile(`(\d\d+) passed, (\d) failed`).FindAllStringSubmatch(text(page), -1)
		for _, n := range numbers {
			if now := fmt.Sprint(all); n[1] != now && (n[2] == "0" || n[1] != fmt.Sprint(broken.Passed)) {
				t.Errorf("%s says %q; the built-in policy has %s tests", page, n[0], now)
			}
		}
		if len(numbers) == 0 {
			t.Errorf("%s prints no tests", page)
		}
	}
}
