package audit

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

func TestEscaped(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":"plain 한국어 ü €"}`:                                `{"a":"plain 한국어 ü €"}`,
		"{\"a\":\"\x7f \u0080\u009b31m\u0085 \u2028\u2029\"}":  `{"a":"\u007f \u0080\u009b31m\u0085 \u2028\u2029"}`,
		"\"\u202a\u202e\u2066\u2069\u200e\u200f\u061c\"":       `"\u202a\u202e\u2066\u2069\u200e\u200f\u061c"`,
		"\"\u00a0\u2010\u2027\u202f\u2030\u2065\u206a\u0600\"": "\"\u00a0\u2010\u2027\u202f\u2030\u2065\u206a\u0600\"",
		"":     "",
		"\xc2": "\xc2", "\xe2\x80": "\xe2\x80",
	} {
		if got := string(Escaped([]byte(text))); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

func FuzzEscaped(f *testing.F) {
	f.Add("a\u0085\u202e\x7f\u2028 \xe2\x80")
	f.Fuzz(func(t *testing.T, s string) {
		raw, err := json.Marshal(s)
		if err != nil {
			t.Skip()
		}
		var want, back string
		if json.Unmarshal(raw, &want) != nil {
			t.Skip()
		}
		if err := json.Unmarshal(Escaped(raw), &back); err != nil || back != want {
			t.Errorf("%q became %q (%v)", want, back, err)
		}
	})
}

// TestNothingActs: what a caller sends stands in the log so that no terminal
// and no reader of lines acts on it.
func TestNothingActs(t *testing.T) {
	w := mustOpen(t, t.TempDir(), Options{})
	bad := "\u009b31m \u0085 \x7f \u202e \u2028 한"
	c := sampleCall("call-1")
	c.Tool.Name, c.Params = bad, json.RawMessage(`{"`+bad+`":["`+bad+`"]}`)
	must(t, w.Close(context.Background(), c, nil))
	text, err := os.ReadFile(w.Path())
	must(t, err)
	if strings.ContainsAny(string(text), "\u009b\u0085\x7f\u202e\u2028") || !strings.Contains(string(text), "한") {
		t.Errorf("%s", text)
	}
	wantOK(t, w.Path())
	r := records(t, w.Path())[0]
	if r.Tool.Name != bad {
		t.Errorf("the name is %q", r.Tool.Name)
	}
}

// TestClockFarAhead: a clock that is wrong empties no log, and one that was off
// for long is believed in time.
func TestClockFarAhead(t *testing.T) {
	clock := newHandClock()
	dir := t.TempDir()
	ctx := context.Background()
	open := func() *Writer {
		return rotating(t, dir, Options{Retain: Retention{Age: 365 * 24 * time.Hour}, Now: clock.now})
	}
	w := open()
	for i := range 3 {
		closes(t, w, fmt.Sprintf("a%d", i), fmt.Sprintf("b%d", i))
		turn(t, w)
		clock.pass(24 * time.Hour)
		must(t, w.keeper.tidy(ctx))
	}
	year := 74 * 365 * 24 * time.Hour
	for range 3 { // and no number of starts changes that
		clock.pass(year)
		must(t, w.keeper.tidy(ctx))
		must(t, w.keeper.tidy(ctx))
		must(t, w.Shutdown(ctx))
		w = open()
		must(t, w.keeper.tidy(ctx))
		clock.pass(-year)
	}
	if n := len(segmentPaths(t, dir)); n != 3 {
		t.Fatalf("%d files are left, want 3", n)
	}
	log, err := os.ReadFile(w.Path())
	must(t, err)
	if !strings.Contains(string(log), `"kind":"retention.clock"`) {
		t.Error("nothing is said of the clock")
	}
	for range 60 { // time that passes is believed
		clock.pass(6 * 24 * time.Hour)
		must(t, w.keeper.tidy(ctx))
	}
	clock.pass(6 * 24 * time.Hour)
	must(t, w.keeper.tidy(ctx))
	closes(t, w, "c", "d")
	clock.pass(6 * 24 * time.Hour)
	must(t, w.keeper.tidy(ctx))
	if n := len(segmentPaths(t, dir)); n != 0 {
		t.Errorf("%d files are left after a year", n)
	}
}

// TestAgeClock: a step of the machine's clock, and what passes with it.
func TestAgeClock(t *testing.T) {
	day := 24 * time.Hour
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	c := ageClock{Believed: at, Wall: at, last: at}
	c.advance(at.Add(100*day), time.Hour)
	if got := c.Believed.Sub(at); got != 2*time.Hour {
		t.Errorf("a leap moved it by %v", got)
	}
	for range 60 {
		c.advance(c.Wall.Add(day), day)
	}
	if late := c.Wall.Sub(c.Believed); late < 39*day || late > 41*day {
		t.Errorf("after 60 days it is %v late", late)
	}
	for range 60 {
		c.advance(c.Wall.Add(day), day)
	}
	if late := c.Wall.Sub(c.Believed); late != 0 {
		t.Errorf("it is still %v late", late)
	}
	c.advance(at, day)
	if !c.Believed.Equal(at) {
		t.Errorf("a clock that went back: %v", c.Believed)
	}
}
