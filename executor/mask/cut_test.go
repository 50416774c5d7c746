package mask

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestClip(t *testing.T) {
	tests := []struct {
		in   string
		n    int
		want string
	}{
		{"", 0, ""},
		{"abc", 3, "abc"},
		{"abcd", 3, "abc" + CutMark},
		{"abcd", -1, CutMark},
		{"aéb", 2, "a" + CutMark},
		{"aéb", 3, "aé" + CutMark},
		{"a\xffb", 9, "a\ufffdb"},
		{"\x80\x80\x80", 2, CutMark},
		{"ab" + CutMark, 4, "ab" + CutMark}, // inside the ellipsis
		{"ab" + CutMark, 5, "ab" + CutMark},
		{"ab" + CutMark, 7, "ab" + CutMark},
		{"ab" + CutMark + "x", 2 + len(CutMark), "ab" + CutMark + CutMark},
	}
	for _, tt := range tests {
		if got := Clip(tt.in, tt.n); got != tt.want {
			t.Errorf("Clip(%q, %d) = %q, want %q", tt.in, tt.n, got, tt.want)
		}
	}
}

func TestClipped(t *testing.T) {
	tests := []struct {
		name    string
		secrets []string
		in      string
		want    string // of Clipped
		plain   string // of String, where it differs
	}{
		{"nothing", []string{"hunter22"}, "ordinary", "ordinary", ""},
		{"the whole", []string{"hunter22"}, "x hunter22", "x ***", ""},
		{"at the end", []string{"hunter22"}, "x hunter2", "x ***", "x hunter2"},
		{"four bytes", []string{"hunter22"}, "x hunt", "x ***", "x hunt"},
		{"three bytes", []string{"hunter22"}, "x hun", "x hun", ""},
		{"at the mark", []string{"hunter22"}, "x hunter2" + CutMark, "x ***" + CutMark, "x ***" + CutMark},
		{"at a mark inside", []string{"hunter22"}, `bad "hunter` + CutMark + `", sorry`, `bad "***` + CutMark + `", sorry`, `bad "***` + CutMark + `", sorry`},
		{"at an ellipsis", []string{"hunter22"}, "hunt… hunte... x", "***… ***... x", "hunt… hunte... x"},
		{"inside", []string{"hunter22"}, "hunter x", "hunter x", ""},
		{"the longest of two", []string{"hunter22", "hunter22-and-more"}, "hunter22-and", "***", "***-and"},
		{"a secret that repeats itself", []string{"abababac"}, "xababababa", "xab***", "xababababa"},
		{"overlap", []string{"swordfish", "fishhunter"}, "swordfishhunt", "***", "***hunt"},
		{"encoded", []string{"tok en/1"}, "k=tok+en%2" + CutMark, "k=***" + CutMark, "k=***" + CutMark},
		{"multibyte", []string{"비밀번호"}, "암호 비밀" + CutMark, "암호 ***" + CutMark, "암호 ***" + CutMark},
		{"no secrets", nil, "hunt" + CutMark, "hunt" + CutMark, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			set := New(tt.secrets)
			if got := set.Clipped(tt.in); got != tt.want {
				t.Errorf("Clipped(%q) = %q, want %q", tt.in, got, tt.want)
			}
			plain := tt.plain
			if plain == "" {
				plain = tt.want
			}
			if got := set.String(tt.in); got != plain {
				t.Errorf("String(%q) = %q, want %q", tt.in, got, plain)
			}
		})
	}
	if got := (*Set)(nil).Clipped("hunt"); got != "hunt" {
		t.Errorf("a nil set made %q", got)
	}
}

func TestJSONCut(t *testing.T) {
	got, pointers, err := New([]string{"hunter22"}).JSON(json.RawMessage(`{"e":"bad hunter` + CutMark + `"}`))
	if err != nil || string(got) != `{"e":"bad ***`+CutMark+`"}` || len(pointers) != 1 {
		t.Errorf("%s %v %v", got, pointers, err)
	}
}

// TestClippedIsLinear has marks and near misses wherever they fit.
func TestClippedIsLinear(t *testing.T) {
	set := New([]string{strings.Repeat("a", 8<<10) + "b"})
	text := strings.Repeat(strings.Repeat("a", 100)+CutMark, 10000)
	if got := set.String(text); got != strings.Repeat(Mask+CutMark, 10000) {
		t.Errorf("%.100q", got)
	}
}

func FuzzClipped(f *testing.F) {
	f.Add("hunter22 é", "before ", 12)
	f.Add("abababac", "abab", 9)
	f.Fuzz(func(t *testing.T, secret, before string, n int) {
		if !utf8.ValidString(secret) || !utf8.ValidString(before) || strings.Contains(secret, "*") ||
			strings.Contains(secret, "…") || strings.Contains(before, secret) || utf8.RuneCountInString(secret) < MinLength {
			return
		}
		cut := Clip(before+secret, n)
		kept, isCut := strings.CutSuffix(cut, CutMark)
		if !isCut || len(kept) < len(before)+minTail {
			return
		}
		set := New([]string{secret})
		for _, got := range []string{set.Clipped(cut), set.String(cut)} {
			if strings.HasSuffix(strings.TrimSuffix(got, CutMark), kept[len(before):]) {
				t.Errorf("%q leaves %q", cut, got)
			}
		}
	})
}
