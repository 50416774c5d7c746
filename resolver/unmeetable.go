package resolver

import (
	"fmt"
	"slices"

	"cuelang.org/go/cue"
)

// Unmeetable is a value that layers give every tool and that a constraint of
// the same layers forbids: a tool that does not ask for another is rejected.
type Unmeetable struct {
	Message string // what is given, and who forbids it, with its place
	Path    string // the field, as constraints name it
}

// Unmeetable gives what the layer states against a constraint of its chain, or
// forbids although its chain states it. What the baseline gives is held to its
// own constraints alone: a profile may demand that its tools ask for more.
func (s Stated) Unmeetable() []Unmeetable {
	l := s.layers
	chain, by := []*layer{l.baseline}, []*layer{l.baseline}
	if s.Name != l.baseline.name {
		profiles, err := l.chain(s.Name, "")
		if err != nil {
			return nil // said when the policy is put into force
		}
		chain, by = profiles, append(by, profiles...)
	}
	var out []Unmeetable
	for _, path := range constrained {
		for _, g := range given(chain, path) {
			for _, c := range by {
				if (g.by.name != s.Name && c.name != s.Name) || !l.forbids(c, path, g.value) {
					continue
				}
				b := breach{by: c, path: path, value: l.ctx.Encode(g.value)}
				if list, ok := g.value.([]any); ok {
					b.entries = []string{fmt.Sprint(list[0])}
				}
				demand, at := l.broken(b)
				who := "it"
				if g.by.name != s.Name {
					who = layerTitle(g.by)
				}
				whose := "its own constraint"
				if c.name != s.Name {
					whose = "the constraint of " + layerTitle(c)
				}
				out = append(out, Unmeetable{fmt.Sprintf("%s gives %s: %s, which %s (%s) forbids: %s", who, path, b.got(), whose, at, demand), path})
			}
		}
	}
	return out
}

// giving is a value that a layer states: of a list, one entry.
type giving struct {
	by    *layer
	value any
}

// given are the values that a chain states of a field: of a list every entry,
// since layers add to it, and of anything else what the last one says.
func given(chain []*layer, path string) (out []giving) {
	for _, one := range slices.Backward(chain) {
		switch v := one.states(path).(type) {
		case nil:
		case []any:
			for _, entry := range v {
				out = append(out, giving{one, []any{entry}})
			}
		default:
			return []giving{{one, v}}
		}
	}
	return out
}

// states is what the layer says of a field: nil, a single value, or the entries
// of a list that layers add to.
func (l *layer) states(path string) any {
	switch v := l.fields()[path].(type) {
	case **string:
		return single(*v)
	case **bool:
		return single(*v)
	case **int64:
		return single(*v)
	case *[]int: // the nearest layer says it, as of a single value
		if *v != nil {
			return *v
		}
	case *[]string:
		if len(*v) == 0 {
			return nil
		}
		out := make([]any, len(*v))
		for i, x := range *v {
			out[i] = x
		}
		return out
	}
	return nil // not stated, or no layer states it
}

func single[T any](v *T) any {
	if v == nil {
		return nil
	}
	return *v
}

// forbids reports whether a constraint does not take a value of a field, or an
// entry of a list: what it says of a list as a whole, other layers can meet.
// One that depends on another field forbids nothing here, as that is not known.
func (l *layers) forbids(by *layer, path string, value any) bool {
	bound := by.constraints.LookupPath(cue.ParsePath(path))
	if !bound.Exists() {
		return false
	}
	err := bound.Unify(l.ctx.Encode(value)).Validate()
	if _, list := value.([]any); list && err != nil {
		return len(entriesOf(l.ctx.Encode(value), err)) > 0
	}
	return err != nil
}
