package spec

import (
	"strings"
	"testing"
)

// TestHints says what to do about the slips that people make in JSON.
func TestHints(t *testing.T) {
	for text, want := range map[string]string{
		`{"name": "x",}`:            "no comma stands before a closing bracket",
		`{"tags": ["x",]}`:          "no comma stands before a closing bracket",
		"{'name': 'x'}":             "names and texts stand in double quotes",
		`{name: "x"}`:               "names and texts stand in double quotes",
		`{"name": “x”}`:             "names and texts stand in double quotes",
		"{\"name\": \"x\", // c\n}": "JSON has no comments",
		"\ufeff{}":                  "without a byte order mark",
	} {
		errs := LoadBytes("x.json", []byte(text))[0].Errors
		if len(errs) != 1 || !strings.Contains(errs[0].Message, want) {
			t.Errorf("%s: %v, want %q", text, errs, want)
		}
	}
	for _, text := range []string{`{"a":"\x"}`, `{"a": 1 "b": 2}`, `{"a"`} {
		if errs := LoadBytes("x.json", []byte(text))[0].Errors; len(errs) != 1 || strings.Contains(errs[0].Message, ";") {
			t.Errorf("%s: %v", text, errs)
		}
	}
}
