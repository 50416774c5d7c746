package script

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRead(t *testing.T) {
	tests := map[string]struct {
		code string
		want Outline
	}{
		"nothing":            {"return 1 // 'comment'", Outline{}},
		"does not parse":     {"return +*", Outline{}},
		"strings":            {"const a = 'x';\nreturn a + `y${a}z`", Outline{Strings: []Piece{{"x", 1, 11}, {"y", 2, 13}, {"z", 2, 18}}}},
		"foreign names":      {"let größe = 1; /* größe */\nreturn größe.länge", Outline{Foreign: []Piece{{"größe", 1, 5}, {"länge", 2, 16}, {"größe", 2, 8}}}},
		"endless":            {"while (true) { console.log(1) }", Outline{EndlessLoops: []Piece{{"while", 1, 1}}}},
		"endless for and do": {"for (;;) ;\ndo { } while (1)", Outline{EndlessLoops: []Piece{{"for", 1, 1}, {"do", 2, 1}}}},
		"leaves":             {"for (;;) { if (a) break }\nwhile (1) { return 2 }\nwhile (true) { throw a }", Outline{}},
		"has a condition":    {"while (a) { }\nfor (let i = 0; i < 3; i++) ;\nwhile (0) { }", Outline{}},
		"continue is no way": {"while (true) { continue }", Outline{EndlessLoops: []Piece{{"while", 1, 1}}}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, Read(tt.code)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
