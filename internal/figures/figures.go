// Package figures carries what a measurement found from the test that measured
// to the page that shows it: as an attribute of the test, which "go test -v"
// prints in a line of its own.
//
// It is a leaf: any package may import it and it imports nothing of ours.
package figures

import (
	"fmt"
	"strings"
	"time"
)

// key names the attribute, and mark is what go test writes before one.
const (
	key  = "figures"
	mark = "=== ATTR "
)

// Say gives the figures of one row of a table of docs/performance.md.
func Say(t interface{ Attr(key, value string) }, table, row string, cells ...string) {
	t.Attr(key, strings.Join(append([]string{table, row}, cells...), " | "))
}

// Row is what Say said.
type Row struct {
	Table, Name string
	Cells       []string
}

// Read finds a row in a line of the output of go test.
func Read(line string) (Row, bool) {
	rest, ok := strings.CutPrefix(line, mark)
	fields := strings.Fields(rest)
	if !ok || len(fields) < 3 || fields[1] != key {
		return Row{}, false
	}
	_, value, _ := strings.Cut(rest, " "+key+" ")
	parts := strings.Split(value, " | ")
	if len(parts) < 3 {
		return Row{}, false
	}
	return Row{Table: parts[0], Name: parts[1], Cells: parts[2:]}, true
}

// Millis is a duration as the page has it.
func Millis(d time.Duration) string {
	switch ms := float64(d) / float64(time.Millisecond); {
	case ms >= 100:
		return fmt.Sprintf("%.0f ms", ms)
	case ms >= 10:
		return fmt.Sprintf("%.1f ms", ms)
	default:
		return fmt.Sprintf("%.2f ms", ms)
	}
}

// Times is a ratio as the page has it.
func Times(a, b time.Duration) string { return Ratio(float64(a) / float64(b)) }

// Ratio is a ratio as the page has it.
func Ratio(r float64) string { return fmt.Sprintf("x%.2f", r) }
