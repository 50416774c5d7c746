// Package figures is for tests that measure: it hands what they found to the
// page that shows it, as an attribute of the test, which "go test -v" prints in
// a line of its own. Command bench reads it.
//
// It is a leaf: any package may import it and it imports nothing of ours.
package figures

import (
	"fmt"
	"strings"
	"time"
)

// Key names the attribute.
const Key = "figures"

// Say gives the figures of one row of a table of docs/performance.md.
func Say(t interface{ Attr(key, value string) }, table, row string, cells ...string) {
	t.Attr(Key, strings.Join(append([]string{table, row}, cells...), " | "))
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
