package catalog

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolwarrant/toolwarrant/fault"
)

// TestFilesBesideATool puts into the place of what comes with a tool what would
// lead elsewhere, or have no end.
func TestFilesBesideATool(t *testing.T) {
	if _, err := os.Stat("/dev/zero"); err != nil {
		t.Skip("there are no devices")
	}
	outside := filepath.Join(t.TempDir(), "cases.json")
	if err := os.WriteFile(outside, []byte(`{"version": 1, "cases": []}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{casesFile, fixtureFile} {
		for _, target := range []string{"/dev/zero", outside, "..", "."} {
			dir := t.TempDir()
			if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
				t.Skip(err)
			}
			if data, wrong, err := readBeside(&Tool{Path: dir, Source: SourceUser}, name); err == nil {
				t.Errorf("%s that leads to %s was read: %d bytes, %s", name, target, len(data), wrong)
			}
		}
	}
	file := filepath.Join(t.TempDir(), "passed.json")
	if err := os.Symlink("/dev/zero", file); err != nil {
		t.Skip(err)
	}
	if _, err := readPasses(file); err == nil || fault.From(err).Reason != "bad-passes" {
		t.Errorf("passes of a device: %v", err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "there.json"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("there.json", filepath.Join(dir, casesFile)); err != nil {
		t.Fatal(err)
	}
	if data, _, err := readBeside(&Tool{Path: dir, Source: SourceUser}, casesFile); err != nil || string(data) != "{}" {
		t.Errorf("a link that stays in the folder: %q, %v", data, err)
	}
}

// TestWordsOfCases says what is wrong in words of the file.
func TestWordsOfCases(t *testing.T) {
	for text, want := range map[string]string{
		`{"version": 1, "cases": [{"wants": 1}]}`:   "there is no member /cases/0/wants; a file of cases has",
		`{"version": 1, "cases": [{"fail": 1}]}`:    "/cases/0/fail is of another type",
		`{"version": 1, "cases": [{"fail": "x"},]}`: "not valid JSON at byte 38",
		`[]`:                          "which is an object",
		`{"version": 1, "cases": {}}`: "/cases is of another type",
		`{"version": 1, "cases": [], "fixtures": []}`: "there is no member /fixtures",
	} {
		_, err := ParseCases("cases.json", []byte(text))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "Go ") {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
