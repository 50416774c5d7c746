package resolver

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/format"

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
}

// unmet holds the folded result against the constraints of the baseline and
// of every profile of the chain, and says which it does not satisfy. It runs
// once per tool and chain. Encode of Go values, unlike compiling text, leaves
// nothing behind in the context.
func (l *layers) unmet(chain []*layer, folded decision.EffectivePolicy, s *spec.Spec) []violation {
	var out []violation
	var value cue.Value
	for _, layer := range append([]*layer{l.baseline}, chain...) {
		if !layer.constraints.Exists() {
			continue
		}
		if !value.Exists() {
			value = l.ctx.Encode(viewOf(folded))
		}
		both := layer.constraints.Unify(value)
		if both.Validate(cue.Concrete(true)) == nil {
			continue
		}
		found := false
		for _, path := range constrained {
			p := cue.ParsePath(path)
			if both.LookupPath(p).Validate(cue.Concrete(true)) != nil {
				out = append(out, l.sentence(layer, chain, path, value.LookupPath(p), s))
				found = true
			}
		}
		if !found { // a condition over several fields
			out = append(out, l.sentence(layer, chain, "", value, s))
		}
	}
	return out
}

// sentence says who demands what, who asks for what, and where both stand.
func (l *layers) sentence(by *layer, chain []*layer, path string, have cue.Value, s *spec.Spec) violation {
	steps := strings.Split(path, ".")
	if path == "" {
		steps = nil
	}
	field, demand := path, "the constraints of the layer"
	if f, _ := l.field(by.name, append([]string{"constraints"}, steps...)...); f != nil {
		if text, err := format.Node(f.Value); err == nil {
			demand = strings.Join(strings.Fields(string(text)), " ")
		}
	}
	got, err := have.MarshalJSON()
	if err != nil || path == "" {
		field, got = "the combination of values", json.RawMessage("something else")
	}
	pointer := overridePointer(path, s)
	who := "the tool asks for"
	if pointer == "" {
		who = l.setter(chain, steps) + " gives"
	}
	where := ""
	if pointer != "" {
		where = " at " + pointer
	}
	return violation{ID: "constraint", Pointer: pointer, Message: fmt.Sprintf("%s (%s) demands %s: %s, but %s %s%s",
		layerTitle(by), l.position(by.name, append([]string{"constraints"}, steps...)...), field, demand, who, clip(string(got)), where)}
}

// overridePointer is where the document itself sets a field, or "".
func overridePointer(path string, s *spec.Spec) string {
	o := s.Overrides
	if o == nil {
		return ""
	}
	for _, c := range []struct {
		path, field string
		set         bool
	}{
		{"network.mode", "networkMode", o.NetworkMode != nil},
		{"network.hosts", "hostsAllow", len(o.HostsAllow) > 0},
		{"network.hosts", "networkMode", o.NetworkMode != nil},
		{"fileRead", "fileRead", o.FileRead != nil},
		{"fileWrite", "fileWrite", o.FileWrite != nil},
		{"fsBasePath", "fsBasePath", o.FSBasePath != nil},
		{"allowClasses", "addAllowClasses", len(o.AddAllowClasses) > 0},
		{"allowClasses", "removeAllowClasses", len(o.RemoveAllowClasses) > 0},
		{"denyClasses", "removeDenyClasses", len(o.RemoveDenyClasses) > 0},
		{"denyClasses", "addDenyClasses", len(o.AddDenyClasses) > 0},
	} {
		if c.path == path && c.set {
			return "/sandboxOverrides/" + c.field
		}
	}
	return ""
}

// setter names the nearest layer that states a field, with its position.
func (l *layers) setter(chain []*layer, steps []string) string {
	nearest := append([]*layer{l.baseline}, chain...)
	slices.Reverse(nearest)
	for _, layer := range nearest {
		if f, name := l.field(layer.name, steps...); f != nil && len(steps) > 0 {
			return fmt.Sprintf("%s (%s:%d)", layerTitle(layer), name, f.Pos().Line())
		}
	}
	return "the result of the layers"
}

func layerTitle(l *layer) string {
	if l.name == "baseline" {
		return "the baseline"
	}
	return fmt.Sprintf("profile %q", l.name)
}

// clip keeps a long list from filling the sentence.
func clip(s string) string {
	const most = 200
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "..."
}
