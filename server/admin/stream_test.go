package admin

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// listening is one stream of events.
type listening struct {
	t      *testing.T
	events chan [3]string // id, event, data; closed at the end
	cancel context.CancelFunc
}

func (g *rig) listen(who, path, lastID string) *listening {
	g.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, g.url+base+path, nil)
	if err != nil {
		g.t.Fatal(err)
	}
	req.Header.Set("Authorization", who)
	if lastID != "" {
		req.Header.Set("Last-Event-ID", lastID)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		g.t.Fatal(err)
	}
	if res.StatusCode != 200 || res.Header.Get("Content-Type") != "text/event-stream" {
		g.t.Fatalf("%d %v", res.StatusCode, res.Header)
	}
	l := &listening{t: g.t, events: make(chan [3]string, 1000), cancel: cancel}
	go func() {
		defer close(l.events)
		defer res.Body.Close()
		var e [3]string
		for lines := bufio.NewScanner(res.Body); lines.Scan(); {
			switch name, value, _ := strings.Cut(lines.Text(), ": "); name {
			case "id":
				e[0] = value
			case "event":
				e[1] = value
			case "data":
				e[2] = value
			case "":
				if e[1] != "" {
					l.events <- e
				}
				e = [3]string{}
			}
		}
	}()
	g.t.Cleanup(cancel)
	return l
}

func (l *listening) next() [3]string {
	l.t.Helper()
	select {
	case e, open := <-l.events:
		if !open {
			l.t.Fatal("the stream ended")
		}
		return e
	case <-time.After(60 * time.Second):
		l.t.Fatal("no event came")
	}
	return [3]string{}
}

// TestEvents: what happens here and in another process becomes events, and a
// client that comes back gets what it missed, once.
func TestEvents(t *testing.T) {
	g := newRig(t)
	l := g.listen("vera", "/events", "")
	if e := l.next(); e[1] != "ready" || e[0] == "" {
		t.Fatalf("first %v", e)
	}
	id := g.want(202, "ann", "POST", "/catalog/writeTextFile/run", `{"args": {"path": "a", "content": "SECRETARGUMENT"}}`).str("pending", "approvalId")
	asked := l.next()
	if asked[1] != "approval" || !strings.Contains(asked[2], id) || !strings.Contains(asked[2], `"pending"`) || strings.Contains(asked[2], "SECRETARGUMENT") {
		t.Errorf("asked: %v", asked)
	}
	l.cancel()

	g.want(200, "pia", "POST", "/approvals/"+id+"/approve", nil)
	g.want(200, "ann", "POST", "/catalog/base64/draft", nil)
	g.srv.watch.look(context.Background()) // as its next tick does
	back := g.listen("vera", "/events", asked[0])
	if e := back.next(); e[1] != "ready" || e[0] != "" {
		t.Errorf("back: %v", e)
	}
	seen := map[string]bool{}
	for range 2 {
		e := back.next()
		seen[e[1]] = true
	}
	if d := cmp.Diff(map[string]bool{"catalog": true, "approval": true}, seen); d != "" {
		t.Errorf("missed events:\n%s", d)
	}
	only := g.listen("vera", "/events?topic=job", "")
	only.next()
	j := g.job(g.want(202, "ann", "POST", "/tests", `{"tools": ["uuid"]}`))
	for {
		e := only.next()
		if e[1] != "job" || !strings.Contains(e[2], j.str("id")) || strings.Contains(e[2], "result") {
			t.Errorf("of a job: %v", e)
		}
		if strings.Contains(e[2], `"succeeded"`) {
			break
		}
	}
	for _, old := range []string{"x", "x-1", asked[0] + "0", strings.Replace(asked[0], "-", "-0", 1), "ZZZZZZZZZZZZ-1"} {
		if e := g.listen("vera", "/events", old).next(); e[1] != "reset" {
			t.Errorf("Last-Event-ID %q: %v", old, e)
		}
	}
	g.failed(g.want(400, "vera", "GET", "/events?topic=moon", nil), "USAGE", "topic")
	g.srv.Close()
	for range only.events { //nolint:revive // until it ends
	}
}

// TestBus: ids follow each other, the ring is bounded, slow readers end, and so
// do all at the end.
func TestBus(t *testing.T) {
	b := newBus()
	slow, missed, at, resumed, err := b.subscribe("")
	if err != nil || !resumed || len(missed) != 0 {
		t.Fatal(missed, resumed, err)
	}
	for i := range ringEvents + 10 {
		b.publish("job", i)
	}
	n := 0
	for range slow.events {
		n++
	}
	if n != waitingEvents {
		t.Errorf("a slow reader got %d events before it ended", n)
	}
	if _, _, _, resumed, _ := b.subscribe(at); resumed {
		t.Error("what fell out of the ring is resumed")
	}
	_, missed, _, resumed, _ = b.subscribe(b.id(11))
	if !resumed || len(missed) != ringEvents-1 || string(missed[0].data) != "11" || missed[0].id != b.id(12) {
		t.Errorf("resumed %v: %d events, the first %v", resumed, len(missed), missed[0])
	}
	if _, missed, _, resumed, _ := b.subscribe(b.id(ringEvents + 10)); !resumed || len(missed) != 0 {
		t.Error("the newest id misses something")
	}
	if _, _, _, resumed, _ := b.subscribe(b.id(ringEvents + 11)); resumed {
		t.Error("an id of the future is resumed")
	}
	old := b.id(20)
	b.renew()
	if _, _, _, resumed, _ := b.subscribe(old); resumed {
		t.Error("an id of before is resumed")
	}
	b.close()
	if _, _, _, _, err := b.subscribe(""); err == nil || b.streams() != 0 {
		t.Errorf("%d streams after the end, %v", b.streams(), err)
	}
	b.publish("job", 1)
}

// TestWatchRests: without a stream nothing is looked at after a while, and ids
// of before then say nothing any more.
func TestWatchRests(t *testing.T) {
	g := newRig(t)
	if !g.srv.watch.idle(time.Now()) {
		t.Error("it watches though nobody listens")
	}
	l := g.listen("vera", "/events", "")
	ready := l.next()
	if g.srv.watch.idle(time.Now()) {
		t.Error("it rests though somebody listens")
	}
	l.cancel()
	g.until("the stream to end", func() bool { return g.srv.bus.streams() == 0 })
	if g.srv.watch.idle(time.Now()) {
		t.Error("it rests at once")
	}
	if !g.srv.watch.idle(time.Now().Add(2 * watchOn)) {
		t.Error("it never rests")
	}
	if e := g.listen("vera", "/events", ready[0]).next(); e[1] != "reset" {
		t.Errorf("after a rest: %v", e)
	}
}

// FuzzLastEventID: whatever a client sends gives events in order, or a reset.
func FuzzLastEventID(f *testing.F) {
	b := newBus()
	for i := range 50 {
		b.publish("job", i)
	}
	for _, id := range []string{"", b.id(0), b.id(3), b.id(50), b.id(51), b.epoch, b.epoch + "-", b.epoch + "--1", b.epoch + "-18446744073709551616", b.epoch + "-+3"} {
		f.Add(id)
	}
	f.Fuzz(func(t *testing.T, id string) {
		missed, resumed := b.since(id)
		if !resumed {
			return
		}
		if id != "" && len(missed) > 0 && fmt.Sprint(missed[len(missed)-1].id) != b.id(50) {
			t.Errorf("%q: the last event is %s", id, missed[len(missed)-1].id)
		}
	})
}
