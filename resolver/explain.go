package resolver

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/spec"
)

// Explanation is a decision, or a rejection, with what led to it.
type Explanation struct {
	Decision *decision.Decision `json:"decision"` // nil where the layers reject the document
	Rejected []Refusal          `json:"rejected"` // why they do
	Layers   []LayerTrail       `json:"layers"`   // baseline first, the tool last
	Fields   []FieldTrail       `json:"fields"`   // one per value of the effective policy
	Bounds   []BoundTrail       `json:"bounds"`   // one per constraint of the layers
	Signals  []RuleTrail        `json:"signals"`  // one per risk signal
	Approval RuleTrail          `json:"approval"`
	Demands  []RuleTrail        `json:"demands"` // rules that ask whatever the document says
	Reasons  []RuleTrail        `json:"reasons"`
	Ways     []Way              `json:"ways"` // what would change the answer
}

// Refusal is one reason for which the layers reject a document.
type Refusal struct {
	ID      string `json:"id"`
	Message string `json:"message"`
	Pointer string `json:"pointer"`
	Line    int    `json:"line"`
	Column  int    `json:"column"`
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

	// Of a signal: the override without which it is gone, "" where no
	// override gives it.
	Pointer string `json:"pointer,omitempty"`
}

// Explain decides a request and says which layer and which rule is behind
// each part of the answer, and what would change it. Of a document that the
// layers reject it gives the explanation and the *Rejection. It is not for the
// call path.
func (r *Resolver) Explain(ctx context.Context, req Request) (*Explanation, error) {
	e := r.active.Load()
	pl, err := e.planFor(ctx, req.Tool, req.Principal)
	var rejected *Rejection
	if err != nil && (!errors.As(err, &rejected) || pl.fold == nil) {
		return nil, err
	}
	x := &Explanation{Rejected: []Refusal{}, Fields: []FieldTrail{}, Signals: []RuleTrail{}, Demands: []RuleTrail{}, Reasons: []RuleTrail{}}
	if rejected == nil {
		if x.Decision, err = e.decide(ctx, pl, req); err != nil && !errors.As(err, &rejected) {
			return nil, err
		}
	}
	x.Layers = append(x.Layers, LayerTrail{"baseline", e.layers.position("baseline")})
	for _, p := range pl.fold.chain {
		x.Layers = append(x.Layers, LayerTrail{"profile:" + p.name, e.layers.position(p.name)})
	}
	x.Layers = append(x.Layers, LayerTrail{"tool", req.Tool.Spec.File()})
	x.Bounds = e.layers.bounds(pl.fold.chain)
	w, err := e.newWays(ctx, pl, req)
	if err != nil {
		return nil, err
	}
	if rejected != nil {
		for _, f := range rejected.All {
			x.Rejected = append(x.Rejected, Refusal{f.Reason, f.Message, f.Pointer, f.Line, f.Column})
		}
		x.Ways = w.accepted(ctx, rejected)
		return x, rejected
	}
	x.Fields = e.layers.trail(pl.fold.chain, req.Tool.Spec, x.Decision.EffectivePolicy)
	e.explainRules(ctx, x, pl, req, w)
	x.Ways = w.lower(ctx, x.Decision)
	return x, nil
}

// explainRules names the rules behind signals, approval and reasons.
func (e *engine) explainRules(ctx context.Context, x *Explanation, pl *plan, req Request, w *ways) {
	d := x.Decision
	for _, s := range d.RiskSignals {
		t := RuleTrail{ID: s.ID, Level: s.Level, Message: s.Message, Rule: e.program.where(s.ID)}
		if owner := w.owner(ctx, nil, s.ID); owner != nil {
			t.Pointer = owner.pointer
		}
		x.Signals = append(x.Signals, t)
	}
	for _, reason := range d.Reasons {
		x.Reasons = append(x.Reasons, RuleTrail{ID: reason.ID, Message: reason.Message, Rule: e.program.where(reason.ID)})
	}
	h := d.HumanInTheLoop
	because, demands := e.because(ctx, pl, req)
	if because == "" {
		because = "from " + h.Source
	}
	x.Approval = RuleTrail{ID: h.RuleID, Message: h.Mode + ", " + because, Rule: e.program.where(h.RuleID)}
	if x.Approval.Rule.ID == "" {
		x.Approval.Rule = e.program.rules["hitl-verdict"]
	}
	for _, id := range demands {
		x.Demands = append(x.Demands, RuleTrail{ID: id, Message: "demands a human", Rule: e.program.where(id)})
	}
}

// because asks the policy for the verdict in words. A policy that has none is
// not the worse for it.
func (e *engine) because(ctx context.Context, pl *plan, req Request) (string, []string) {
	if e.program.because == nil {
		return "", nil
	}
	input, err := e.input(pl, req)
	if err != nil {
		return "", nil
	}
	t, err := e.eval(ctx, *e.program.because, input)
	if err != nil {
		return "", nil
	}
	var r reader
	because, demands := r.str(t, "because"), r.sorted(t, "demands")
	if r.err != nil {
		return "", nil
	}
	return because, demands
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
			f := l.entry(nearest, path, v, field, override, of)
			f.At = refine(violation{Pointer: f.At, Value: v}, s).Pointer
			out = append(out, f)
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
