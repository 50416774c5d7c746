package decision

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestForms(t *testing.T) {
	order := append([]Form{"shred"}, Forms...) // of no known meaning: as strong as any
	for i, a := range order {
		for j, b := range order {
			want := i <= j || i == 1 && j == 0
			if got := a.AtLeast(b); got != want {
				t.Errorf("%s at least %s: %v", a, b, got)
			}
		}
		if !a.AtLeast("") || Form("").AtLeast(a) {
			t.Errorf("%s hides no more than nothing", a)
		}
	}
}

func TestHidden(t *testing.T) {
	for name, c := range map[string]struct {
		d    Decision
		want map[string]Form
	}{
		"nothing":           {Decision{Mask: []string{}}, nil},
		"masks alone":       {Decision{Mask: []string{"/a", "/b/c"}}, map[string]Form{"/a": FormMask, "/b": FormMask}},
		"forms alone":       {Decision{Record: Record{How: map[string]Form{"/a/b": FormHash}}}, map[string]Form{"/a/b": FormHash}},
		"a mask is kept":    {Decision{Mask: []string{"/a"}, Record: Record{How: map[string]Form{"/a": FormHash}}}, map[string]Form{"/a": FormMask}},
		"a drop is kept":    {Decision{Mask: []string{"/a"}, Record: Record{How: map[string]Form{"/a": FormDrop}}}, map[string]Form{"/a": FormDrop}},
		"a mask of a whole": {Decision{Mask: []string{"/a/x"}, Record: Record{How: map[string]Form{"/a/x": FormHash}}}, map[string]Form{"/a": FormMask, "/a/x": FormHash}},
	} {
		if diff := cmp.Diff(c.want, c.d.Hidden()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
