package admin

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/service"
)

// aliveEvery is how often a stream says that it is alive, and how soon it ends
// for somebody whose credentials do not hold any more.
const aliveEvery = 15 * time.Second

// stream sends events (WHATWG HTML, section 9.2) until the client leaves. Its
// first event is "ready", or "reset" for a client whose Last-Event-ID is too
// old: that one has missed events and has to read anew.
func stream(w http.ResponseWriter, c *call) {
	if c.r.ContentLength != 0 { // as long as it is under way, nobody sees that the client has left
		c.s.fail(w, fault.New(fault.Usage, "body", "a stream is asked for without a body"), 0)
		return
	}
	v, err := c.query("topic*")
	if err == nil {
		for _, t := range v["topic"] {
			if !slices.Contains(topics, t) {
				err = fault.New(fault.Usage, "topic", "topic is one of %s", strings.Join(topics, ", "))
			}
		}
	}
	if err != nil {
		c.s.fail(w, err, 0)
		return
	}
	leave, err := c.s.streams.enter(c.who)
	if err != nil {
		c.s.fail(w, err, 0)
		return
	}
	defer leave()
	// Before the subscription: what changed until now is no event, and what
	// changes from here on is one.
	c.s.watch.wake(c.ctx())
	sub, missed, at, resumed, err := c.s.bus.subscribe(c.r.Header.Get("Last-Event-ID"))
	if err != nil {
		c.s.fail(w, err, 0)
		return
	}
	defer c.s.bus.unsubscribe(sub)
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no")
	rc := http.NewResponseController(w)
	send := func(text string) bool {
		_ = rc.SetWriteDeadline(time.Now().Add(writeTime))
		if _, err := w.Write([]byte(text)); err != nil {
			return false
		}
		return rc.Flush() == nil
	}
	first := event{id: at, topic: "ready", data: []byte("{}")}
	switch {
	case !resumed:
		first.topic = "reset"
	case len(missed) > 0:
		first.id = "" // the id of the last event that was sent stays
	}
	if !send(first.text()) {
		return
	}
	wanted := func(e event) bool { return len(v["topic"]) == 0 || slices.Contains(v["topic"], e.topic) }
	for _, e := range missed {
		if wanted(e) && !send(e.text()) {
			return
		}
	}
	same := c.given.Watch(c.r)
	alive := time.NewTicker(c.s.alive)
	defer alive.Stop()
	for {
		select {
		case <-c.ctx().Done():
			return
		case e, open := <-sub.events:
			if !open || wanted(e) && !send(e.text()) {
				return
			}
		case <-alive.C:
			if !same(c.who) || c.s.opt.Service.Needs(c.who, service.RoleViewer) != nil || !send(": alive\n\n") {
				return
			}
		}
	}
}

// text is an event as it goes over the wire. Data of ours are one line.
func (e event) text() string {
	var b bytes.Buffer
	if e.id != "" {
		fmt.Fprintf(&b, "id: %s\n", e.id)
	}
	fmt.Fprintf(&b, "event: %s\ndata: %s\n\n", e.topic, e.data)
	return b.String()
}
