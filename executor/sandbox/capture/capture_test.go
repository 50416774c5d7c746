package capture_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolwarrant/toolwarrant/executor/sandbox/capture"
)

type writer func(p []byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }

func never() <-chan time.Time { return nil }

func TestLimit(t *testing.T) {
	for _, c := range []struct {
		limit  int64
		writes []string
		kept   string
		cut    bool
	}{
		{5, nil, "", false},
		{5, []string{"abcde"}, "abcde", false},
		{5, []string{"abc", "", "de"}, "abcde", false},
		{5, []string{"abcde", "f"}, "abcde", true},
		{5, []string{"abc", "def", "g"}, "abcde", true},
		{0, []string{"a"}, "", true},
	} {
		var live strings.Builder
		w := capture.New(c.limit, &live)
		for _, s := range c.writes {
			p := []byte(s)
			if n, err := w.Write(p); n != len(s) || err != nil {
				t.Errorf("%v: wrote %d, %v", c.writes, n, err)
			}
			clear(p) // is the caller's again
		}
		w.Finish(never())
		if string(w.Bytes()) != c.kept || w.Truncated() != c.cut || live.String() != c.kept {
			t.Errorf("%v: %q, %v, live %q", c.writes, w.Bytes(), w.Truncated(), live.String())
		}
	}
}

// TestWriters: one that fails, panics or blocks changes nothing, and one that
// is behind loses whole writes and no parts of them.
func TestWriters(t *testing.T) {
	block := make(chan struct{})
	for name, live := range map[string]writer{
		"fails":  func([]byte) (int, error) { return 0, errors.New("full") },
		"panics": func([]byte) (int, error) { panic("a defect") },
		"blocks": func([]byte) (int, error) { <-block; return 0, errors.New("late") },
	} {
		w := capture.New(10_000, live)
		for range 5000 {
			_, _ = w.Write([]byte("ab"))
		}
		w.Finish(time.After(10 * time.Millisecond))
		if len(w.Bytes()) != 10_000 || w.Truncated() {
			t.Errorf("%s: kept %d, %v", name, len(w.Bytes()), w.Truncated())
		}
	}
	close(block)

	var got []string
	entered, open := make(chan struct{}), make(chan struct{})
	w := capture.New(1<<20, writer(func(p []byte) (int, error) {
		if got = append(got, string(p)); len(got) == 1 {
			close(entered)
			<-open
		}
		return len(p), nil
	}))
	_, _ = w.Write([]byte("first"))
	<-entered
	for range 1000 {
		_, _ = w.Write([]byte("next"))
	}
	close(open)
	w.Finish(never())
	if len(got) < 2 || len(got) > 1000 || slices.ContainsFunc(got[1:], func(s string) bool { return s != "next" }) {
		t.Errorf("the live writer got %d writes", len(got))
	}
}

// TestAppend: what is kept can be appended to while a live writer still reads
// it.
func TestAppend(t *testing.T) {
	got, open := make(chan string), make(chan struct{})
	w := capture.New(100, writer(func(p []byte) (int, error) { <-open; got <- string(p); return len(p), nil }))
	_, _ = w.Write([]byte("abc"))
	_, _ = w.Write([]byte("def"))
	w.Finish(time.After(0))
	a, b := append(w.Bytes(), "xxx"...), append(w.Bytes(), "yyy"...)
	close(open)
	if first, second := <-got, <-got; first+second != "abcdef" || string(a) != "abcdefxxx" || string(b) != "abcdefyyy" {
		t.Errorf("%q %q %q %q", first, second, a, b)
	}
}
