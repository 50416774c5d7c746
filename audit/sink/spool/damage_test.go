package spool

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestDamage: whatever happened to the files, what is left arrives in order,
// what is not is counted, exactly where that can be known, and the file is
// named and kept.
func TestDamage(t *testing.T) {
	record := len(appendRecord(nil, 0, []byte(line(10))))
	for name, c := range map[string]struct {
		do    func(t *testing.T, segment string, content []byte)
		want  []string
		lost  int64
		again bool // everything may come again
	}{
		"a byte of a line": {func(t *testing.T, f string, b []byte) { b[record*4+recordHead+30] ^= 1; write(t, f, b) },
			without(4), 1, false},
		"a byte of a number": {func(t *testing.T, f string, b []byte) { b[record*4+12] ^= 1; write(t, f, b) },
			without(4), 1, false},
		"a newline": {func(t *testing.T, f string, b []byte) { b[record*5-1] = ' '; write(t, f, b) },
			without(4, 5), 2, false},
		"a line removed": {func(t *testing.T, f string, b []byte) { write(t, f, slices.Delete(b, record*3, record*5)) },
			without(3, 4), 2, false},
		"the first removed": {func(t *testing.T, f string, b []byte) { write(t, f, b[record*2:]) },
			without(0, 1), 2, false},
		"the last torn": {func(t *testing.T, f string, b []byte) { write(t, f, b[:len(b)-5]) },
			without(9), 1, false},
		"a line twice": {func(t *testing.T, f string, b []byte) {
			write(t, f, append(slices.Clone(b[:record*4]), b[record*3:]...))
		}, without(), 0, false},
		"two swapped": {func(t *testing.T, f string, b []byte) {
			c := slices.Clone(b)
			copy(c[record*3:], b[record*4:record*5])
			copy(c[record*4:], b[record*3:record*4])
			write(t, f, c)
		}, without(3), 1, false},
		"an own line forged": {func(t *testing.T, f string, b []byte) {
			b = append(b, "00000000 000000000000000a {}\n"...)
			write(t, f, b)
		}, without(), 1, false},
		"all zero": {func(t *testing.T, f string, b []byte) { clear(b); write(t, f, b) },
			nil, 1, false}, // without a newline nobody knows how many there were
		"empty": {func(t *testing.T, f string, b []byte) { write(t, f, nil) },
			nil, 0, false}, // as after a power cut that took all: there is nothing that says otherwise
		"the state": {func(t *testing.T, f string, _ []byte) {
			state := filepath.Join(filepath.Dir(f), stateFile)
			b, err := os.ReadFile(state)
			must(t, err)
			b[20] ^= 1
			write(t, state, b)
		}, without(), 0, true},
		"the state gone": {func(t *testing.T, f string, _ []byte) { must(t, os.Remove(filepath.Join(filepath.Dir(f), stateFile))) },
			without(), 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			p := &place{fail: dead}
			s := mustOpen(t, root, p, Options{})
			must(t, put(t, s, numbered(10, 20)...))
			must(t, s.Close())
			f := segments(t, root)[0]
			b, err := os.ReadFile(f)
			must(t, err)
			c.do(t, f, b)

			p.set(nil)
			var told []error
			s, err = Open(root, p, quick(Options{Notify: func(err error) { told = append(told, err) }}))
			must(t, err)
			must(t, put(t, s, line(20)))
			arrives(t, p, append(slices.Clone(c.want), line(20)))
			eventually(t, "the end", func() bool { return s.Status().Waiting == 0 })
			lost, damages := lossOf(s)
			if lost[lostDamaged] != c.lost {
				t.Errorf("counted %v, want %d", lost, c.lost)
			}
			must(t, s.Close())
			kept, _ := filepath.Glob(filepath.Join(filepath.Dir(f), damagedPrefix+"*"))
			if named := c.lost > 0 || name == "the state"; named != (damages > 0 && len(kept) > 0 && len(told) > 0) {
				t.Errorf("%d damages told to the chain, %d files kept, the log of the process says %v", damages, len(kept), told)
			}
			for _, err := range told {
				if !strings.Contains(err.Error(), "damaged: "+filepath.Dir(f)) {
					t.Errorf("the file is not named: %v", err)
				}
			}
			modes(t, root)
		})
	}
}

func without(list ...int) (out []string) {
	for i := range 10 {
		if !slices.Contains(list, i) {
			out = append(out, line(10+i))
		}
	}
	return out
}

func write(t *testing.T, path string, b []byte) {
	t.Helper()
	must(t, os.WriteFile(path, b, 0o600))
}

// TestDamageWhileRunning: files that vanish or are cut under a living process.
func TestDamageWhileRunning(t *testing.T) {
	for name, do := range map[string]func(t *testing.T, f string){
		"gone": func(t *testing.T, f string) { must(t, os.Remove(f)) },
		"cut":  func(t *testing.T, f string) { must(t, os.Truncate(f, 0)) },
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			p := &place{fail: dead}
			s := mustOpen(t, root, p, Options{})
			must(t, put(t, s, numbered(0, 10)...))
			f := segments(t, root)[0]
			p.set(func([][]byte) error { // while a batch is on its way
				do(t, f)
				p.fail = nil
				return errDead
			})
			eventually(t, "the count", func() bool { return s.Status().Lost == 10 })
			must(t, put(t, s, numbered(10, 20)...))
			arrives(t, p, numbered(10, 20))
			if lost, damages := lossOf(s); lost[lostDamaged] != 10 || damages != 1 {
				t.Errorf("told %v, %d damages", lost, damages)
			}
		})
	}
}

// TestEveryFlip: no changed byte of a segment makes another line arrive, or
// one be lost without a count.
func TestEveryFlip(t *testing.T) {
	var content []byte
	for i := range 5 {
		content = appendRecord(content, uint64(i), []byte(line(i)))
	}
	for at := range content {
		dir := t.TempDir()
		b := slices.Clone(content)
		b[at] ^= 0x41
		write(t, filepath.Join(dir, fmt.Sprintf("%016x%s", 0, segmentExt)), b)
		s, err := openStore(dir, 1<<20)
		must(t, err)
		got, err := s.read(100, 1<<20)
		must(t, err)
		s.done(got, 0)
		var lost int64
		for _, d := range s.damages {
			lost += d.Lines
		}
		for _, l := range got.lines {
			if !slices.Contains(numbered(0, 5), string(l)) {
				t.Fatalf("byte %d: %q arrives", at, l)
			}
		}
		// Of lines that run into one, at the end, nobody knows the number.
		if lost == 0 || int64(len(got.lines))+lost < 5 && content[at] != '\n' {
			t.Fatalf("byte %d: %d lines arrive, %d are counted as lost", at, len(got.lines), lost)
		}
		must(t, s.close())
	}
}

// FuzzRecord: a record that is read is one as it is written.
func FuzzRecord(f *testing.F) {
	f.Add([]byte(`00000000 0000000000000000 {}`))
	f.Add(bytes.TrimSuffix(appendRecord(nil, 7, []byte("{}")), []byte("\n")))
	f.Fuzz(func(t *testing.T, raw []byte) {
		n, l, err := parseRecord(raw)
		if err == nil && !strings.EqualFold(string(appendRecord(nil, n, l)), string(raw)+"\n") {
			t.Errorf("%q is read as record %d, %q", raw, n, l)
		}
	})
}

// FuzzState: as little.
func FuzzState(f *testing.F) {
	f.Add([]byte(`00000000 {"version":1}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if s, err := parseState(raw); err == nil && (s.Version != 1 || s.Lost == nil || s.Told == nil) {
			t.Errorf("%+v", s)
		}
	})
}

// FuzzSegment: whatever a segment holds, what arrives is what has a sum, in the
// order of its numbers, and the rest is counted.
func FuzzSegment(f *testing.F) {
	f.Add([]byte("{}\n"), uint16(3))
	f.Add(appendRecord(appendRecord(nil, 0, []byte("a")), 1, []byte("b")), uint16(30))
	f.Add(appendRecord(appendRecord(nil, 5, []byte("a")), 3, []byte("b")), uint16(1))
	f.Add(appendRecord(nil, 1<<63, []byte("a")), uint16(0))
	f.Fuzz(func(t *testing.T, content []byte, flip uint16) {
		dir := t.TempDir()
		if len(content) > 0 {
			content = slices.Clone(content)
			content[int(flip)%len(content)] ^= 1
		}
		write(t, filepath.Join(dir, fmt.Sprintf("%016x%s", 0, segmentExt)), content)
		s, err := openStore(dir, 1<<20)
		must(t, err)
		defer s.close()
		must(t, s.append([][]byte{[]byte("own")}, false))
		last, got := uint64(0), 0
		for range 1000 {
			b, err := s.read(1, 1<<20)
			must(t, err)
			if len(b.lines) == 0 {
				break
			}
			if b.next <= last {
				t.Fatalf("record %d after %d", b.next, last)
			}
			last = b.next
			got++
			s.done(b, 0)
			if string(b.lines[0]) == "own" {
				return
			}
		}
		t.Errorf("the line that was appended does not arrive after %d others", got)
	})
}
