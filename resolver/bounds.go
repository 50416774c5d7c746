package resolver

import (
	"fmt"
	"strings"

	"cuelang.org/go/cue"
)

// BoundTrail is one constraint that bounds what a document may ask for.
type BoundTrail struct {
	Path    string `json:"path"`    // as in constraints
	Demands string `json:"demands"` // as the operator wrote it
	Layer   string `json:"layer"`   // baseline, profile:<name>
	At      string `json:"at"`      // file:line

	// Of a field with few values, those that every constraint of the chain
	// takes; nil where there is no list of them.
	Accepts []string `json:"accepts"`
}

// choices are the values of the fields that have few.
var choices = map[string][]any{
	"network.mode": {"blocked", "allowlist", "strict", "open"},
	"fileRead":     {false, true},
	"fileWrite":    {false, true},
	levelField:     {"L0", "L1", "L2", "L3", "L4", "L5"},
}

// bounds lists the constraints of a chain, by field and from the root.
func (l *layers) bounds(chain []*layer) []BoundTrail {
	out := []BoundTrail{}
	all := append([]*layer{l.baseline}, chain...)
	for _, path := range constrained {
		var by []*layer
		for _, layer := range all {
			if f, _ := l.field(layer.name, append([]string{"constraints"}, strings.Split(path, ".")...)...); f != nil || len(stated(layer, path)) > 0 {
				by = append(by, layer)
			}
		}
		accepts := l.accepted(by, path)
		for _, layer := range by {
			out = append(out, BoundTrail{path, l.demand(layer, path), trailName(layer), l.boundAt(layer, path), accepts})
		}
	}
	return out
}

// boundAt is where a layer, or what it refers to, bounds a field.
func (l *layers) boundAt(by *layer, path string) string {
	for _, c := range stated(by, path) {
		return placeOf(c)
	}
	return l.position(by.name, append([]string{"constraints"}, strings.Split(path, ".")...)...)
}

// accepted are the values of a field that all of some layers take. A
// constraint that holds under a condition only has no list.
func (l *layers) accepted(stated []*layer, path string) []string {
	var out []string
	for _, value := range choices[path] {
		takes := true
		for _, layer := range stated {
			if !layer.constraints.LookupPath(cue.ParsePath(path)).Exists() {
				return nil
			}
			takes = takes && l.takes(layer, path, value)
		}
		if takes {
			out = append(out, fmt.Sprint(value))
		}
	}
	return out
}
