package audit

import (
	"fmt"
	"slices"
	"testing"
)

// TestFullRecord: what changed a file or reached a host stands in a full record
// however much else the call did, in the order in which it happened.
func TestFullRecord(t *testing.T) {
	read := func(i int) FSUse { return FSUse{Op: "exists", Path: fmt.Sprint("r", i), Bytes: 1} }
	write := func(i int) FSUse { return FSUse{Op: "writeText", Path: fmt.Sprint("w", i), Bytes: 1} }
	fill := func(n int, make func(int) FSUse) (out []FSUse) {
		for i := range n {
			out = append(out, make(i))
		}
		return out
	}
	for name, tc := range map[string]struct {
		in   []FSUse
		want []FSUse
	}{
		"room":    {fill(3, read), fill(3, read)},
		"exactly": {fill(1000, read), fill(1000, read)},
		"reads first": {
			append(fill(1500, read), write(0), read(1500), write(1)),
			append(fill(997, read), write(0), write(1), FSUse{Op: "(more reads)", Path: "(504 more)", Bytes: 504}),
		},
		"writes first": {
			append(fill(2, write), fill(1500, read)...),
			append(append(fill(2, write), fill(997, read)...), FSUse{Op: "(more reads)", Path: "(503 more)", Bytes: 503}),
		},
		"too many writes": {
			append(fill(10, read), fill(1200, write)...),
			append(fill(999, write), FSUse{Op: "(more)", Path: "(211 more)", Bytes: 211}),
		},
	} {
		before := slices.Clone(tc.in)
		got := capKeeping(tc.in, maxEntries, FSUse.Changes, moreFS)
		if !slices.Equal(got, tc.want) {
			t.Errorf("%s: %d entries, the last %+v, want %d, %+v", name, len(got), got[len(got)-1], len(tc.want), tc.want[len(tc.want)-1])
		}
		if !slices.Equal(tc.in, before) {
			t.Errorf("%s: the list of the caller changed", name)
		}
	}
	hosts := slices.Repeat([]Egress{{Host: "refused.example"}}, 1500)
	hosts = append(hosts, Egress{Host: "silent.example", IP: "203.0.113.1"}, Egress{Host: "answered.example", IP: "203.0.113.2", Status: 200, Bytes: 5})
	got := capKeeping(hosts, maxEntries, reached, moreEgress)
	if n := len(got); n != maxEntries || got[n-3].Host != "silent.example" || got[n-2].Host != "answered.example" || got[n-1].Host != "(503 more)" {
		t.Errorf("hosts: %+v", got[len(got)-3:])
	}
}
