package audit

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// withheld stands for a text that could not be masked.
const withheld = "***"

// prepare gives a copy of c in which every caller- or tool-controlled field
// is masked and bounded. c itself is not changed. Structural fields (ids,
// digests, policy, levels, outcome, and in decision.input all but the
// arguments and the clientId) are never touched.
//
// Fields that c.Drop names are left out before.
//
// If masking fails or panics, params and decision.input are null and every
// other such field reads "***": a record is never written raw, and never
// left out.
func prepare(c Call, m Masker) Call {
	if out, err := maskCall(c, m); err == nil {
		return out
	}
	out, err := maskCall(c, withholder{})
	if err != nil { // cannot be: the withholder does not fail
		out = Call{Phase: c.Phase, CallID: c.CallID, Outcome: c.Outcome, Origin: c.Origin}
	}
	return out
}

// withholder masks by leaving everything out.
type withholder struct{}

func (withholder) String(s string) string {
	if s == "" {
		return s
	}
	return withheld
}

func (withholder) JSON(json.RawMessage) (json.RawMessage, []string, error) {
	return nil, []string{""}, nil
}

// masking collects what was changed while one record is masked.
type masking struct {
	m        Masker
	pointers []pointer
	err      error
}

// pointer names a member that was changed: the base is spelled by us, the
// rest has names that a caller chose.
type pointer struct{ base, rest string }

func maskCall(c Call, m Masker) (out Call, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("masking panicked: %v", r)
		}
	}()
	k := &masking{m: m}
	if len(c.Drop) > 0 {
		k.remove(&c)
	}

	if c.Principal != nil {
		p := *c.Principal
		p.ClientID = k.text(p.ClientID, maxName, "/principal/clientId")
		c.Principal = &p
	}
	if c.Tool != nil && c.Tool.ToolID == "" { // the name is what the caller asked for
		t := *c.Tool
		t.Name = k.text(t.Name, maxName, "/tool/name")
		c.Tool = &t
	}
	c.TraceID = k.optional(c.TraceID, maxName, "/traceId")
	c.RiskSignals = k.signals(c.RiskSignals)
	c.Reasons = k.reasons(c.Reasons)
	if c.HITL != nil && (c.HITL.Approver != nil || c.HITL.RuleID != nil) {
		h := *c.HITL
		h.Approver = k.optional(h.Approver, maxName, "/humanInTheLoop/approver")
		if h.RuleID != nil {
			id := k.id(*h.RuleID, "/humanInTheLoop/ruleId")
			h.RuleID = &id
		}
		c.HITL = &h
	}
	c.Params = k.json(c.Params, "/params")
	if c.Error != nil {
		e := k.failure(*c.Error, "/error")
		c.Error = &e
	}
	if c.Usage != nil {
		u := *c.Usage
		k.usage(&u)
		c.Usage = &u
	}
	if c.Result != nil && len(c.Result.Content) > 0 {
		r := *c.Result
		r.Content = k.json(r.Content, "/result/content")
		c.Result = &r
	}
	c.Shadow, c.Sandbox = k.shadow(c.Shadow), k.commands(c.Sandbox)
	if c.Decision != nil {
		d := *c.Decision
		d.Input = k.input(d.Input, "/decision/input")
		d.MaskedPointers = k.finish(d.MaskedPointers)
		c.Decision = &d
	}
	return c, k.err
}

// text masks, then bounds, one string.
func (k *masking) text(s string, limit int, at string) string {
	if k.m != nil && s != "" {
		masked := k.m.String(s)
		if masked != s {
			k.pointers = append(k.pointers, pointer{base: at})
		}
		s = masked
	}
	return capString(s, limit)
}

func (k *masking) optional(s *string, limit int, at string) *string {
	if s == nil {
		return nil
	}
	out := k.text(*s, limit, at)
	return &out
}

func (k *masking) failure(e Error, at string) Error {
	if e.Reason != nil && !isSlug(*e.Reason) {
		e.Reason = k.optional(e.Reason, maxName, at+"/reason")
	}
	e.Message = k.text(e.Message, maxString, at+"/message")
	return e
}

// json masks, then bounds, one JSON value. What is no JSON value at all is
// replaced by a marker, since it could break the line.
func (k *masking) json(raw json.RawMessage, at string) json.RawMessage {
	if len(raw) == 0 {
		return nil
	}
	clean, err := compactJSON(raw)
	if err != nil {
		return marker("invalid", len(raw))
	}
	if k.m == nil {
		return capJSON(clean)
	}
	return capJSON(k.value(clean, at))
}

// value masks a compact JSON value; nil stands for null.
func (k *masking) value(clean json.RawMessage, at string) json.RawMessage {
	masked, pointers, err := k.m.JSON(clean)
	if err != nil {
		k.err = fmt.Errorf("masking %s: %w", at, err)
		return nil
	}
	for _, p := range pointers {
		k.pointers = append(k.pointers, pointer{at, p})
	}
	if masked == nil {
		return nil
	}
	if masked, err = compactJSON(masked); err != nil {
		k.err = fmt.Errorf("masking %s gave no JSON: %w", at, err)
		return nil
	}
	return masked
}

func (k *masking) usage(u *Usage) {
	u.Egress = slices.Clone(capKeeping(u.Egress, maxEntries, reached, moreEgress))
	for i := range u.Egress {
		e := &u.Egress[i]
		at := "/usage/egress/" + strconv.Itoa(i)
		e.Host = k.text(e.Host, maxName, at+"/host")
		e.IP = k.text(e.IP, maxName, at+"/ip")
	}
	u.FS = slices.Clone(capKeeping(u.FS, maxEntries, FSUse.Changes, moreFS))
	for i := range u.FS {
		f := &u.FS[i]
		f.Path = k.text(f.Path, maxName, "/usage/fs/"+strconv.Itoa(i)+"/path")
	}
}

// split takes a pointer that the caller of the log knew apart: the names of the
// format are ours, and not to be masked where a secret is spelt like one.
func split(p string) pointer {
	for _, base := range []string{inputBase + "/call/args", "/params"} {
		if rest, ok := strings.CutPrefix(p, base); ok && (rest == "" || rest[0] == '/') {
			return pointer{base, rest}
		}
	}
	return pointer{rest: p}
}

// finish gives the pointers of a record: those that the caller of the log
// already knew of and those found here. What a pointer holds of names that a
// caller chose is masked like any other text.
func (k *masking) finish(known []string) []string {
	all := make([]pointer, 0, len(known)+len(k.pointers))
	_, blind := k.m.(withholder)
	if !blind { // nothing could mask them
		for _, p := range known {
			all = append(all, split(p))
		}
	}
	all = append(all, k.pointers...)
	more := len(all) - maxPointers
	if more > 0 {
		all = all[:maxPointers]
	}
	out := make([]string, 0, len(all)+1)
	for _, p := range all {
		if k.m != nil && !blind && p.rest != "" {
			p.rest = k.m.String(p.rest)
		}
		out = append(out, capString(p.base+p.rest, maxName))
	}
	if more > 0 {
		out = append(out, fmt.Sprintf("(%d more)", more))
	}
	return out
}
