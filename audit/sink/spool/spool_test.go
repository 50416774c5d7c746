package spool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/audit/sink"
)

// place is a destination in memory.
type place struct {
	mu    sync.Mutex
	lines []string
	fail  func(lines [][]byte) error // nil = takes all
}

func (p *place) Write(_ context.Context, lines [][]byte, _ bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var err error
	if p.fail != nil {
		err = p.fail(lines)
	}
	var refused *sink.Refused
	if err == nil || errors.As(err, &refused) {
		for _, l := range lines {
			p.lines = append(p.lines, string(l))
		}
	}
	return err
}

func (p *place) Close() error { return nil }

func (p *place) set(fail func([][]byte) error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fail = fail
}

func (p *place) got() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.lines)
}

var errDead = errors.New("nobody there")

func dead([][]byte) error { return errDead }

func quick(o Options) Options {
	o.Backoff, o.MaxBackoff, o.tellEvery = time.Millisecond, 10*time.Millisecond, time.Nanosecond
	return o
}

func mustOpen(t *testing.T, root string, target audit.Sink, o Options) *Sink {
	t.Helper()
	s, err := Open(root, target, quick(o))
	must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// eventually waits for what happens in the background.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s did not happen", what)
		}
	}
}

func line(i int) string {
	return fmt.Sprintf(`{"time":"2026-11-28T10:%02d:%02d.000000Z","seq":%d,"text":"é\n"}`, i/60%60, i%60, i)
}

func numbered(from, to int) (out []string) {
	for i := from; i < to; i++ {
		out = append(out, line(i))
	}
	return out
}

func put(t *testing.T, s *Sink, lines ...string) error {
	t.Helper()
	var raw [][]byte
	for _, l := range lines {
		raw = append(raw, []byte(l))
	}
	return s.Write(t.Context(), raw, true)
}

func arrives(t *testing.T, p *place, want []string) {
	t.Helper()
	eventually(t, fmt.Sprintf("arrival of %d lines", len(want)), func() bool { return len(p.got()) >= len(want) })
	if got := p.got(); !slices.Equal(got, want) {
		t.Fatalf("got %d lines, want %d in order and byte for byte: %q", len(got), len(want), strings.Join(got[:min(3, len(got))], "\n"))
	}
}

// lossOf is what the chain is told, by reason, and how many damages.
func lossOf(s *Sink) (lost map[string]int64, damages int) {
	lost = map[string]int64{}
	events := s.Reports(time.Now())
	for _, e := range events {
		if e.Kind == "sink.damaged" {
			damages++
			lost[lostDamaged] += e.Detail["lines"].(int64)
			continue
		}
		lost[e.Detail["reason"].(string)] += e.Detail["lines"].(int64)
	}
	s.Reported(len(events))
	return lost, damages
}

func TestBestEffortKeepsWhileDead(t *testing.T) {
	p := &place{fail: dead}
	var told []error
	var mu sync.Mutex
	s := mustOpen(t, t.TempDir(), p, Options{Batch: 7, Notify: func(err error) { mu.Lock(); told = append(told, err); mu.Unlock() }})
	for i := range 100 {
		must(t, put(t, s, line(i)))
	}
	eventually(t, "the failure", func() bool { return errors.Is(s.Ready(), errDead) })
	st := s.Status()
	if st.Waiting != 100 || st.Lost != 0 || st.Oldest.IsZero() {
		t.Errorf("%+v", st)
	}
	p.set(nil)
	arrives(t, p, numbered(0, 100))
	eventually(t, "the recovery", func() bool { return s.Ready() == nil })
	eventually(t, "an empty spool", func() bool { return s.Status() == audit.SpoolStatus{} })
	mu.Lock()
	defer mu.Unlock()
	if len(told) != 2 || !errors.Is(told[0], errDead) || told[1] != nil {
		t.Errorf("told %v, want the failure and the recovery once each", told)
	}
}

func TestRequired(t *testing.T) {
	p := &place{}
	s := mustOpen(t, t.TempDir(), p, Options{Required: true})
	for i := range 10 {
		must(t, put(t, s, line(i)))
		if n := len(p.got()); n != i+1 {
			t.Fatalf("Write returned and the destination has %d lines", n)
		}
	}
	p.set(dead)
	for i := 10; i < 15; i++ {
		if err := put(t, s, line(i)); !errors.Is(err, errDead) {
			t.Fatalf("got %v", err)
		}
	}
	p.set(nil)
	eventually(t, "the recovery", func() bool { return s.Ready() == nil })
	must(t, put(t, s, line(15)))
	arrives(t, p, numbered(0, 16))
}

// TestRequiredTooSlow: who waits in vain is told, and so is the next one, at
// once; when the destination has all, calls go on.
func TestRequiredTooSlow(t *testing.T) {
	hold := make(chan struct{})
	p := &place{fail: func([][]byte) error { <-hold; return nil }}
	s := mustOpen(t, t.TempDir(), p, Options{Required: true})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := s.Write(ctx, [][]byte{[]byte(line(0))}, true); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("got %v", err)
	}
	if err := put(t, s, line(1)); !errors.Is(err, context.DeadlineExceeded) || t.Context().Err() != nil {
		t.Fatalf("the second was not refused at once: %v", err)
	}
	close(hold)
	eventually(t, "the recovery", func() bool { return s.Ready() == nil })
	must(t, put(t, s, line(2)))
	arrives(t, p, numbered(0, 3))
}

// TestHangs: a destination that looks at no deadline is down, and one attempt
// is made at a time.
func TestHangs(t *testing.T) {
	hold := make(chan struct{})
	p := &place{fail: func([][]byte) error { <-hold; return nil }}
	s := mustOpen(t, t.TempDir(), p, Options{Timeout: time.Millisecond})
	must(t, put(t, s, line(0)))
	eventually(t, "the failure", func() bool { return s.Ready() != nil })
	close(hold)
	eventually(t, "the recovery", func() bool { return s.Ready() == nil })
	arrives(t, p, numbered(0, 1))
}

func TestPanics(t *testing.T) {
	n := 0
	p := &place{}
	p.fail = func([][]byte) error {
		if n++; n < 3 {
			panic("oops")
		}
		return nil
	}
	s := mustOpen(t, t.TempDir(), p, Options{})
	must(t, put(t, s, line(0)))
	arrives(t, p, numbered(0, 1))
}

func TestRestart(t *testing.T) {
	root := t.TempDir()
	p := &place{fail: dead}
	for run := range 4 {
		s := mustOpen(t, root, p, Options{})
		must(t, put(t, s, numbered(run*1000, run*1000+1000)...))
		must(t, s.Close())
		if err := put(t, s, "x"); !errors.Is(err, os.ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
	}
	modes(t, root)
	p.set(nil)
	s := mustOpen(t, root, p, Options{Batch: 300})
	must(t, put(t, s, line(4000)))
	arrives(t, p, numbered(0, 4001))
	must(t, s.Close())
	mustOpen(t, root, p, Options{})
	time.Sleep(5 * time.Millisecond) // nothing that was sent is sent again
	arrives(t, p, numbered(0, 4001))
}

// modes: what is kept is the operator's alone.
func modes(t *testing.T, root string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		return
	}
	must(t, filepath.Walk(root, func(path string, info os.FileInfo, err error) error {
		if err == nil && path != root && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return err
	}))
}

// TestManySegments: files are removed as they are sent.
func TestManySegments(t *testing.T) {
	root := t.TempDir()
	p := &place{fail: dead}
	s := mustOpen(t, root, p, Options{})
	var want []string
	for i := range 12 {
		want = append(want, strings.Repeat("x", 1<<20)+line(i))
		must(t, put(t, s, want[i]))
	}
	if n := len(segments(t, root)); n < 3 {
		t.Errorf("%d segments", n)
	}
	p.set(nil)
	arrives(t, p, want)
	eventually(t, "the removal", func() bool { return len(segments(t, root)) == 1 })
}

func segments(t *testing.T, root string) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(root, "*", "*"+segmentExt))
	must(t, err)
	return slices.DeleteFunc(list, func(p string) bool { return strings.HasPrefix(filepath.Base(p), damagedPrefix) })
}

// TestBound: what does not fit is counted, what fitted arrives, and the count
// is told once, when there is room again, by whichever process comes next.
func TestBound(t *testing.T) {
	for _, restart := range []bool{false, true} {
		t.Run(fmt.Sprint(restart), func(t *testing.T) {
			root := t.TempDir()
			p := &place{fail: dead}
			o := Options{MaxBytes: 10 * int64(recordHead+len(line(0))+1)}
			s := mustOpen(t, root, p, o)
			for i := range 25 {
				must(t, put(t, s, line(i)))
			}
			if st := s.Status(); st.Waiting != 10 || st.Lost != 15 {
				t.Fatalf("%+v", st)
			}
			if lost, _ := lossOf(s); len(lost) != 0 {
				t.Errorf("told %v while nothing fits", lost)
			}
			if restart {
				must(t, s.Close())
				s = mustOpen(t, root, p, o)
			}
			p.set(nil)
			arrives(t, p, numbered(0, 10))
			eventually(t, "room", func() bool { return s.Status().Waiting == 0 })
			if lost, _ := lossOf(s); lost[lostFull] != 15 {
				t.Errorf("told %v", lost)
			}
			if lost, _ := lossOf(s); len(lost) != 0 {
				t.Errorf("told twice: %v", lost)
			}
			must(t, put(t, s, line(25)))
			arrives(t, p, append(numbered(0, 10), line(25)))
		})
	}
}

// TestRequiredBound: a call that does not fit is refused.
func TestRequiredBound(t *testing.T) {
	p := &place{fail: dead}
	s := mustOpen(t, t.TempDir(), p, Options{Required: true, MaxBytes: 3 * int64(recordHead+len(line(0))+1)})
	for i := range 6 {
		err := put(t, s, line(i))
		if want := []error{errDead, errFull}[i/3]; !errors.Is(err, want) {
			t.Errorf("%d: got %v, want %v", i, err, want)
		}
	}
}

// TestRefusedForGood: lines that the destination will not take do not keep
// the others from it.
func TestRefusedForGood(t *testing.T) {
	p := &place{fail: func(lines [][]byte) error {
		if len(lines) > 1 || bytes.Contains(lines[0], []byte(`"seq":3,`)) {
			return &sink.TooLarge{Err: errors.New("413")}
		}
		return nil
	}}
	s := mustOpen(t, t.TempDir(), p, Options{})
	must(t, put(t, s, numbered(0, 6)...))
	arrives(t, p, append(numbered(0, 3), numbered(4, 6)...))
	eventually(t, "the count", func() bool { return s.Status().Lost == 1 })
	if lost, _ := lossOf(s); lost[lostRefused] != 1 {
		t.Errorf("told %v", lost)
	}

	p = &place{fail: func([][]byte) error { return &sink.Refused{Lines: 2, Why: "no"} }}
	s = mustOpen(t, t.TempDir(), p, Options{Required: true})
	if err := put(t, s, numbered(0, 3)...); err == nil {
		t.Error("a required sink refused lines, and the call went on")
	}
	p.set(nil)
	must(t, put(t, s, line(3)))
	if lost, _ := lossOf(s); lost[lostRefused] != 2 {
		t.Errorf("told %v", lost)
	}
}

// TestTwoProcesses: each has its own spool, and what one leaves the other
// sends.
func TestTwoProcesses(t *testing.T) {
	root := t.TempDir()
	p := &place{fail: dead}
	a, b := mustOpen(t, root, p, Options{}), mustOpen(t, root, p, Options{})
	if a.slot == b.slot {
		t.Fatal("two share one spool")
	}
	must(t, put(t, b, numbered(0, 50)...))
	must(t, b.Close())
	must(t, a.Close())
	p.set(nil)
	mustOpen(t, root, p, Options{Batch: 20})
	arrives(t, p, numbered(0, 50))
}
