package capture

import (
	"io"
	"strings"
	"testing"
)

func TestTail(t *testing.T) {
	for in, want := range map[string]string{
		"":                          "",
		"one\nline\r\n":             "one line",
		"\x1b[31mred\x1b[0m \u202e": "[31mred[0m",
		"half \xe2\x82":             "half",
		strings.Repeat("x", TailBytes) + "the end": strings.Repeat("x", TailBytes-7) + "the end",
	} {
		var whole, parts Tail
		_, _ = whole.Write([]byte(in))
		for _, b := range []byte(in) {
			_, _ = parts.Write([]byte{b})
		}
		if n, err := io.WriteString(&whole, ""); n != 0 || err != nil {
			t.Error(n, err)
		}
		if whole.String() != want || parts.String() != want {
			t.Errorf("%q: %q, in parts %q, want %q", in, whole.String(), parts.String(), want)
		}
	}
}
