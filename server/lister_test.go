package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolwarrant/toolwarrant/catalog"
	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/resolver"
	"github.com/toolwarrant/toolwarrant/spec"
)

// rack is a shelf in memory. A caller does not see the tools whose names stand
// in its own groups.
type rack struct {
	mu       sync.Mutex
	tools    []*catalog.Tool
	revision string
	asked    int // lists
	outlook  func(*catalog.Tool, decision.Principal) (resolver.Outlook, error)
	during   func() // runs inside Visible
}

func newRack(t *testing.T, n int) *rack {
	t.Helper()
	r := &rack{revision: "1", outlook: func(*catalog.Tool, decision.Principal) (resolver.Outlook, error) {
		return outlookOf("L0"), nil
	}}
	for i := range n {
		r.tools = append(r.tools, rackTool(t, fmt.Sprintf("tool%04d", i), "Works."))
	}
	return r
}

func rackTool(t *testing.T, name, description string) *catalog.Tool {
	t.Helper()
	raw, err := json.Marshal(map[string]any{"name": name, "description": description, "code": "return 1", "codeType": "Javascript"})
	if err != nil {
		t.Fatal(err)
	}
	s, faults := spec.Parse("tool.json", raw)
	if len(faults) > 0 {
		t.Fatal(faults[0])
	}
	return &catalog.Tool{Spec: s, State: catalog.StateActive}
}

func outlookOf(level string) resolver.Outlook {
	o := resolver.Outlook{RiskLevel: level}
	o.EffectivePolicy.Network.Mode = "blocked"
	return o
}

func (r *rack) Visible(_ context.Context, p decision.Principal) ([]*catalog.Tool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked++
	if r.during != nil {
		r.during()
	}
	var out []*catalog.Tool
	for _, t := range r.tools {
		if !slices.Contains(p.Groups, t.Spec.Name) {
			out = append(out, t)
		}
	}
	return out, nil
}

func (r *rack) Outlook(_ context.Context, t *catalog.Tool, p decision.Principal) (resolver.Outlook, error) {
	return r.outlook(t, p)
}

func (r *rack) ListRevision() string { return r.revision }

func caller(name string, without ...string) decision.Principal {
	return decision.Principal{Subject: name, Method: "none", Groups: append([]string{}, without...), Scopes: []string{}}
}

func listFor(t *testing.T, l *lister, p decision.Principal) *List {
	t.Helper()
	list, err := l.list(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// Callers with one view share one list; others have their own.
func TestListerViews(t *testing.T) {
	r := newRack(t, 5)
	r.outlook = func(tool *catalog.Tool, p decision.Principal) (resolver.Outlook, error) {
		if p.Subject == "dangerous" && tool.Spec.Name == "tool0003" {
			return outlookOf("L5"), nil
		}
		return outlookOf("L0"), nil
	}
	l := newLister(r, 1<<20, 1<<20)
	a := listFor(t, l, caller("a"))
	for range 3 {
		if listFor(t, l, caller("b")) != a || listFor(t, l, caller("a")) != a {
			t.Error("one view, two lists")
		}
	}
	less := listFor(t, l, caller("c", "tool0002"))
	if less == a || slices.Contains(less.names, "tool0002") || strings.Contains(string(less.text), "tool0002") || len(less.names) != 4 {
		t.Errorf("c sees %v", less.names)
	}
	if listFor(t, l, caller("d", "tool0002")) != less || listFor(t, l, caller("a")) != a {
		t.Error("views are mixed up")
	}
	// The hints are a part of the view.
	d := listFor(t, l, caller("dangerous"))
	if d == a || !strings.Contains(string(d.text), `"destructiveHint":true`) || strings.Contains(string(a.text), `"destructiveHint":true`) {
		t.Errorf("hints of another caller: %s", d.text)
	}
	if r.asked != 5 {
		t.Errorf("the policy was asked for %d lists, want one for each caller", r.asked)
	}
}

// A list is remembered for its revision, and for as long as its hints are good.
func TestListerForgets(t *testing.T) {
	r := newRack(t, 3)
	l := newLister(r, 1<<20, 1<<20)
	now := time.Unix(0, 0)
	l.now = func() time.Time { return now }
	before := listFor(t, l, caller("a"))

	r.tools, r.revision = r.tools[:2], "2"
	if after := listFor(t, l, caller("a")); len(after.names) != 2 || after == before {
		t.Errorf("after a draft: %v", after.names)
	}
	r.tools[1], r.revision = rackTool(t, "tool0001", "Works better."), "3"
	if after := listFor(t, l, caller("a")); !strings.Contains(string(after.text), "Works better.") {
		t.Errorf("after an edit: %s", after.text)
	}
	r.outlook, r.revision = func(*catalog.Tool, decision.Principal) (resolver.Outlook, error) { return outlookOf("L5"), nil }, "4"
	if after := listFor(t, l, caller("a")); !strings.Contains(string(after.text), `"destructiveHint":true`) {
		t.Errorf("under another policy: %s", after.text)
	}
	// The level follows the time of day: no revision says so.
	r.outlook = func(*catalog.Tool, decision.Principal) (resolver.Outlook, error) { return outlookOf("L0"), nil }
	now = now.Add(hintsAge)
	if after := listFor(t, l, caller("a")); strings.Contains(string(after.text), `"destructiveHint":true`) {
		t.Errorf("later: %s", after.text)
	}
}

// What changes while a list is put together does not stay in it.
func TestListerChangeMeanwhile(t *testing.T) {
	r := newRack(t, 3)
	l := newLister(r, 1<<20, 1<<20)
	times := 0
	r.during = func() {
		if times++; times == 1 {
			r.revision = "2" // after the question which revision it is
		}
	}
	listFor(t, l, caller("a"))
	if r.asked != 2 {
		t.Errorf("asked %d times, want again", r.asked)
	}
	listFor(t, l, caller("a"))
	if r.asked != 2 {
		t.Errorf("asked %d times, the second list is good", r.asked)
	}
	// Without an end to the changes there is a list, which nobody gets again.
	r.during = func() { r.revision += "x" }
	listFor(t, l, caller("b"))
	asked := r.asked
	listFor(t, l, caller("b"))
	if r.asked == asked {
		t.Error("a list of two revisions is remembered")
	}
}

// A tool that the policy rejects is not in the list; one that it could not
// decide about is left out of this list only.
func TestListerErrors(t *testing.T) {
	r := newRack(t, 3)
	l := newLister(r, 1<<20, 1<<20)
	fails := error(fault.New(fault.ResolverReject, "network-open", "no"))
	r.outlook = func(tool *catalog.Tool, _ decision.Principal) (resolver.Outlook, error) {
		if tool.Spec.Name == "tool0001" {
			return resolver.Outlook{}, fails
		}
		return outlookOf("L0"), nil
	}
	for range 2 {
		if list := listFor(t, l, caller("a")); len(list.names) != 2 || r.asked != 1 {
			t.Errorf("%v, asked %d times", list.names, r.asked)
		}
	}
	fails = fault.New(fault.PolicyUnavailable, "eval-timeout", "late")
	for turn := range 2 {
		if list := listFor(t, l, caller("b")); len(list.names) != 2 || r.asked != 2+turn {
			t.Errorf("%v, asked %d times", list.names, r.asked)
		}
	}
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := l.list(gone, caller("c")); !errors.Is(err, fails) {
		t.Errorf("a caller that is gone: %v", err)
	}
	l.building <- struct{}{}
	if _, err := l.list(gone, caller("d")); fault.From(err).Reason != "canceled" {
		t.Errorf("a caller that is gone while it waits: %v", err)
	}
}

// However many views there are, the bytes that are remembered have a bound; a
// list beyond it is put together again.
func TestListerMemory(t *testing.T) {
	r := newRack(t, 60)
	one := listFor(t, newLister(r, 1<<20, 1<<20), caller("a")).size()
	l := newLister(r, 5*one, 4_000)
	for i := range 40 {
		p := caller(fmt.Sprint("caller", i), fmt.Sprintf("tool%04d", i))
		for range 2 {
			if list := listFor(t, l, p); len(list.names) != 59 || slices.Contains(list.names, p.Groups[0]) {
				t.Errorf("%s sees %d tools", p.Subject, len(list.names))
			}
		}
		if l.lists.size() > 5*one || l.entries.size() > 4_000 {
			t.Fatalf("%d bytes of lists, %d of entries", l.lists.size(), l.entries.size())
		}
	}
	if l.lists.size() < 4*one || l.lists.known.Len() != 5 {
		t.Errorf("%d lists of %d bytes are remembered", l.lists.known.Len(), l.lists.size())
	}
	asked := r.asked
	listFor(t, l, caller("caller0", "tool0000")) // forgotten by now
	if r.asked != asked+1 {
		t.Error("the first list is still there")
	}
	small := newLister(r, 10, 10)
	if list := listFor(t, small, caller("a")); len(list.names) != 60 || small.lists.size() != 0 || small.entries.size() != 0 {
		t.Error("a list beyond the bound")
	}
}

func TestSized(t *testing.T) {
	s := newSized[string, int](10)
	s.add("a", 1, 4)
	s.add("b", 2, 4)
	if _, ok := s.get("a"); !ok || s.size() != 8 {
		t.Error("a is not there")
	}
	s.add("c", 3, 4) // b was not asked for longest
	if _, ok := s.get("b"); ok || s.size() != 8 {
		t.Error("b is there", s.size())
	}
	s.add("a", 5, 6)
	if v, ok := s.get("a"); !ok || v != 5 || s.size() != 10 {
		t.Error("a is not the new one", v, s.size())
	}
	s.add("a", 6, 11)
	if _, ok := s.get("a"); ok || s.size() != 4 {
		t.Error("too large", s.size())
	}
}

// Any number of callers at a time, while the policy changes: none gets a list
// with a tool that is hidden from it.
func TestListerConcurrent(t *testing.T) {
	r := newRack(t, 20)
	l := newLister(&locked{rack: r}, 1<<14, 1<<12)
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			hidden := fmt.Sprintf("tool%04d", i%5)
			for range 50 {
				list, err := l.list(context.Background(), caller(fmt.Sprint("c", i), hidden))
				if err != nil || len(list.names) != 19 || slices.Contains(list.names, hidden) {
					t.Error(err, list)
				}
			}
		})
	}
	wg.Wait()
}

// locked is a rack whose revision changes every now and then.
type locked struct {
	*rack
	mu sync.Mutex
	n  int
}

func (l *locked) ListRevision() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.n++
	return fmt.Sprint(l.n / 40)
}
