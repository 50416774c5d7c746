package impact

import (
	"reflect"
	"slices"
	"strings"

	"github.com/toolwarrant/toolwarrant/decision"
)

// Compare says what differs from old to new. It gives nothing for equal
// answers, and for exchanged ones the same changes in the opposite direction.
func Compare(old, new Answer) []Change {
	changes := []Change{}
	verdict := func(path string, from, to bool, wide bool) {
		if from != to {
			changes = append(changes, Change{Path: path, Old: from, New: to, Direction: toward(to == wide)})
		}
	}
	verdict("allow", old.allow(), new.allow(), true)
	verdict("rejected", old.Decision == nil, new.Decision == nil, false)
	verdict("visible", old.Visible, new.Visible, true)
	changes = append(changes, named("reasons.", byReason(old.reasons()), byReason(new.reasons()))...)
	if old.Decision == nil || new.Decision == nil {
		return changes // nothing runs under one of them: there is no more to compare
	}
	changes = append(changes, compareDecisions(old.Decision, new.Decision)...)
	return append(changes, named("riskSignals.", bySignal(old.Decision.RiskSignals), bySignal(new.Decision.RiskSignals))...)
}

// compareDecisions goes through the table.
func compareDecisions(old, new *decision.Decision) []Change {
	var changes []Change
	for _, d := range dimensions {
		if d.applies != nil && (!d.applies(old) || !d.applies(new)) {
			continue
		}
		from, to := d.value(old), d.value(new)
		if same(from, to) {
			continue
		}
		found := d.compare(old, new, from, to)
		if d.follows {
			found[0].Direction = news(found[0].Direction, changes)
		}
		changes = append(changes, found...)
	}
	return changes
}

func (d dimension) compare(old, new *decision.Decision, from, to any) []Change {
	c := Change{Path: d.path, Old: from, New: to, Direction: Changed}
	if d.within == nil {
		return []Change{c}
	}
	narrower, wider := d.within(new, old), d.within(old, new)
	if d.list == nil {
		if narrower != wider {
			c.Direction = toward(wider)
		}
		return []Change{c}
	}
	added, removed := missing(d.list.get(new), d.list.get(old)), missing(d.list.get(old), d.list.get(new))
	if narrower || wider {
		c.Added, c.Removed = added, removed
		if narrower != wider {
			c.Direction = toward(wider)
		}
		return []Change{c}
	}
	// Neither holds the other: the list is wider and tighter at once.
	w, t := c, c
	w.Direction, t.Direction = Widened, Tightened
	if d.list.denies {
		w.Removed, t.Added = d.beyond(old, removed, new), d.beyond(new, added, old)
	} else {
		w.Added, t.Removed = d.beyond(new, added, old), d.beyond(old, removed, new)
	}
	return []Change{w, t}
}

// beyond gives the entries of one list that make the difference to another:
// "api.x.com" is no addition to a list with "*.x.com".
func (d dimension) beyond(of *decision.Decision, entries []string, other *decision.Decision) []string {
	rest := d.list.with(other, d.list.get(other))
	return slices.DeleteFunc(slices.Clone(entries), func(e string) bool {
		one := d.list.with(of, []string{e})
		if d.list.denies {
			return d.within(rest, one)
		}
		return d.within(one, rest)
	})
}

// news: a level that moved the way the grants moved follows from them.
func news(level Direction, changes []Change) Direction {
	widened, tightened := false, false
	for _, c := range changes {
		if (dimension{path: c.Path}).grants() {
			widened = widened || c.Direction == Widened
			tightened = tightened || c.Direction == Tightened
		}
	}
	if level == Tightened && widened && !tightened || level == Widened && tightened && !widened {
		return Changed
	}
	return level
}

func toward(wider bool) Direction {
	if wider {
		return Widened
	}
	return Tightened
}

// same compares values; a list that is nil is an empty one.
func same(a, b any) bool {
	switch a := a.(type) {
	case []string:
		b, ok := b.([]string)
		return ok && slices.Equal(a, b)
	case []int:
		b, ok := b.([]int)
		return ok && slices.Equal(a, b)
	}
	return reflect.DeepEqual(a, b)
}

// missing gives the entries of a that b does not have, in order.
func missing(a, b []string) []string {
	var out []string
	for _, e := range a {
		if !slices.Contains(b, e) {
			out = append(out, e)
		}
	}
	return out
}

// id is a signal or a reason with what it says.
type id struct{ name, says string }

func byReason(list []decision.Reason) []id {
	out := make([]id, len(list))
	for i, r := range list {
		out[i] = id{r.ID, r.Message}
	}
	return out
}

func bySignal(list []decision.Signal) []id {
	out := make([]id, len(list))
	for i, s := range list {
		out[i] = id{s.ID, s.Level}
	}
	return out
}

// named compares what carries an id: one that came, one that went, and one
// that says something else now.
func named(path string, old, new []id) []Change {
	var changes []Change
	text := func(list []id, name string) any {
		var all []string
		for _, e := range list {
			if e.name == name {
				all = append(all, e.says)
			}
		}
		if all == nil {
			return nil
		}
		return strings.Join(all, "; ")
	}
	var names []string
	for _, e := range slices.Concat(old, new) {
		names = append(names, e.name)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if from, to := text(old, name), text(new, name); from != to {
			changes = append(changes, Change{Path: path + name, Old: from, New: to, Direction: Changed})
		}
	}
	return changes
}
