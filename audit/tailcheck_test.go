package audit

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestCheckTail: what does not chain at the end of a log is found, behind any
// number of bytes, and after the lines that a start adds.
func TestCheckTail(t *testing.T) {
	ctx := context.Background()
	other := func() []byte { // a chain of its own
		w := mustOpen(t, t.TempDir(), Options{})
		for i := range 3 {
			must(t, w.Close(ctx, sampleCall(strconv.Itoa(i)), nil))
		}
		return readFile(t, w.Path())
	}()
	for name, c := range map[string]struct {
		add  func(log []byte) []byte
		want string
	}{
		"nothing":            {func(b []byte) []byte { return b }, ""},
		"torn":               {func(b []byte) []byte { return append(b, `{"time":"`...) }, ""}, // a start mends that
		"no record":          {func(b []byte) []byte { return append(b, "{}\n"...) }, KindEdited},
		"no JSON":            {func(b []byte) []byte { return append(b, "bye\n"...) }, KindEdited},
		"a foreign chain":    {func(b []byte) []byte { return append(b, other...) }, KindOther},
		"a line of it":       {func(b []byte) []byte { return append(b, other[:bytes.IndexByte(other, '\n')+1]...) }, KindOther},
		"the last one twice": {func(b []byte) []byte { return append(b, b[bytes.LastIndexByte(b[:len(b)-1], '\n')+1:]...) }, KindRepeated},
		"an altered one":     {func(b []byte) []byte { b[len(b)-30] ^= 1; return b }, KindEdited},
	} {
		for _, large := range []bool{false, true} {
			t.Run(name+" "+strconv.FormatBool(large), func(t *testing.T) {
				dir := t.TempDir()
				w := mustOpen(t, dir, Options{})
				must(t, w.Close(ctx, sampleCall("a"), nil))
				for i := 0; large && i < 3; i++ {
					long := sampleCall("long" + strconv.Itoa(i))
					long.Params = []byte(`"` + strings.Repeat("x", maxLine-100_000) + `"`)
					must(t, w.Close(ctx, long, nil))
				}
				for _, id := range []string{"b", "c"} {
					must(t, w.Close(ctx, sampleCall(id), nil))
				}
				must(t, w.Shutdown(ctx))
				must(t, os.WriteFile(w.Path(), c.add(readFile(t, w.Path())), 0o600))
				w = mustOpen(t, filepath.Dir(w.Path()), Options{})
				must(t, w.Close(ctx, sampleCall("d"), nil))
				got, err := w.CheckTail(ctx)
				must(t, err)
				if c.want == "" && len(got) > 0 || c.want != "" && (len(got) == 0 || got[0].Kind != c.want) {
					t.Errorf("got %+v, want %q", got, c.want)
				}
			})
		}
	}
}
