package audit

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// fakeSpooler is a Spooler whose every answer a test chooses.
type fakeSpooler struct {
	fakeSink
	mu      sync.Mutex
	ready   error
	reports []Event
}

func (k *fakeSpooler) Ready() error { k.mu.Lock(); defer k.mu.Unlock(); return k.ready }

func (k *fakeSpooler) Status() SpoolStatus {
	return SpoolStatus{Waiting: 3, Oldest: time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC), Lost: 2}
}

func (k *fakeSpooler) Reports(time.Time) []Event {
	k.mu.Lock()
	defer k.mu.Unlock()
	return append([]Event(nil), k.reports...)
}

func (k *fakeSpooler) Reported(n int) { k.mu.Lock(); defer k.mu.Unlock(); k.reports = k.reports[n:] }

func (k *fakeSpooler) down(err error) {
	k.mu.Lock()
	k.ready = err
	k.mu.Unlock()
	k.set(err, false)
}

func eventKinds(t *testing.T, w *Writer) string {
	t.Helper()
	var out []string
	for _, l := range strings.Split(string(readFile(t, w.Path())), "\n") {
		if _, rest, ok := strings.Cut(l, `"kind":"`); ok {
			kind, _, _ := strings.Cut(rest, `"`)
			out = append(out, kind)
		}
	}
	return strings.Join(out, " ")
}

// TestRequiredSpooler: while it is down the log is red, also for somebody who
// only looks; the outage is one record, when it is over.
func TestRequiredSpooler(t *testing.T) {
	k := &fakeSpooler{}
	w := mustOpen(t, t.TempDir(), Options{Sinks: []SinkOption{{Name: "k", Sink: k, Required: true}}})
	ctx := context.Background()
	must(t, w.Close(ctx, bareCall("a"), nil))
	k.down(errors.New("gone"))
	for i := range 3 {
		err := w.Close(ctx, bareCall(fmt.Sprint("b", i)), nil)
		wantReason(t, err, ReasonSink)
		if !InLog(err) {
			t.Errorf("%v: the record is in the log", err)
		}
		w.health.probed = time.Time{}
		wantReason(t, w.Health(ctx), ReasonSink)
	}
	if st := w.Sinks(); len(st) != 1 || !st[0].Required || st[0].Err == nil || st[0].Waiting != 3 || st[0].Behind(time.Date(2026, 1, 2, 3, 5, 0, 0, time.UTC)) != time.Minute {
		t.Errorf("%+v", st)
	}
	if got := eventKinds(t, w); got != "" {
		t.Errorf("events %q while it is down", got)
	}
	k.down(nil)
	w.health.probed = time.Time{}
	must(t, w.Health(ctx))
	if got := eventKinds(t, w); got != "audit.outage" {
		t.Errorf("events %q", got)
	}
	wantOK(t, w.Path())
}

// TestOutageToldLater: a sink that comes back while a commit is on its way
// ends the outage, which is on record all the same, with the time when it
// ended; and one that fails again before has one record for both.
func TestOutageToldLater(t *testing.T) {
	now := newHandClock()
	for _, again := range []bool{false, true} {
		k := &fakeSpooler{}
		w := mustOpen(t, t.TempDir(), Options{Now: now.now, Sinks: []SinkOption{{Name: "k", Sink: k, Required: true}}})
		ctx := context.Background()
		refused := 0
		for range map[bool]int{false: 1, true: 2}[again] {
			k.down(errors.New("gone"))
			wantReason(t, w.Close(ctx, bareCall(fmt.Sprint("b", refused)), nil), ReasonSink)
			refused++
			k.set(nil, false) // takes lines, while Ready does not say so yet
			must(t, w.Close(ctx, bareCall(fmt.Sprint("c", refused)), nil))
			if got := eventKinds(t, w); got != "" {
				t.Fatalf("events %q before anybody could know", got)
			}
		}
		ended := now.now().UTC().Format(timeLayout)
		k.down(nil)
		now.pass(time.Minute)
		must(t, w.Health(ctx))
		if got := eventKinds(t, w); got != "audit.outage" {
			t.Fatalf("events %q", got)
		}
		if text := string(readFile(t, w.Path())); !strings.Contains(text, `"until":"`+ended+`"`) || !strings.Contains(text, fmt.Sprintf(`"refusedRecords":%d,`, refused)) {
			t.Errorf("want the end %s and %d refused: %s", ended, refused, text)
		}
		now.pass(time.Minute)
		must(t, w.Health(ctx))
		must(t, w.Close(ctx, bareCall("d"), nil))
		if got := eventKinds(t, w); got != "audit.outage" {
			t.Errorf("told again: %q", got)
		}
		wantOK(t, w.Path())
	}
}

// TestReports: what a sink lost is on record, once, at the latest when the
// log is shut down.
func TestReports(t *testing.T) {
	k := &fakeSpooler{reports: []Event{{Kind: "sink.lost", Detail: map[string]any{"reason": "full", "lines": 7}}, {Kind: "sink.damaged", Detail: map[string]any{"lines": 1}}}}
	stuck := &fakeSink{wait: make(chan struct{})}
	w := mustOpen(t, t.TempDir(), Options{Sinks: []SinkOption{{Name: "k", Sink: k}, {Name: "q", Sink: stuck}}})
	for i := range sinkQueue + 20 {
		must(t, w.Open(context.Background(), bareCall(fmt.Sprint("c", i)), false, nil))
	}
	close(stuck.wait)
	for end := time.Now().Add(time.Minute); len(w.sinks.best[1].queue) > 0 && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	must(t, w.Shutdown(context.Background()))
	text := string(readFile(t, w.Path()))
	for _, want := range []string{`"detail":{"lines":7,"reason":"full","sink":"k"}`, `"detail":{"lines":1,"sink":"k"}`} {
		if strings.Count(text, want) != 1 {
			t.Errorf("%s is there %d times", want, strings.Count(text, want))
		}
	}
	said := int64(0) // in one event, or in several where the loss took longer than reportEvery
	for _, m := range regexp.MustCompile(`"detail":\{"lines":(\d+),"reason":"queue","sink":"q"\}`).FindAllStringSubmatch(text, -1) {
		n, err := strconv.ParseInt(m[1], 10, 64)
		must(t, err)
		said += n
	}
	if lost := w.LostLines()["q"]; said != lost {
		t.Errorf("%d lines did not fit into the queue, and the log speaks of %d", lost, said)
	}
	wantOK(t, w.Path())
}

// TestLossAtTheEnd: while a queue has not emptied, what did not fit into it is
// not told yet, and told all the same when nobody will look again.
func TestLossAtTheEnd(t *testing.T) {
	stuck := &fakeSink{wait: make(chan struct{})}
	w := mustOpen(t, t.TempDir(), Options{Sinks: []SinkOption{{Name: "q", Sink: stuck}}})
	for i := range sinkQueue + 20 {
		must(t, w.Open(context.Background(), bareCall(fmt.Sprint("c", i)), false, nil))
	}
	for last, want := range []string{"", "sink.lost"} {
		if w.reportSinks(last == 1); eventKinds(t, w) != want {
			t.Errorf("last %d: %q, want %q", last, eventKinds(t, w), want)
		}
	}
	close(stuck.wait)
}

// TestStuckSpooler: a spool whose disk hangs lets one commit wait for a moment,
// and no other.
func TestStuckSpooler(t *testing.T) {
	k := &fakeSpooler{}
	k.wait = make(chan struct{})
	w := mustOpen(t, t.TempDir(), Options{Sinks: []SinkOption{{Name: "k", Sink: k}}})
	for i := range 20 {
		must(t, w.Close(context.Background(), bareCall(fmt.Sprint("c", i)), nil))
	}
	if !w.sinks.best[0].slow {
		t.Error("the sink hangs and is waited for")
	}
	close(k.wait)
	must(t, w.Shutdown(context.Background()))
	if got := k.text(); got != string(readFile(t, w.Path())) {
		t.Error("the sink has other lines than the file")
	}
}
