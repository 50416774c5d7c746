package resolver

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/spec"
)

// Explanation is a decision with what led to it.
type Explanation struct {
	Decision *decision.Decision `json:"decision"`
	Layers   []LayerTrail       `json:"layers"`  // baseline first, the tool last
	Fields   []FieldTrail       `json:"fields"`  // one per value of the effective policy
	Signals  []RuleTrail        `json:"signals"` // one per risk signal
	Approval RuleTrail          `json:"approval"`
	Reasons  []RuleTrail        `json:"reasons"`
}

// LayerTrail is one layer that took part.
type LayerTrail struct {
	Name     string `json:"name"`     // baseline, profile:<name>, tool
	Position string `json:"position"` // file:line, or the document
}

// FieldTrail says which layer set one value, or added one entry of a list.
type FieldTrail struct {
	Path  string `json:"path"`  // as in effectivePolicy
	Value string `json:"value"` // for a list the entry
	Layer string `json:"layer"` // baseline, profile:<name>, tool, operator
	At    string `json:"at"`    // file:line, or a pointer into the document
}

// RuleTrail is one signal or reason with the rule that gave it.
type RuleTrail struct {
	ID      string `json:"id"`
	Level   string `json:"level,omitempty"`
	Message string `json:"message"`
	Rule    Rule   `json:"rule"`
}

// Explain decides a request and says which layer and which rule is behind
// each part of the answer. It is not for the call path.
func (r *Resolver) Explain(ctx context.Context, req Request) (*Explanation, error) {
	e := r.active.Load()
	pl, err := e.planFor(ctx, req.Tool, req.Principal)
	if err != nil {
		return nil, err
	}
	d, err := e.decide(ctx, pl, req)
	if err != nil {
		return nil, err
	}
	x := &Explanation{Decision: d, Signals: []RuleTrail{}, Reasons: []RuleTrail{}}
	x.Layers = append(x.Layers, LayerTrail{"baseline", e.layers.position("baseline")})
	for _, p := range pl.fold.chain {
		x.Layers = append(x.Layers, LayerTrail{"profile:" + p.name, e.layers.position(p.name)})
	}
	x.Layers = append(x.Layers, LayerTrail{"tool", req.Tool.Spec.File()})
	x.Fields = e.layers.trail(pl.fold.chain, req.Tool.Spec, d.EffectivePolicy)
	for _, s := range d.RiskSignals {
		x.Signals = append(x.Signals, RuleTrail{s.ID, s.Level, s.Message, e.program.rules[s.ID]})
	}
	for _, reason := range d.Reasons {
		x.Reasons = append(x.Reasons, RuleTrail{ID: reason.ID, Message: reason.Message, Rule: e.program.rules[reason.ID]})
	}
	h := d.HumanInTheLoop
	x.Approval = RuleTrail{ID: h.RuleID, Message: h.Mode + ", from " + h.Source, Rule: e.program.rules[h.RuleID]}
	if x.Approval.Rule.ID == "" {
		x.Approval.Rule = e.program.rules["hitl-verdict"]
	}
	return x, nil
}

// trail attributes the values of an effective policy to layers.
func (l *layers) trail(chain []*layer, s *spec.Spec, p decision.EffectivePolicy) []FieldTrail {
	o := s.Overrides
	if o == nil {
		o = &spec.Overrides{}
	}
	nearest := append([]*layer{l.baseline}, chain...)
	slices.Reverse(nearest)
	out := []FieldTrail{}
	single := func(path, value, field, override string, overridden bool) {
		if overridden {
			out = append(out, FieldTrail{path, value, "tool", "/sandboxOverrides/" + override})
			return
		}
		for _, layer := range nearest {
			if f, _ := l.field(layer.name, strings.Split(field, ".")...); f != nil {
				out = append(out, FieldTrail{path, value, trailName(layer), l.position(layer.name, strings.Split(field, ".")...)})
				return
			}
		}
		out = append(out, FieldTrail{path, value, "operator", ""})
	}
	entries := func(path string, values []string, field, override string, of func(*layer) []string) {
		for _, v := range values {
			out = append(out, l.entry(nearest, path, v, field, override, of))
		}
	}
	entries("allowClasses", p.AllowClasses, "allowClasses", "addAllowClasses", func(l *layer) []string { return l.AllowClasses })
	entries("denyClasses", p.DenyClasses, "denyClasses", "addDenyClasses", func(l *layer) []string { return l.DenyClasses })
	single("network.mode", p.Network.Mode, "network.mode", "networkMode", o.NetworkMode != nil)
	entries("network.hosts", p.Network.Hosts, "network.hosts", "hostsAllow", func(l *layer) []string { return l.Hosts })
	entries("network.hostsDeny", p.Network.HostsDeny, "network.hostsDeny", "", func(l *layer) []string { return l.HostsDeny })
	for _, pair := range p.Network.PrivateHosts {
		out = append(out, FieldTrail{"network.privateHosts", pair, "operator", "egress.private-hosts"})
	}
	single("fs.read", strconv.FormatBool(p.FS.Read), "fileRead", "fileRead", o.FileRead != nil)
	single("fs.write", strconv.FormatBool(p.FS.Write), "fileWrite", "fileWrite", o.FileWrite != nil)
	single("fs.basePath", p.FS.BasePath, "fsBasePath", "fsBasePath", o.FSBasePath != nil)
	for path, n := range map[string]int64{"maxStatements": p.MaxStatements, "timeoutSeconds": p.TimeoutSeconds,
		"maxMemoryBytes": p.MaxMemoryBytes, "maxOutputBytes": p.MaxOutputBytes, "maxLogLines": p.MaxLogLines} {
		single(path, strconv.FormatInt(n, 10), path, "", false)
	}
	slices.SortStableFunc(out, func(a, b FieldTrail) int { return strings.Compare(a.Path, b.Path) })
	return out
}

// entry finds the first layer, from the root, that added one entry of a list.
func (l *layers) entry(nearest []*layer, path, value, field, override string, of func(*layer) []string) FieldTrail {
	for i := len(nearest) - 1; i >= 0; i-- {
		if slices.Contains(of(nearest[i]), value) {
			return FieldTrail{path, value, trailName(nearest[i]), l.position(nearest[i].name, strings.Split(field, ".")...)}
		}
	}
	return FieldTrail{path, value, "tool", "/sandboxOverrides/" + override}
}

func trailName(l *layer) string {
	if l.name == "baseline" {
		return l.name
	}
	return "profile:" + l.name
}
