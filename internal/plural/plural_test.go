package plural

import "testing"

func TestOf(t *testing.T) {
	for n, want := range map[int]string{-1: "-1 records", 0: "0 records", 1: "1 record", 2: "2 records"} {
		if got := Of(n, "record"); got != want {
			t.Errorf("%d: %q", n, got)
		}
	}
}
