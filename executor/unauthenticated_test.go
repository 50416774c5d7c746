package executor

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/fault"
)

// eventful is a log that keeps the events too.
type eventful struct {
	logOf
	events *[]audit.Event
	fail   *error
}

func (l eventful) Event(_ context.Context, e audit.Event, _ audit.Masker) error {
	if *l.fail != nil {
		return *l.fail
	}
	*l.events = append(*l.events, e)
	return nil
}

func refusing(t *testing.T) (g *rig, events *[]audit.Event, fail *error, now *time.Time) {
	g = newRig(t, plainTool)
	events, fail = &[]audit.Event{}, new(error)
	g.Audit = eventful{logOf{g}, events, fail}
	g.refusals.every = time.Hour // tests ask for the event
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	g.Now = func() time.Time { return at }
	return g, events, fail, &at
}

// TestRefused: a refused authentication is one close record, and no call.
func TestRefused(t *testing.T) {
	g, _, _, _ := refusing(t)
	for name, tc := range map[string]struct {
		in      Refusal
		tool    string // "" = null
		message string
		caller  string // "" = null
	}{
		"expired": {Refusal{Source: netip.MustParseAddr("203.0.113.7"), Method: "oidc", Reason: "expired", Tool: "t"}, "t",
			"oidc credentials did not hold: expired; the request came from 203.0.113.7", ""},
		"none": {Refusal{Source: netip.MustParseAddr("::ffff:203.0.113.8"), Reason: "missing"}, "",
			"no credentials came: missing; the request came from 203.0.113.8", ""},
		"a session of another": {Refusal{Method: "api-key", Reason: "session", Principal: &decision.Principal{Subject: "eve", Method: "api-key"}}, "",
			"what the request is about belongs to another caller: session; the request came from an unknown address", "eve"},
	} {
		g.log = nil
		tc.in.Origin = decision.OriginMCPHTTP
		if err := g.Refused(context.Background(), tc.in); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if len(g.log) != 1 || g.ran != 0 {
			t.Fatalf("%s: %d records, ran %d", name, len(g.log), g.ran)
		}
		c := g.log[0]
		if c.Phase != audit.PhaseClose || *c.Outcome != fault.Denied || c.Error.Code != fault.Unauthenticated || *c.Error.Reason != tc.in.Reason ||
			c.Error.Message != tc.message || c.Origin != decision.OriginMCPHTTP || c.CallID == "" || c.Params != nil {
			t.Errorf("%s: %+v, %+v", name, c, c.Error)
		}
		if (c.Tool == nil) != (tc.tool == "" && tc.caller == "") || c.Tool != nil && c.Tool.Name != tc.tool {
			t.Errorf("%s: tool %+v", name, c.Tool)
		}
		if (c.Principal == nil) != (tc.caller == "") || c.Principal != nil && c.Principal.Subject != tc.caller {
			t.Errorf("%s: principal %+v", name, c.Principal)
		}
	}
}

// TestRefusedFlood: ten records a second for one source, what is beyond is
// counted, and other sources are not.
func TestRefusedFlood(t *testing.T) {
	g, events, fail, now := refusing(t)
	refuse := func(from string, reason string) {
		t.Helper()
		if err := g.Refused(context.Background(), Refusal{Origin: decision.OriginMCPHTTP, Source: netip.MustParseAddr(from), Method: "api-key", Reason: reason}); err != nil {
			t.Fatal(err)
		}
	}
	for range 1000 {
		refuse("203.0.113.7", "unknown")
	}
	for n := range 50 { // one network of 64 bits is one source
		refuse(fmt.Sprintf("2001:db8::%x", n+1), "malformed")
	}
	refuse("203.0.113.8", "unknown")
	if len(g.log) != 21 {
		t.Errorf("%d records, want 10 and 10 and 1", len(g.log))
	}
	*now = now.Add(time.Second)
	refuse("203.0.113.7", "unknown")
	if len(g.log) != 22 {
		t.Errorf("a second later: %d records", len(g.log))
	}

	*fail = errors.New("the disk is full")
	if err := g.FlushRefused(context.Background()); err == nil {
		t.Error("a failed event is no error")
	}
	refuse("203.0.113.9", "unknown")
	*fail = nil
	if err := g.FlushRefused(context.Background()); err != nil {
		t.Fatal(err)
	}
	if len(*events) != 1 {
		t.Fatalf("%d events", len(*events))
	}
	e := (*events)[0]
	sources, reasons := e.Detail["sources"].(map[string]int64), e.Detail["reasons"].(map[string]int64)
	if e.Kind != "flood" || e.Detail["refused"] != int64(1030) || sources["203.0.113.7"] != 990 || sources["2001:db8::/64"] != 40 ||
		reasons["unknown"] != 990 || reasons["malformed"] != 40 {
		t.Errorf("%+v", e)
	}
	if err := g.FlushRefused(context.Background()); err != nil || len(*events) != 1 {
		t.Errorf("nothing was counted: %v, %d events", err, len(*events))
	}
}

// TestRefusedSources: however many addresses there are, records and memory are
// bounded, and nothing is lost from the count.
func TestRefusedSources(t *testing.T) {
	g, events, _, _ := refusing(t)
	const all = 3 * maxSources
	for n := range all {
		from := netip.AddrFrom4([4]byte{10, byte(n >> 16), byte(n >> 8), byte(n)})
		if err := g.Refused(context.Background(), Refusal{Source: from, Reason: "missing"}); err != nil {
			t.Fatal(err)
		}
	}
	if len(g.log) != refusedInAll || g.refusals.sources.Len() > maxSources {
		t.Errorf("%d records, %d sources", len(g.log), g.refusals.sources.Len())
	}
	if err := g.FlushRefused(context.Background()); err != nil {
		t.Fatal(err)
	}
	d := (*events)[0].Detail
	if named := d["sources"].(map[string]int64); len(named) != maxNamedSources || d["refused"] != int64(all-refusedInAll) ||
		d["otherSources"] != int64(all-refusedInAll-maxNamedSources) {
		t.Errorf("%+v", d)
	}
}

// TestRefusedWithoutRecord: where the record cannot be made, that is the
// error.
func TestRefusedWithoutRecord(t *testing.T) {
	g, _, _, _ := refusing(t)
	g.failLog = func(audit.Phase) error { return fault.New(fault.AuditUnavailable, "full", "the disk is full") }
	err := g.Refused(context.Background(), Refusal{Reason: "missing"})
	if !errors.Is(err, fault.New(fault.AuditUnavailable, "", "")) {
		t.Errorf("%v", err)
	}
}

// TestFloodEventComesByItself: nobody has to ask for it.
func TestFloodEventComesByItself(t *testing.T) {
	g, _, _, _ := refusing(t)
	wrote := make(chan audit.Event, 1)
	g.refusals.every = time.Millisecond
	g.Audit = signalling{logOf{g}, wrote}
	for range refusedPerSource + 5 {
		if err := g.Refused(context.Background(), Refusal{Reason: "missing"}); err != nil {
			t.Fatal(err)
		}
	}
	for counted := int64(0); counted < 5; {
		select {
		case e := <-wrote:
			counted += e.Detail["refused"].(int64)
			if counted > 5 || e.Detail["sources"].(map[string]int64)["unknown"] == 0 {
				t.Fatalf("%+v", e)
			}
		case <-time.After(30 * time.Second):
			t.Fatal("no event")
		}
	}
}

type signalling struct {
	logOf
	wrote chan audit.Event
}

func (l signalling) Event(_ context.Context, e audit.Event, _ audit.Masker) error {
	l.wrote <- e
	return nil
}
