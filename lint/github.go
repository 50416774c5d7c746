package lint

import (
	"fmt"
	"io"
	"strconv"
	"strings"
)

// GitHub writes workflow commands, which GitHub Actions shows as annotations
// at the changed lines. Infos become notices.
func GitHub(w io.Writer, r Report) error {
	x := r.excerpt()
	for _, f := range r.Findings {
		command := "notice"
		if f.Severity != Info {
			command = string(f.Severity)
		}
		props := []string{"title=" + ghProperty("toolwarrant "+f.RuleID)}
		if f.File != stdinName {
			props = append(props, "file="+ghProperty(f.File))
		}
		if f.Line > 0 {
			props = append(props, "line="+strconv.Itoa(f.Line), "col="+strconv.Itoa(x.runes(f.File, f.Line, f.Column)))
		}
		if _, err := fmt.Fprintf(w, "::%s %s::%s\n", command, strings.Join(props, ","), ghMessage(place(f)+f.Message)); err != nil {
			return err
		}
	}
	return nil
}

// A workflow command ends at the line, so that text of authors must not bring
// in a line of its own: that would be a command of theirs.
var (
	ghEscapes = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	ghProps   = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

func ghMessage(s string) string  { return ghEscapes.Replace(visible(s)) }
func ghProperty(s string) string { return ghProps.Replace(visible(s)) }
