package spool

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func logged(writer string, seq int) string {
	return fmt.Sprintf(`{"time":"2026-11-28T10:00:00.000000Z","schema":"toolwarrant.audit/1","seq":%d,"writer":"%s","text":"é"}`, seq, writer)
}

// TestResume: what a process had in the log and not in its spool when it ended
// is sent by the next one; nothing of another process is, and nothing twice.
func TestResume(t *testing.T) {
	all := []string{logged("a", 1), logged("b", 2), logged("a", 3), logged("b", 4), logged("a", 5), logged("b", 6), logged("a", 7)}
	ofA := []string{all[0], all[2], all[4], all[6]}
	for name, c := range map[string]struct {
		kept  []string // in the spool when the process ended
		fits  int      // lines that fit, 0 = all
		cut   int      // bytes of the spool that a power cut took
		torn  string   // at the end of the log
		want  []string
		lost  map[string]int64
		other bool // the process after it takes another spool first
	}{
		"nothing missing":     {kept: ofA, want: ofA},
		"the last":            {kept: ofA[:3], want: ofA},
		"more":                {kept: ofA[:1], want: ofA},
		"a torn log":          {kept: ofA[:3], torn: logged("a", 9)[:40], want: ofA},
		"torn here":           {kept: ofA[:3], cut: 5, want: ofA},
		"torn, in between":    {kept: ofA, cut: len(appendRecord(nil, 0, []byte(ofA[3]))) + 3, want: ofA},
		"counted as lost":     {kept: ofA, fits: 2, want: ofA[:2], lost: map[string]int64{lostFull: 2}},
		"nothing to begin at": {},
		"left to another":     {kept: ofA[:2], want: ofA, other: true},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			log := filepath.Join(t.TempDir(), "audit.ndjson")
			write(t, log, []byte(strings.Join(all, "\n")+"\n"+c.torn))
			p := &place{fail: dead}
			o := Options{MaxBytes: int64(c.fits) * int64(len(appendRecord(nil, 0, []byte(all[0]))))}
			var first *Sink
			if c.other {
				first = mustOpen(t, root, p, o)
			}
			s := mustOpen(t, root, p, o)
			for _, l := range c.kept {
				must(t, put(t, s, l))
			}
			must(t, s.Close())
			if c.cut > 0 {
				f := segments(t, root)[0]
				st, err := os.Stat(f)
				must(t, err)
				must(t, os.Truncate(f, st.Size()-int64(c.cut)))
			}
			if c.other {
				must(t, first.Close())
			}
			p.set(nil)
			o.Log = log
			s = mustOpen(t, root, p, o)
			arrives(t, p, c.want)
			eventually(t, "the end", func() bool { return s.Status().Waiting == 0 })
			lost, _ := lossOf(s)
			for _, reason := range reasons {
				if lost[reason] != c.lost[reason] {
					t.Errorf("lost %v, want %v", lost, c.lost)
				}
			}
			must(t, s.Close())
			mustOpen(t, root, p, o)
			if got := p.got(); !slices.Equal(got, c.want) {
				t.Errorf("after one more start: %q", got)
			}
		})
	}
}
