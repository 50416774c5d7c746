package resolver

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/format"

	"github.com/toolwarrant/toolwarrant/spec"
)

// cause is what made the level of a tool: the signals of that level, and
// where in the document the override stands that gives them, "" where none
// does.
type cause struct{ signals, pointer string }

// sentence says who demands what, who asks for what, and where both stand.
// why is asked only where the level is too high.
func (l *layers) sentence(b breach, chain []*layer, s *spec.Spec, why func(breach) cause) violation {
	v := violation{ID: "constraint"}
	if b.path == "" {
		v.Message = fmt.Sprintf("%s (%s) demands a combination of values that the tool does not have", layerTitle(b.by), l.position(b.by.name, "constraints"))
		return v
	}
	steps := strings.Split(b.path, ".")
	who, got := "the tool asks for", b.got()
	switch b.path {
	case levelField:
		because := why(b)
		v.Pointer, who, v.derived = because.pointer, "the tool is", true
		if because.signals != "" {
			got += " (" + because.signals + ")"
		}
	case categoryField:
		who = "the tool is of"
		if s.Category != "" {
			v.Pointer = "/category"
		}
	default:
		if v.Pointer, v.Value = overridePointer(b, s); v.Pointer == "" {
			who = l.setter(chain, steps, b.entries) + " gives"
		}
	}
	v = refine(v, s)
	demand, at := l.broken(b)
	v.Message = fmt.Sprintf("%s (%s) demands %s: %s, but %s %s", layerTitle(b.by), at, b.path, demand, who, got)
	if v.Pointer != "" {
		v.Message += " at " + v.Pointer
	}
	return v
}

// demand is a constraint as the operator wrote it; where several expressions
// bound a field, all of them.
func (l *layers) demand(by *layer, path string) string {
	var parts []string
	for _, c := range stated(by, path) {
		parts = append(parts, written(c))
	}
	if len(parts) > 0 {
		return clip(strings.Join(parts, " & "))
	}
	if f, _ := l.field(by.name, append([]string{"constraints"}, strings.Split(path, ".")...)...); f != nil {
		return clip(nodeText(f.Value)) // it holds under a condition
	}
	return "what the constraints of the layer say"
}

// broken is the expression that a value does not satisfy, and where it
// stands. The file that has a field first need not be the one that forbids.
func (l *layers) broken(b breach) (demand, at string) {
	for _, c := range stated(b.by, b.path) {
		if c.Unify(b.value).Validate(cue.Concrete(true)) == nil {
			continue
		}
		if pos := startOf(c); pos.IsValid() {
			return clip(written(c)), fmt.Sprintf("%s:%d", pos.Filename(), pos.Line())
		}
	}
	return l.demand(b.by, b.path), l.boundAt(b.by, b.path)
}

// stated are the expressions of a layer about a field, without those of the
// shape.
func stated(by *layer, path string) []cue.Value {
	v := by.constraints.LookupPath(cue.ParsePath(path))
	if !v.Exists() {
		return nil
	}
	var out []cue.Value
	for _, c := range conjuncts(v) {
		if c.Source() != nil && startOf(c).Filename() != shapeFile {
			out = append(out, c)
		}
	}
	return out
}

// written is an expression as it stands in its file.
func written(c cue.Value) string {
	if f, ok := c.Source().(*ast.Field); ok {
		return nodeText(f.Value)
	}
	return nodeText(c.Source())
}

func nodeText(n ast.Node) string {
	text, err := format.Node(n)
	if err != nil {
		return "what stands there"
	}
	return strings.Join(strings.Fields(string(text)), " ")
}

// got is the value that does not satisfy: of a list the entries that do not,
// and of one that is wrong as a whole how long it is.
func (b breach) got() string {
	const most = 3
	if len(b.entries) > 0 {
		text := make([]string, 0, most)
		for _, e := range b.entries[:min(most, len(b.entries))] {
			text = append(text, clip(strconv.Quote(e)))
		}
		if more := len(b.entries) - most; more > 0 {
			return fmt.Sprintf("%s and %d more", strings.Join(text, ", "), more)
		}
		return strings.Join(text, ", ")
	}
	if n, err := b.value.Len().Int64(); err == nil && b.value.IncompleteKind() == cue.ListKind {
		return fmt.Sprintf("a list of %d", n)
	}
	raw, err := b.value.MarshalJSON()
	if err != nil {
		return "something else"
	}
	return clip(string(raw))
}

// overridePointer is where the document itself sets a field, or "", and the
// entry that is meant where it is a list.
func overridePointer(b breach, s *spec.Spec) (pointer, entry string) {
	o := s.Overrides
	if o == nil {
		return "", ""
	}
	for _, c := range []struct {
		path, field string
		set         bool
		list        []string
	}{
		{"network.mode", "networkMode", o.NetworkMode != nil, nil},
		{"network.hosts", "hostsAllow", len(o.HostsAllow) > 0, o.HostsAllow},
		{"network.hosts", "networkMode", o.NetworkMode != nil, nil},
		{"fileRead", "fileRead", o.FileRead != nil, nil},
		{"fileWrite", "fileWrite", o.FileWrite != nil, nil},
		{"fsBasePath", "fsBasePath", o.FSBasePath != nil, nil},
		{"allowClasses", "addAllowClasses", len(o.AddAllowClasses) > 0, o.AddAllowClasses},
		{"allowClasses", "removeAllowClasses", len(o.RemoveAllowClasses) > 0 && len(b.entries) == 0, nil},
		{"denyClasses", "addDenyClasses", len(o.AddDenyClasses) > 0, o.AddDenyClasses},
		{"denyClasses", "removeDenyClasses", len(o.RemoveDenyClasses) > 0 && len(b.entries) == 0, nil},
	} {
		if c.path != b.path || !c.set {
			continue
		}
		if len(b.entries) == 0 {
			return "/sandboxOverrides/" + c.field, ""
		}
		for _, e := range b.entries {
			if i := slices.IndexFunc(c.list, func(own string) bool { return strings.EqualFold(own, e) }); i >= 0 {
				return "/sandboxOverrides/" + c.field, c.list[i]
			}
		}
	}
	return "", ""
}

// setter names the nearest layer that states a field, or an entry of a list,
// with its position.
func (l *layers) setter(chain []*layer, steps []string, entries []string) string {
	nearest := append([]*layer{l.baseline}, chain...)
	slices.Reverse(nearest)
	for _, layer := range nearest {
		if len(entries) > 0 && !slices.Contains(layer.listOf(strings.Join(steps, ".")), entries[0]) {
			continue
		}
		if f, name := l.field(layer.name, steps...); f != nil {
			return fmt.Sprintf("%s (%s:%d)", layerTitle(layer), name, f.Pos().Line())
		}
	}
	return "the result of the layers"
}

// listOf is a list that a layer states, by the path of a view.
func (l *layer) listOf(path string) []string {
	switch path {
	case "allowClasses":
		return l.AllowClasses
	case "denyClasses":
		return l.DenyClasses
	case "network.hosts":
		return l.Hosts
	case "network.hostsDeny":
		return l.HostsDeny
	case "network.ports":
		out := make([]string, len(l.Ports))
		for i, p := range l.Ports {
			out[i] = strconv.Itoa(p)
		}
		return out
	}
	return nil
}

func layerTitle(l *layer) string {
	if l.name == "baseline" {
		return "the baseline"
	}
	return fmt.Sprintf("profile %q", l.name)
}

// clip keeps a long value from filling the sentence.
func clip(s string) string {
	const most = 200
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "..."
}
