package executor

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/executor/mask"
	"github.com/toolwarrant/toolwarrant/spec"
)

// private is what the records of a call hold of it under one decision. It is
// made once per decision: ask, open and close repeat it.
type private struct {
	of      *decision.Decision
	args    json.RawMessage
	kept    []string     // pointers into the arguments of what was hidden
	hides   bool         // something that is not empty was hidden
	mask    audit.Masker // of the secrets, and of what was hidden
	drop    []string     // fields of the record that are left out
	secrets *mask.Set    // in mask
}

// privately brings a decision to bear on the records of its call. Without one
// there is nothing that a policy hides.
func (e *Engine) privately(r *run) *private {
	if p := r.private; p != nil && p.of == r.decision && p.secrets == r.mask {
		return p
	}
	p := &private{of: r.decision, mask: r.mask, secrets: r.mask}
	p.drop = e.removable(r, r.decision.Record.Drop)
	hidden := redactor{keys: e.Keys}
	p.args = hidden.args(r.args, r.decision.Hidden())
	p.kept = hidden.kept
	p.hides = p.args == nil && len(r.args) > 0 || slices.ContainsFunc(hidden.hidden, func(v jsontext.Value) bool {
		return !slices.Contains([]string{`""`, `[]`, `{}`, `null`}, string(v))
	})
	if len(hidden.hidden) > 0 {
		if texts, all := hidden.texts(); all {
			p.mask = mask.New(append(slices.Clone(r.secrets), texts...))
		} else {
			p.mask = blind{inner: r.mask, params: r.tool.Spec.Params, made: hidden.made}
		}
	}
	r.private = p
	return p
}

// removable are the fields that a policy leaves out of the record. One that
// asks for a field which may not go, or is none, wants something to be private
// that nobody here can name: everything goes that may.
func (e *Engine) removable(r *run, fields []string) []string {
	for _, field := range fields {
		if !slices.Contains(decision.Removable, field) {
			e.Logger.Error().Str("callId", r.callID).Str("field", r.mask.Clipped(field)).Str("policy", r.decision.PolicyRevision).
				Msg("log.drop of the policy names a field that a record cannot do without, or that there is not; everything that can be left out of the record is left out")
			return decision.Removable
		}
	}
	return fields
}

// recordMask is the mask of the records of a call.
func (e *Engine) recordMask(r *run) audit.Masker {
	switch {
	case r.tool == nil && e.Known != nil:
		return e.Known()
	case r.decision == nil:
		return r.mask
	}
	return e.privately(r).mask
}

// clipped masks a text that may have been cut within a value.
func (p *private) clipped(text string) string {
	if set, ok := p.mask.(*mask.Set); ok {
		return set.Clipped(text)
	}
	return p.mask.String(text)
}

// blind masks every text, also within JSON values, since it is for calls that
// hide more than can be looked for. What stands in the place of what was hidden
// stays in the arguments, and so do the names of parameters.
type blind struct {
	inner  *mask.Set
	params []spec.Param
	made   map[string]bool // what stands in the place of hidden values
}

// String is of audit.Masker.
func (blind) String(s string) string {
	if s == "" {
		return s
	}
	return mask.Mask
}

// JSON is of audit.Masker.
func (b blind) JSON(raw json.RawMessage) (json.RawMessage, []string, error) {
	clean, inner, err := b.inner.JSON(raw)
	if err != nil {
		return nil, nil, err
	}
	out, all, err := mask.AllJSON(clean, func(text string, name bool) bool {
		if name {
			return slices.ContainsFunc(b.params, func(p spec.Param) bool { return p.Name == text })
		}
		return b.made[text]
	})
	for _, p := range inner {
		if !slices.Contains(all, p) {
			all = append(all, p)
		}
	}
	return out, all, err
}

// Bounds of the texts of hidden values that are looked for elsewhere.
const (
	maxHiddenTexts = 128
	maxHiddenBytes = 64 << 10
)

// texts are the texts and numbers of what was hidden, which the tool may
// repeat in an error or in the name of a file. all is false if there are too
// many to look for.
func (r *redactor) texts() (out []string, all bool) {
	size := 0
	for _, v := range r.hidden {
		dec := jsontext.NewDecoder(bytes.NewReader(v))
		for {
			in, n := dec.StackIndex(dec.StackDepth())
			name := in == '{' && n%2 == 0
			tok, err := dec.ReadToken()
			if err != nil {
				break
			}
			if k := tok.Kind(); name || k != '"' && k != '0' {
				continue
			}
			text := strings.TrimSpace(tok.String())
			if text == "" || slices.Contains(out, text) {
				continue
			}
			if size += len(text); len(out) == maxHiddenTexts || size > maxHiddenBytes {
				return nil, false
			}
			out = append(out, text)
		}
	}
	return out, true
}
