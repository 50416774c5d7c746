package lint

import (
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/toolwarrant/toolwarrant/fault"
)

// Text writes one line for each finding, as compilers do, and one that counts.
// Names of files and text of authors may hold anything; control and
// bidirectional characters are written as escapes.
func Text(w io.Writer, r Report) error {
	for _, f := range r.Findings {
		place := f.File
		if f.Line > 0 {
			place = fmt.Sprintf("%s:%d:%d", f.File, f.Line, f.Column)
		}
		at := ""
		if f.Pointer != "" {
			at = fault.Dotted(f.Pointer) + ": "
		}
		if _, err := fmt.Fprintln(w, visible(fmt.Sprintf("%s: %s %s: %s%s", place, f.Severity, f.RuleID, at, f.Message))); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "%d error%s, %d warning%s in %d file%s\n", r.Summary.Errors, plural(r.Summary.Errors),
		r.Summary.Warnings, plural(r.Summary.Warnings), r.Summary.Files, plural(r.Summary.Files))
	return err
}

func plural(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
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
