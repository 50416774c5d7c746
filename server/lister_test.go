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

func namesIn(l *List) (names []string) {
	for _, s := range l.segments {
		names = append(names, s.names...)
	}
	return names
}

func textOf(l *List) string {
	parts, _ := l.page("", 1<<30)
	return string(newStand(parts).whole())
}

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
	l := newLister(r, 1<<20)
	a := listFor(t, l, caller("a"))
	for range 3 {
		if listFor(t, l, caller("b")) != a || listFor(t, l, caller("a")) != a {
			t.Error("one view, two lists")
		}
	}
	less := listFor(t, l, caller("c", "tool0002"))
	if less == a || slices.Contains(namesIn(less), "tool0002") || strings.Contains(textOf(less), "tool0002") || len(namesIn(less)) != 4 {
		t.Errorf("c sees %v", namesIn(less))
	}
	if listFor(t, l, caller("d", "tool0002")) != less || listFor(t, l, caller("a")) != a {
		t.Error("views are mixed up")
	}
	// The hints are a part of the view.
	d := listFor(t, l, caller("dangerous"))
	if d == a || !strings.Contains(textOf(d), `"destructiveHint":true`) || strings.Contains(textOf(a), `"destructiveHint":true`) {
		t.Errorf("hints of another caller: %s", textOf(d))
	}
	if r.asked != 5 {
		t.Errorf("the policy was asked for %d lists, want one for each caller", r.asked)
	}
}

// A list is remembered for its revision, and for as long as its hints are good.
func TestListerForgets(t *testing.T) {
	r := newRack(t, 3)
	l := newLister(r, 1<<20)
	now := time.Unix(0, 0)
	l.now = func() time.Time { return now }
	before := listFor(t, l, caller("a"))

	r.tools, r.revision = r.tools[:2], "2"
	if after := listFor(t, l, caller("a")); len(namesIn(after)) != 2 || after == before {
		t.Errorf("after a draft: %v", namesIn(after))
	}
	r.tools[1], r.revision = rackTool(t, "tool0001", "Works better."), "3"
	if after := listFor(t, l, caller("a")); !strings.Contains(textOf(after), "Works better.") {
		t.Errorf("after an edit: %s", textOf(after))
	}
	r.outlook, r.revision = func(*catalog.Tool, decision.Principal) (resolver.Outlook, error) { return outlookOf("L5"), nil }, "4"
	if after := listFor(t, l, caller("a")); !strings.Contains(textOf(after), `"destructiveHint":true`) {
		t.Errorf("under another policy: %s", textOf(after))
	}
	// The level follows the time of day: no revision says so.
	r.outlook = func(*catalog.Tool, decision.Principal) (resolver.Outlook, error) { return outlookOf("L0"), nil }
	now = now.Add(hintsAge)
	if after := listFor(t, l, caller("a")); strings.Contains(textOf(after), `"destructiveHint":true`) {
		t.Errorf("later: %s", textOf(after))
	}
}

// What changes while a list is put together does not stay in it.
func TestListerChangeMeanwhile(t *testing.T) {
	r := newRack(t, 3)
	l := newLister(r, 1<<20)
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
	l := newLister(r, 1<<20)
	fails := error(fault.New(fault.ResolverReject, "network-open", "no"))
	r.outlook = func(tool *catalog.Tool, _ decision.Principal) (resolver.Outlook, error) {
		if tool.Spec.Name == "tool0001" {
			return resolver.Outlook{}, fails
		}
		return outlookOf("L0"), nil
	}
	for range 2 {
		if list := listFor(t, l, caller("a")); len(namesIn(list)) != 2 || r.asked != 1 {
			t.Errorf("%v, asked %d times", namesIn(list), r.asked)
		}
	}
	fails = fault.New(fault.PolicyUnavailable, "eval-timeout", "late")
	for turn := range 2 {
		if list := listFor(t, l, caller("b")); len(namesIn(list)) != 2 || r.asked != 2+turn {
			t.Errorf("%v, asked %d times", namesIn(list), r.asked)
		}
	}
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, _, err := l.build(gone, caller("c")); !errors.Is(err, fails) {
		t.Errorf("a caller that is gone: %v", err)
	}
	l.building <- struct{}{}
	if _, err := l.list(gone, caller("d")); fault.From(err).Reason != "canceled" {
		t.Errorf("a caller that is gone while it waits: %v", err)
	}
}

// However many views there are, the bytes that are remembered have a bound; a
// list beyond it is put together again. Lists that are nearly alike share what
// is alike.
func TestListerMemory(t *testing.T) {
	r := newRack(t, 1000)
	sizes := newLister(r, 1<<30)
	listFor(t, sizes, caller("a"))
	one := sizes.memory.size()
	listFor(t, sizes, caller("b", "tool0500"))
	second := sizes.memory.size() - one
	if second <= 0 || second > one/2 {
		t.Errorf("a list of %d bytes, and one that lacks a tool of it takes %d more", one, second)
	}

	l := newLister(r, 2*one)
	for i := range 60 {
		p := caller(fmt.Sprint("caller", i), fmt.Sprintf("tool%04d", 16*i))
		for range 2 {
			if list := listFor(t, l, p); len(namesIn(list)) != 999 || slices.Contains(namesIn(list), p.Groups[0]) {
				t.Errorf("%s sees %d tools", p.Subject, len(namesIn(list)))
			}
		}
		if used := held(l.memory); used != l.memory.size() || used > 2*one {
			t.Fatalf("%d bytes are held, %d are counted, of %d", used, l.memory.size(), 2*one)
		}
	}
	if n := l.memory.lists.Len(); n < 2 || n == 60 {
		t.Errorf("%d lists are remembered", n)
	}
	asked := r.asked
	listFor(t, l, caller("caller59", "tool0944"))
	listFor(t, l, caller("caller0", "tool0000")) // forgotten by now
	if r.asked != asked+1 {
		t.Errorf("asked %d times more, want for the first list alone", r.asked-asked)
	}
	small := newLister(r, one/2)
	if list := listFor(t, small, caller("a")); len(namesIn(list)) != 1000 || small.memory.size() != 0 {
		t.Error("a list beyond the bound")
	}
	for l.memory.lists.Len() > 0 {
		l.memory.lists.RemoveOldest()
	}
	if l.memory.size() != 0 || len(l.memory.segments) != 0 {
		t.Errorf("%d bytes of nothing", l.memory.size())
	}
}

// held counts the bytes of a memory anew.
func held(m *listMemory) (bytes int) {
	seen := map[*segment]bool{}
	for _, l := range m.lists.Values() {
		bytes += 256 + 8*len(l.segments)
		for _, s := range l.segments {
			if !seen[s] {
				seen[s] = true
				bytes += s.size()
			}
		}
	}
	return bytes
}

// Any number of callers at a time, while the policy changes: none gets a list
// with a tool that is hidden from it.
func TestListerConcurrent(t *testing.T) {
	r := newRack(t, 20)
	l := newLister(&locked{rack: r}, 1<<14)
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			hidden := fmt.Sprintf("tool%04d", i%5)
			for range 50 {
				list, err := l.list(context.Background(), caller(fmt.Sprint("c", i), hidden))
				if err != nil || len(namesIn(list)) != 19 || slices.Contains(namesIn(list), hidden) {
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

// size is how many bytes the remembered lists take.
func (m *listMemory) size() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.bytes
}
