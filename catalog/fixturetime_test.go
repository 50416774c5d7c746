package catalog

import (
	"strings"
	"testing"
)

// FuzzSameAddress: a time in the address of a fixture may be any, and nothing
// beside it may differ.
func FuzzSameAddress(f *testing.F) {
	f.Add("https://a.test/?from=", "&n=1", "2026-01-15T10%3A30%3A00.000Z")
	f.Add("https://a.test/", "/x", "20260115")
	f.Add("", "", "now")
	f.Fuzz(func(t *testing.T, before, after, when string) {
		if strings.Contains(before+after, timeMark) || timeText.MatchString(after) {
			t.Skip()
		}
		isTime := timeText.FindString(when) == when && when != ""
		if got := sameAddress(before+timeMark+after, before+when+after); got != isTime && !timeText.MatchString(when) {
			t.Errorf("%q stands for %q: %v", timeMark, when, got)
		} else if isTime && !got {
			t.Errorf("the time %q does not match", when)
		}
		if isTime && sameAddress(before+timeMark+after, before+when+after+"x") {
			t.Error("more at the end matches too")
		}
		if !sameAddress(before+after, before+after) {
			t.Error("an address does not match itself")
		}
	})
}
