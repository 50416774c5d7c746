package lint

import (
	"bytes"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/toolwarrant/toolwarrant/spec"
)

// excerpt gives lines of the checked files. Findings come sorted by file, so
// that one file at a time is held. A file that has gone since has no lines:
// the report is complete without.
type excerpt struct {
	stdin []byte
	texts map[string][]byte
	file  string
	rows  [][]byte
}

func (r Report) excerpt() *excerpt { return &excerpt{stdin: r.stdin, texts: r.texts} }

// line is line n of a file, 1-based.
func (x *excerpt) line(file string, n int) (string, bool) {
	if file != x.file {
		data, held := x.texts[file]
		if !held && file == stdinName {
			data = x.stdin
		} else if !held {
			data = readBounded(file)
		}
		x.file, x.rows = file, bytes.Split(data, []byte("\n"))
	}
	if n < 1 || n > len(x.rows) {
		return "", false
	}
	return strings.TrimSuffix(string(x.rows[n-1]), "\r"), true
}

func readBounded(file string) []byte {
	f, err := os.Open(file)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, spec.MaxBundleBytes))
	if err != nil {
		return nil
	}
	return data
}

// runes turns a column in bytes into one in characters.
func (x *excerpt) runes(file string, line, column int) int {
	text, ok := x.line(file, line)
	if !ok {
		return column
	}
	return utf8.RuneCountInString(text[:min(max(column-1, 0), len(text))]) + 1
}

// frameWidth is how much of a line a frame shows: documents may stand on one
// line, code and all.
const frameWidth = 96

// frame shows a line with a caret below the column, or nothing.
func (x *excerpt) frame(file string, line, column int) string {
	text, ok := x.line(file, line)
	if !ok || strings.TrimSpace(text) == "" {
		return ""
	}
	at := min(max(column-1, 0), len(text))
	from := 0
	if at > frameWidth*2/3 && len(text) > frameWidth {
		from = at - frameWidth/3
	}
	to := min(from+frameWidth, len(text))
	for from > 0 && !utf8.RuneStart(text[from]) {
		from--
	}
	for to < len(text) && !utf8.RuneStart(text[to]) {
		to++
	}
	before, after := shown(text[from:at]), shown(text[at:to])
	if from > 0 {
		before = "..." + before
	}
	if to < len(text) {
		after += "..."
	}
	no := strconv.Itoa(line)
	return "  " + no + " | " + before + after + "\n" +
		"  " + strings.Repeat(" ", len(no)) + " | " + strings.Repeat(" ", utf8.RuneCountInString(before)) + "^\n"
}

func shown(s string) string { return visible(strings.ReplaceAll(s, "\t", " ")) }

// secretPrefix begins the id of every rule that finds a secret. Reports are
// kept in logs that many can read, so that no frame shows such a line.
const secretPrefix = "secret-"

// withheld are the lines that must not be shown, those with a finding that its
// author accepts among them.
func (r Report) withheld() map[string]map[int]bool {
	out := map[string]map[int]bool{}
	found := slices.Clone(r.Findings)
	for _, a := range r.suppressed {
		found = append(found, a.Finding)
	}
	for _, f := range found {
		if !strings.HasPrefix(f.RuleID, secretPrefix) {
			continue
		}
		if out[f.File] == nil {
			out[f.File] = map[int]bool{}
		}
		out[f.File][f.Line] = true
	}
	return out
}
