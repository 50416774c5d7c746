package command

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolwarrant/toolwarrant/executor/worker"
)

func TestShorten(t *testing.T) {
	for name, c := range map[string]struct {
		out, errs string
		cut       bool
	}{
		"small":          {"a", "b", false},
		"just fits":      {strings.Repeat("a", 3072), "", false},
		"one more":       {strings.Repeat("a", 3073), "", true},
		"escaped":        {strings.Repeat("\x00", 600), "", true},
		"lines":          {strings.Repeat("\n", 1536), "", false},
		"of two bytes":   {strings.Repeat("\u00e4", 2000), "", true},
		"not JSON's":     {strings.Repeat("<&>\u2028\x7f", 300), "", false},
		"both":           {strings.Repeat("a", 5000), strings.Repeat("\"", 5000), true},
		"errors":         {"", strings.Repeat("b", 5000), true},
		"errors, little": {strings.Repeat("a", 5000), "b", true},
	} {
		r := worker.CommandResult{Stdout: c.out, Stderr: c.errs}
		cut := shorten(&r, 4096)
		var b strings.Builder
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(map[string]string{"o": r.Stdout, "e": r.Stderr}); err != nil {
			t.Fatal(err)
		}
		size := len(strings.ReplaceAll(b.String(), `\u2028`, "___")) // which needs no escape
		if cut != c.cut || size > 4096 || !strings.HasPrefix(c.out, r.Stdout) || !strings.HasPrefix(c.errs, r.Stderr) {
			t.Errorf("%s: cut %v, %d and %d bytes, of JSON %d", name, cut, len(r.Stdout), len(r.Stderr), size)
		}
		if cut && size < 4096-besides-100 || len(c.errs) > 1000 && len(r.Stderr) < 300 || len(c.out) > 4000 && len(r.Stdout) < 1000 {
			t.Errorf("%s: too little is kept: %d and %d bytes", name, len(r.Stdout), len(r.Stderr))
		}
	}
}
