package resolver

import (
	"fmt"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/toolwarrant/toolwarrant/decision"
)

// reader takes a result of the policy apart. It keeps the first error, so
// that a result of another shape is refused as a whole.
type reader struct{ err error }

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
}

// get gives a field of an object, or nil and an error.
func (r *reader) get(t *ast.Term, name string) *ast.Term {
	if t == nil {
		return nil
	}
	o, ok := t.Value.(ast.Object)
	if !ok {
		r.fail("an object was expected around %s", name)
		return nil
	}
	v := o.Get(ast.InternedTerm(name))
	if v == nil {
		r.fail("%s is missing", name)
	}
	return v
}

func (r *reader) str(t *ast.Term, name string) string {
	v := r.get(t, name)
	if v == nil {
		return ""
	}
	s, ok := v.Value.(ast.String)
	if !ok {
		r.fail("%s is not a string", name)
	}
	return string(s)
}

// opt is a string that may be absent.
func (r *reader) opt(t *ast.Term, name string) string {
	if !r.has(t, name) {
		return ""
	}
	return r.str(t, name)
}

// has reports whether a field is there.
func (r *reader) has(t *ast.Term, name string) bool {
	o, ok := t.Value.(ast.Object)
	return !ok || o.Get(ast.InternedTerm(name)) != nil
}

// optNumber is a whole number, 0 when absent.
func (r *reader) optNumber(t *ast.Term, name string) int64 {
	if !r.has(t, name) {
		return 0
	}
	return r.number(t, name)
}

// rates are none when absent: policies of before do not state them.
func (r *reader) rates(t *ast.Term, name string) decision.Rates {
	if !r.has(t, name) {
		return decision.Rates{}
	}
	v := r.get(t, name)
	return decision.Rates{RatePerMinute: r.number(v, "ratePerMinute"), Concurrency: r.number(v, "concurrency")}
}

func (r *reader) boolean(t *ast.Term, name string) bool {
	v := r.get(t, name)
	if v == nil {
		return false
	}
	b, ok := v.Value.(ast.Boolean)
	if !ok {
		r.fail("%s is not a boolean", name)
	}
	return bool(b)
}

func (r *reader) number(t *ast.Term, name string) int64 {
	v := r.get(t, name)
	if v == nil {
		return 0
	}
	return r.int(v, name)
}

func (r *reader) int(v *ast.Term, name string) int64 {
	n, ok := v.Value.(ast.Number)
	if !ok {
		r.fail("%s is not a number", name)
		return 0
	}
	i, ok := n.Int64()
	if !ok || i < 0 {
		r.fail("%s is not a whole number of at least 0", name)
	}
	return i
}

// each walks a set or an array.
func (r *reader) each(t *ast.Term, name string, f func(*ast.Term)) {
	v := r.get(t, name)
	if v == nil {
		return
	}
	switch c := v.Value.(type) {
	case ast.Set:
		c.Foreach(f)
	case *ast.Array:
		c.Foreach(f)
	default:
		r.fail("%s is not a list", name)
	}
}

// list reads strings in their order: sorted for a set.
func (r *reader) list(t *ast.Term, name string) []string {
	out := []string{}
	r.each(t, name, func(v *ast.Term) {
		s, ok := v.Value.(ast.String)
		if !ok {
			r.fail("%s holds something that is not a string", name)
		}
		out = append(out, string(s))
	})
	return out
}

// sorted reads strings in text order.
func (r *reader) sorted(t *ast.Term, name string) []string {
	out := r.list(t, name)
	slices.Sort(out)
	return out
}

func (r *reader) effective(t *ast.Term) decision.EffectivePolicy {
	network, files := r.get(t, "network"), r.get(t, "fs")
	p := decision.EffectivePolicy{
		AllowClasses: r.sorted(t, "allowClasses"),
		DenyClasses:  r.sorted(t, "denyClasses"),
		Network: decision.Network{
			Mode:         r.str(network, "mode"),
			Hosts:        r.sorted(network, "hosts"),
			HostsDeny:    r.sorted(network, "hostsDeny"),
			Ports:        []int{},
			PrivateHosts: r.sorted(network, "privateHosts"),
		},
		FS: decision.FS{
			Read:     r.boolean(files, "read"),
			Write:    r.boolean(files, "write"),
			BasePath: r.str(files, "basePath"),
		},
		Env:            r.sorted(t, "env"),
		MaxStatements:  r.number(t, "maxStatements"),
		TimeoutSeconds: r.number(t, "timeoutSeconds"),
		MaxMemoryBytes: r.number(t, "maxMemoryBytes"),
		MaxOutputBytes: r.number(t, "maxOutputBytes"),
		MaxLogLines:    r.number(t, "maxLogLines"),
	}
	if r.has(t, "sandbox") {
		p.Sandbox = r.sandbox(r.get(t, "sandbox"))
	}
	r.each(network, "ports", func(v *ast.Term) { p.Network.Ports = append(p.Network.Ports, int(r.int(v, "ports"))) })
	slices.Sort(p.Network.Ports)
	if !slices.Contains([]string{"blocked", "allowlist", "strict", "open"}, p.Network.Mode) {
		r.fail("network.mode is %q", p.Network.Mode)
	}
	return p
}

func (r *reader) violations(t *ast.Term) []violation {
	var out []violation
	r.each(t, "violations", func(v *ast.Term) {
		out = append(out, violation{ID: r.str(v, "id"), Message: r.str(v, "message"), Pointer: r.str(v, "pointer"), Value: r.opt(v, "value")})
	})
	return out
}

// decision reads data.toolwarrant.decision into d.
func (r *reader) decision(t *ast.Term, d *decision.Decision) {
	d.Allow = r.boolean(t, "allow")
	d.EffectivePolicy = r.effective(r.get(t, "effectivePolicy"))
	d.RiskLevel = r.level(t, "riskLevel")
	d.RiskSignals = r.signals(t)
	d.Reasons = r.reasons(t, "reasons")
	h := r.get(t, "humanInTheLoop")
	approvers := r.get(h, "approvers")
	d.HumanInTheLoop = decision.HumanInTheLoop{
		Mode: r.str(h, "mode"), Source: r.str(h, "source"), RuleID: r.str(h, "ruleId"),
		AutoApproved: r.boolean(h, "autoApproved"), Prompt: r.str(h, "prompt"),
		Channels:               r.list(h, "channels"),
		Approvers:              decision.Approvers{Groups: r.sorted(approvers, "groups"), FourEyes: r.boolean(approvers, "fourEyes")},
		ExpirySeconds:          r.number(h, "expirySeconds"),
		OutOfBandExpirySeconds: r.number(h, "outOfBandExpirySeconds"),
	}
	if m := d.HumanInTheLoop.Mode; m != "REQUIRED" && m != "DISABLED" {
		r.fail("humanInTheLoop.mode is %q", m)
	}
	limits := r.get(t, "limits")
	d.Limits = decision.Limits{
		RatePerMinute: r.number(limits, "ratePerMinute"), Concurrency: r.number(limits, "concurrency"),
		Principal: r.rates(limits, "principal"), Tool: r.rates(limits, "tool"),
	}
	d.Isolation.Minimum = r.str(r.get(t, "isolation"), "minimum")
	d.Mask = r.sorted(t, "mask")
	if o, ok := t.Value.(ast.Object); ok {
		if v := o.Get(recordTerms.record); v != nil {
			d.Record = r.record(v)
		}
	}
	if d.Allow == (len(d.Reasons) > 0) {
		r.fail("allow is %v with %d reasons", d.Allow, len(d.Reasons))
	}
}

// recordTerms are the names that every decision is asked for and that OPA has
// no terms of.
var recordTerms = struct{ record, how, drop, result *ast.Term }{
	ast.StringTerm("record"), ast.StringTerm("how"), ast.StringTerm("drop"), ast.StringTerm("result"),
}

// record reads what the record of the call does not show.
func (r *reader) record(t *ast.Term) (out decision.Record) {
	o, ok := t.Value.(ast.Object)
	if !ok {
		r.fail("record is not an object")
		return out
	}
	how, drop, result := o.Get(recordTerms.how), o.Get(recordTerms.drop), o.Get(recordTerms.result)
	if how == nil || drop == nil || result == nil {
		r.fail("record lacks how, drop or result")
		return out
	}
	if forms, ok := how.Value.(ast.Object); !ok {
		r.fail("record.how is not an object")
	} else if forms.Len() > 0 {
		out.How = map[string]decision.Form{}
		forms.Foreach(func(k, v *ast.Term) { r.form(out.How, k, v) })
	}
	if fields, ok := drop.Value.(ast.Set); !ok || fields.Len() > 0 {
		out.Drop = r.sorted(t, "drop")
	}
	switch text, _ := result.Value.(ast.String); text {
	case "digest":
	case decision.ResultContent:
		out.Result = decision.ResultContent
	default:
		r.fail("record.result is %s, neither \"digest\" nor %q", result, decision.ResultContent)
	}
	return out
}

func (r *reader) form(how map[string]decision.Form, k, v *ast.Term) {
	pointer, named := k.Value.(ast.String)
	form, said := v.Value.(ast.String)
	f := decision.Form(form)
	switch {
	case !named || pointer != "" && pointer[0] != '/':
		r.fail("record.how holds %s, which is no pointer into the arguments", k)
	case !said || !f.Known():
		r.fail("record.how says %s of %s; it is one of %v", v, k, decision.Forms)
	default:
		how[string(pointer)] = f
	}
}

func (r *reader) signals(t *ast.Term) []decision.Signal {
	out := []decision.Signal{}
	r.each(t, "riskSignals", func(v *ast.Term) {
		out = append(out, decision.Signal{ID: r.str(v, "id"), Level: r.level(v, "level"), Message: r.str(v, "message")})
	})
	return out
}

func (r *reader) reasons(t *ast.Term, name string) []decision.Reason {
	out := []decision.Reason{}
	r.each(t, name, func(v *ast.Term) {
		out = append(out, decision.Reason{ID: r.str(v, "id"), Message: r.str(v, "message"), Path: r.str(v, "path")})
	})
	return out
}

func (r *reader) level(t *ast.Term, name string) string {
	s := r.str(t, name)
	if len(s) != 2 || s[0] != 'L' || s[1] < '0' || s[1] > '5' {
		r.fail("%s is %q, not one of L0 to L5", name, s)
	}
	return s
}
