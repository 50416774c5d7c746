package house

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	flagName = regexp.MustCompile(`--[a-z][a-z-]*`)
	span     = regexp.MustCompile("`toolwarrant ([^`\n]+)`")
)

// TestNamedCommands: a command that a sentence of a page names is there, with
// the flags that it names. docs/cli.md, which is made of the program, says what
// there is.
func TestNamedCommands(t *testing.T) {
	root := filepath.Join("..", "..")
	reference, err := os.ReadFile(filepath.Join(root, "docs", "cli.md"))
	if err != nil {
		t.Fatal(err)
	}
	flags := map[string][]string{} // by command; of every command by ""
	now := ""
	for line := range strings.Lines(string(reference)) {
		if _, heading, is := strings.Cut(line, "# toolwarrant"); is && strings.HasPrefix(line, "#") {
			now = strings.TrimSpace(heading)
			flags[now] = []string{"--help"}
		}
		if strings.HasPrefix(line, "| `--") {
			flags[now] = append(flags[now], flagName.FindString(line))
		}
	}
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, page := range append(pages, filepath.Join(root, "README.md")) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range span.FindAllStringSubmatch(string(text), -1) {
			words := m[1]
			seen++
			command := ""
			for _, word := range strings.Fields(words) {
				if _, known := flags[strings.TrimSpace(command+" "+word)]; !known {
					break
				}
				command = strings.TrimSpace(command + " " + word)
			}
			if command == "" && !strings.HasPrefix(words, "--") {
				t.Errorf("%s: there is no command %q", filepath.Base(page), words)
				continue
			}
			for _, flag := range flagName.FindAllString(words, -1) {
				if !slices.Contains(flags[command], flag) && !slices.Contains(flags[""], flag) {
					t.Errorf("%s: %q: the command %q has no flag %s", filepath.Base(page), words, command, flag)
				}
			}
		}
	}
	if seen < 30 || len(flags) < 30 {
		t.Errorf("%d commands in pages, %d in the reference", seen, len(flags))
	}
}
