package lint

import (
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/internal/plural"
)

// Text writes a line for each finding, as compilers do, with the line of the
// file below it, and at last one that counts. Names of files and text of
// authors may hold anything; control and bidirectional characters are written
// as escapes.
func Text(w io.Writer, r Report) error {
	x, hidden := r.excerpt(), r.withheld()
	for _, f := range r.Findings {
		text := textLine(f)
		if !hidden[f.File][f.Line] {
			text += x.frame(f.File, f.Line, f.Column)
		}
		if _, err := io.WriteString(w, text); err != nil {
			return err
		}
	}
	accepted := ""
	if n := len(r.suppressed); n > 0 {
		accepted = fmt.Sprintf(", %d suppressed", n)
	}
	_, err := fmt.Fprintf(w, "%s, %s%s in %s\n", plural.Of(r.Summary.Errors, "error"), plural.Of(r.Summary.Warnings, "warning"),
		accepted, plural.Of(r.Summary.Files, "file"))
	return err
}

// textLine is a finding on one line.
func textLine(f Finding) string {
	at := f.File
	if f.Line > 0 {
		at = fmt.Sprintf("%s:%d:%d", f.File, f.Line, f.Column)
	}
	return visible(fmt.Sprintf("%s: %s %s: %s%s", at, f.Severity, f.RuleID, place(f), f.Message)) + "\n"
}

// place is where in the document a finding is, in words.
func place(f Finding) string {
	if f.Pointer == "" {
		return ""
	}
	return fault.Dotted(f.Pointer) + ": "
}

func visible(s string) string {
	var b strings.Builder
	for _, r := range s {
		if unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) {
			fmt.Fprintf(&b, "\\u%04x", r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}
