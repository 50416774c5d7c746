package resolver

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"cuelang.org/go/cue"
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
		v.Pointer, who = because.pointer, "the tool is"
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
	v.Message = fmt.Sprintf("%s (%s) demands %s: %s, but %s %s", layerTitle(b.by),
		l.position(b.by.name, append([]string{"constraints"}, steps...)...), b.path, l.demand(b.by, b.path), who, got)
	if v.Pointer != "" {
		v.Message += " at " + v.Pointer
	}
	return v
}

// demand is a constraint as the operator wrote it.
func (l *layers) demand(by *layer, path string) string {
	if f, _ := l.field(by.name, append([]string{"constraints"}, strings.Split(path, ".")...)...); f != nil {
		if text, err := format.Node(f.Value); err == nil {
			return clip(strings.Join(strings.Fields(string(text)), " "))
		}
	}
	return "what the constraints of the layer say"
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
