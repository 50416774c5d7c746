package figures

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

type line struct{ key, value string }

func (l *line) Attr(key, value string) { *l = line{key, value} }

func TestSaidAndRead(t *testing.T) {
	var l line
	Say(&l, "decision", "the 88 known tools", Millis(1500*time.Microsecond), Times(3*time.Second, 2*time.Second))
	got, ok := Read("=== ATTR  TestRatios/some " + l.key + " " + l.value)
	if want := (Row{"decision", "the 88 known tools", []string{"1.50 ms", "x1.50"}}); !ok || !cmp.Equal(want, got) {
		t.Errorf("%v %v", ok, got)
	}
	for _, other := range []string{"", "=== ATTR ", "=== RUN   TestRatios", "=== ATTR  TestRatios colour red | blue | green", "=== ATTR  TestRatios figures a | b"} {
		if r, ok := Read(other); ok {
			t.Errorf("%q is %v", other, r)
		}
	}
}
