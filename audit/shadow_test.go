package audit

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
)

// TestShadowIsBounded: whatever a policy that is not in force says, the record
// gets into the log, and says that there is more.
func TestShadowIsBounded(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	many := make([]string, 10_000)
	for i := range many {
		many[i] = long[:2000]
	}
	text, err := json.Marshal(long)
	must(t, err)
	list, err := json.Marshal(many)
	must(t, err)
	w := mustOpen(t, t.TempDir(), Options{})
	c := sampleCall("call-1")
	c.Shadow.Rules, c.Shadow.Differences = many, nil
	for range 10_000 {
		c.Shadow.Differences = append(c.Shadow.Differences, Difference{Path: long, Direction: "changed", Old: text, New: list, Added: many, Removed: many})
		if len(c.Shadow.Differences) > 3 {
			text, list, many = json.RawMessage("1"), json.RawMessage("null"), nil
		}
	}
	must(t, w.Close(context.Background(), c, nil))
	line := readFile(t, w.Path())
	if len(line) > 512<<10 {
		t.Errorf("the line has %d bytes", len(line))
	}
	s := records(t, w.Path())[0].Shadow
	if last := s.Differences[len(s.Differences)-1]; !strings.HasSuffix(last.Path, " more)") || len(s.Rules) != maxShadowEntries || !strings.HasSuffix(s.Rules[len(s.Rules)-1], " more)") {
		t.Errorf("%d differences, the last is %s; %d rules", len(s.Differences), last.Path, len(s.Rules))
	}
	wantOK(t, w.Path())

	// Few and small ones are all there.
	c = sampleCall("call-2")
	must(t, w.Close(context.Background(), c, nil))
	if s := records(t, w.Path())[1].Shadow; len(s.Differences) != len(c.Shadow.Differences) || len(s.Rules) != 1 {
		t.Errorf("%+v", s)
	}
}

// TestShadowIsNoReasonToRefuse: a record that would be too long with what the
// shadow says, or that it makes unwritable, goes without.
func TestShadowIsNoReasonToRefuse(t *testing.T) {
	w := mustOpen(t, t.TempDir(), Options{})
	c := sampleCall("call-1")
	c.Effective.DenyClasses = []string{strings.Repeat("x", maxLine-40<<10)} // of the policy in force: not bounded
	c.Shadow.Differences = nil
	for range maxDifferences {
		c.Shadow.Differences = append(c.Shadow.Differences, Difference{Path: strings.Repeat("<", 500), Direction: "changed"})
	}
	must(t, w.Close(context.Background(), c, nil))
	s := records(t, w.Path())[0].Shadow
	if s.Error == nil || *s.Error.Reason != "too-long" || s.Kind != nil || s.Revision != c.Shadow.Revision {
		t.Errorf("the record says %+v, with %d differences", s.Error, len(s.Differences))
	}
	wantOK(t, w.Path())
}
