package resolver

import (
	"slices"
	"strconv"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/errors"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/spec"
)

// view is the folded result as constraints see it.
type view struct {
	AllowClasses   []string    `json:"allowClasses"`
	DenyClasses    []string    `json:"denyClasses"`
	Network        viewNetwork `json:"network"`
	FileRead       bool        `json:"fileRead"`
	FileWrite      bool        `json:"fileWrite"`
	FSBasePath     string      `json:"fsBasePath"`
	MaxStatements  int64       `json:"maxStatements"`
	TimeoutSeconds int64       `json:"timeoutSeconds"`
	MaxMemoryBytes int64       `json:"maxMemoryBytes"`
	MaxOutputBytes int64       `json:"maxOutputBytes"`
	MaxLogLines    int64       `json:"maxLogLines"`
}

type viewNetwork struct {
	Mode      string   `json:"mode"`
	Hosts     []string `json:"hosts"`
	HostsDeny []string `json:"hostsDeny"`
	Ports     []int    `json:"ports"`
}

func viewOf(p decision.EffectivePolicy) view {
	return view{
		p.AllowClasses, p.DenyClasses,
		viewNetwork{p.Network.Mode, p.Network.Hosts, p.Network.HostsDeny, p.Network.Ports},
		p.FS.Read, p.FS.Write, p.FS.BasePath,
		p.MaxStatements, p.TimeoutSeconds, p.MaxMemoryBytes, p.MaxOutputBytes, p.MaxLogLines,
	}
}

// constrained lists the fields that a constraint can name.
var constrained = []string{
	"allowClasses", "denyClasses", "network.mode", "network.hosts", "network.hostsDeny", "network.ports",
	"fileRead", "fileWrite", "fsBasePath",
	"maxStatements", "timeoutSeconds", "maxMemoryBytes", "maxOutputBytes", "maxLogLines",
	"riskLevel", "category",
}

// The two fields of a view that no layer sets: what the rules make of the
// result, and what the document says of itself.
const (
	levelField    = "riskLevel"
	categoryField = "category"
)

// breach is one field that does not satisfy the constraints of one layer.
type breach struct {
	by      *layer
	path    string    // of constrained, or "" for a condition over several fields
	value   cue.Value // what the field is
	entries []string  // of a list, the entries that do not satisfy; may be empty
}

// unmet holds the folded result against the constraints of the baseline and
// of every profile of the chain, and says which it does not satisfy. It runs
// once per tool and chain. Encode of Go values, unlike compiling text, leaves
// nothing behind in the context.
func (l *layers) unmet(chain []*layer, folded decision.EffectivePolicy, level string, s *spec.Spec) []breach {
	var out []breach
	for _, layer := range append([]*layer{l.baseline}, chain...) {
		if !layer.constraints.Exists() {
			continue
		}
		value := l.encode(layer, viewOf(folded), level, s)
		both := layer.constraints.Unify(value)
		if both.Validate(cue.Concrete(true)) == nil {
			continue
		}
		found := false
		for _, path := range constrained {
			p := cue.ParsePath(path)
			if err := both.LookupPath(p).Validate(cue.Concrete(true)); err != nil && value.LookupPath(p).Exists() {
				out = append(out, breach{layer, path, value.LookupPath(p), entriesOf(value.LookupPath(p), err)})
				found = true
			}
		}
		if !found { // a condition over several fields
			out = append(out, breach{by: layer, value: value})
		}
	}
	return out
}

// encode gives the result to the constraints of a layer. A policy folder has
// a policy.cue of its own, which may be older than the fields that no layer
// sets: a closed shape without them has nothing to say about them.
func (l *layers) encode(by *layer, v view, level string, s *spec.Spec) cue.Value {
	if by.constraints.Allows(cue.Str(levelField)) {
		return l.ctx.Encode(v).FillPath(cue.ParsePath(categoryField), s.Category).FillPath(cue.ParsePath(levelField), level)
	}
	return l.ctx.Encode(v)
}

// entriesOf reads from the paths of an error which entries of a list it is
// about. What CUE says of an entry is not shown: for a choice of many it is
// a line for each.
func entriesOf(list cue.Value, err error) []string {
	var out []string
	for _, e := range errors.Errors(err) {
		steps := e.Path()
		if len(steps) == 0 {
			continue
		}
		i, err := strconv.Atoi(steps[len(steps)-1])
		if err != nil || i < 0 {
			continue
		}
		entry := list.LookupPath(cue.MakePath(cue.Index(i)))
		text, err := entry.String()
		if err != nil {
			raw, _ := entry.MarshalJSON()
			text = string(raw)
		}
		if text != "" && !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return out
}

// takes reports whether the constraint that a breach is about takes another
// value of the same field.
func (l *layers) takes(by *layer, path string, value any) bool {
	return by.constraints.LookupPath(cue.ParsePath(path)).Unify(l.ctx.Encode(value)).Validate(cue.Concrete(true)) == nil
}

// noCeiling finds a constraint on the level that every level satisfies: a
// bound that is misspelled would otherwise look like one that holds.
func noCeiling(ctx *cue.Context, constraints cue.Value) bool {
	bound := constraints.LookupPath(cue.ParsePath(levelField))
	if !bound.Exists() {
		return false
	}
	for _, level := range levels {
		if bound.Unify(ctx.Encode(level)).Validate(cue.Concrete(true)) != nil {
			return false
		}
	}
	return true
}

// levels are the risk levels, from none to escape.
var levels = []string{"L0", "L1", "L2", "L3", "L4", "L5"}
