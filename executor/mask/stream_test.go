package mask

import (
	"strings"
	"testing"
)

func stream(t *testing.T, set *Set, text string, sizes []byte) string {
	t.Helper()
	var out strings.Builder
	w := set.Writer(&out)
	for i := 0; text != ""; i++ {
		n := 1
		if len(sizes) > 0 {
			n = int(sizes[i%len(sizes)])%17 + 1
		}
		n = min(n, len(text))
		if got, err := w.Write([]byte(text[:n])); err != nil || got != n {
			t.Fatalf("Write gave %d, %v", got, err)
		}
		text = text[n:]
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestWriter(t *testing.T) {
	for _, secrets := range [][]string{nil, {"hunter22"}, {"hunter22", "hunter22-and-more", "22-andx"}, {"aaaa"}, {"abab", "baba"}} {
		set := New(secrets)
		for _, text := range []string{"", "hunter22", "x hunter22 y", "hunter2", "hunter22-and-mor hunter22-and-more", strings.Repeat("hunter22", 300), strings.Repeat("x", 1000) + "hunt" + CutMark + "er22",
			strings.Repeat("ab", 400), "hunter22-andx " + strings.Repeat("a", 7), "aHVudGVyMjI= " + strings.Repeat("y", 500) + " 68756e7465723232"} {
			for n := range 17 {
				if got, want := stream(t, set, text, []byte{byte(n)}), set.String(text); got != want {
					t.Errorf("%v, pieces of %d: %.60q became %.60q, want %.60q", secrets, n+1, text, got, want)
				}
			}
		}
	}
}

// FuzzStream compares the stream with the mask of the whole text, whatever
// the pieces are.
func FuzzStream(f *testing.F) {
	f.Add("hunter22", "22hunter", "x hunter22hunter y", []byte{1, 5})
	f.Add("abab", "baba", "abababab", []byte{3})
	f.Fuzz(func(t *testing.T, a, b, text string, sizes []byte) {
		if len(a)+len(b) > 40 || len(text) > 2000 {
			return
		}
		set := New([]string{a, b})
		text = strings.Repeat(text+a, 8) + b + text
		got, want := stream(t, set, text, sizes), set.String(text)
		if got != want {
			t.Fatalf("%q in pieces became %q, want %q", text, got, want)
		}
	})
}
