package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
)

func TestEvents(t *testing.T) {
	spec := asked()
	spec.Network = sandbox.AllowList{Hosts: []string{"example.com"}}
	sb, err := (&fakes{}).Create(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	spec.Mounts = []sandbox.Mount{{Source: "/srv/data", Target: "/data", Writable: true}}
	var events []sandbox.Event
	o := sandbox.Observe(sb, spec,
		func(e sandbox.Event) {
			e.Argv[0] = "changed"
			e.Mounts[0].Source = "changed"
			clear(e.Partial)
			e.Connections = nil
		},
		func(sandbox.Event) { panic("a listener") },
		func(e sandbox.Event) { events = append(events, e) })
	c := cmd("ok", "x")
	c.CorrelationID = "call-7"
	if r, err := o.Exec(t.Context(), c); err != nil || r.ExitCode != 3 {
		t.Errorf("%+v, %v", r, err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	o.Exec(cancelled, cmd("hang"))
	o.Exec(t.Context(), cmd("fail"))
	p, err := o.Attach(t.Context(), cmd("server"))
	if err != nil {
		t.Fatal(err)
	}
	if len(events) != 3 {
		t.Errorf("an attached process was reported before its end")
	}
	p.Kill()
	p.Wait()
	p.Wait()
	o.Terminate()
	o.Exec(t.Context(), cmd("ok"))
	o.Attach(t.Context(), cmd("server"))
	var got []string
	for _, e := range events {
		if e.SandboxID != "fake-1" || e.Backend != "fake" || e.Image != "host" || e.Network != "AllowList" || e.Began.IsZero() {
			t.Errorf("%+v", e)
		}
		if !slices.Equal(e.Mounts, []sandbox.Mount{{Source: "/srv/data", Target: "/data", Writable: true}}) {
			t.Errorf("mounts: %v", e.Mounts)
		}
		if !reflect.DeepEqual(e.Partial, map[string]string{"disk": "partial: a gap"}) {
			t.Errorf("partial: %v", e.Partial)
		}
		got = append(got, fmt.Sprintf("%q %d %s %d %s", e.Argv, e.ExitCode, e.Error, len(e.Connections), e.CorrelationID))
	}
	want := []string{
		`["ok" "x"] 3  1 call-7`,
		`["hang"] -1 cancelled 0 `,
		`["fail"] -1 sandbox-failed 0 `,
		`["server"] 137  0 `,
		`["ok"] -1 sandbox-closed 0 `,
		`["server"] -1 sandbox-closed 0 `,
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q; want %q", got, want)
	}
	if c.Argv[0] != "ok" {
		t.Error("a listener changed the command")
	}
}

func TestNobodyListens(t *testing.T) {
	sb, _ := (&fakes{}).Create(t.Context(), asked())
	if sandbox.Observe(sb, asked()) != sb {
		t.Error("a sandbox without listeners is wrapped")
	}
}

func TestMasked(t *testing.T) {
	var got []string
	l := func(e sandbox.Event) { got = e.Argv }
	e := sandbox.Event{Argv: []string{"curl", "token=s3cret"}}
	sandbox.Masked(l, func(s string) string { return strings.ReplaceAll(s, "s3cret", "***") })(e)
	if !reflect.DeepEqual(got, []string{"curl", "token=***"}) || e.Argv[1] != "token=s3cret" {
		t.Errorf("%q of %q", got, e.Argv)
	}
	sandbox.Masked(l, func(string) string { panic("mask") })(e)
	if len(got) != 0 {
		t.Errorf("after a panic of the mask: %q", got)
	}
}

// TestQueue: a listener that blocks delays nobody; what does not fit is
// counted, and the rest comes in order.
func TestQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		var got []string
		q := sandbox.NewQueue(func(e sandbox.Event) {
			<-gate
			got = append(got, e.SandboxID)
			panic("and goes on")
		}, 3)
		for i := range 10 {
			q.Listen(sandbox.Event{SandboxID: fmt.Sprint(i)})
			synctest.Wait()
		}
		if q.Dropped() != 6 { // one is in the hands of the listener
			t.Errorf("%d dropped", q.Dropped())
		}
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := q.Close(short); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("closed while the listener blocks: %v", err)
		}
		q.Listen(sandbox.Event{})
		if q.Dropped() != 7 {
			t.Error("an event after the end is not counted")
		}
		close(gate)
		if err := q.Close(t.Context()); err != nil || strings.Join(got, "") != "0123" {
			t.Errorf("%v, %q", err, got)
		}
	})
}
