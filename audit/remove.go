package audit

import (
	"encoding/json"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/toolwarrant/toolwarrant/decision"
)

// inputBase is where a record has the caller's part of the policy input.
const inputBase = "/decision/input"

// remove gives c without the fields that c.Drop names, and notes in its place
// which ones had a value. A field that is no field of decision.Removable stands
// for all of them. What is left out is null, or empty where the format has no null.
func (k *masking) remove(c *Call) {
	fields := c.Drop
	if slices.ContainsFunc(fields, func(f string) bool { return !slices.Contains(decision.Removable, f) }) {
		fields = decision.Removable
	}
	for _, field := range fields {
		if k.removeOne(c, field) {
			k.pointers = append(k.pointers, pointer{base: field})
		}
	}
	if c.Decision == nil {
		return
	}
	var inner []string
	for field, below := range map[string]string{
		"/params": "/call/args", "/principal/clientId": "/principal/clientId", "/principal/groups": "/principal/groups",
	} {
		if slices.Contains(fields, field) {
			inner = append(inner, below)
		}
	}
	if len(inner) > 0 && len(c.Decision.Input) > 0 {
		d := *c.Decision
		d.Input = k.removeInput(d.Input, inner)
		c.Decision = &d
	}
}

func (k *masking) removeOne(c *Call, field string) (had bool) {
	switch field {
	case "/params":
		had, c.Params = len(c.Params) > 0, nil
	case "/traceId":
		had, c.TraceID = c.TraceID != nil, nil
	case "/shadow":
		had, c.Shadow = c.Shadow != nil, nil
	case "/principal/clientId", "/principal/groups":
		if c.Principal == nil {
			return false
		}
		p := *c.Principal
		if field == "/principal/groups" {
			had, p.Groups = len(p.Groups) > 0, nil
		} else {
			had, p.ClientID = p.ClientID != "", ""
		}
		c.Principal = &p
	case "/humanInTheLoop/approver":
		if c.HITL == nil {
			return false
		}
		h := *c.HITL
		had, h.Approver = h.Approver != nil, nil
		c.HITL = &h
	case "/error/message":
		if c.Error == nil {
			return false
		}
		e := *c.Error
		had, e.Message = e.Message != "", ""
		c.Error = &e
	case "/usage/egress", "/usage/fs":
		if c.Usage == nil {
			return false
		}
		u := *c.Usage
		if field == "/usage/fs" {
			had, u.FS = len(u.FS) > 0, nil
		} else {
			had, u.Egress = len(u.Egress) > 0, nil
		}
		c.Usage = &u
	case inputBase:
		if c.Decision == nil {
			return false
		}
		d := *c.Decision
		had, d.Input = len(d.Input) > 0, nil
		c.Decision = &d
	}
	return had
}

// removeInput leaves members out of decision.input. An input that cannot be
// read goes as a whole.
func (k *masking) removeInput(raw json.RawMessage, gone []string) json.RawMessage {
	clean, err := compactJSON(raw)
	if err != nil {
		return raw // which a marker will replace
	}
	out, err := members(clean, func(name string, v jsontext.Value) (jsontext.Value, error) {
		if v.Kind() != '{' {
			return v, nil
		}
		return members(v, func(inner string, v jsontext.Value) (jsontext.Value, error) {
			at := "/" + name + "/" + inner
			if !slices.Contains(gone, at) {
				return v, nil
			}
			k.pointers = append(k.pointers, pointer{base: inputBase + at})
			if at == "/call/args" { // which every input has
				return jsontext.Value("null"), nil
			}
			return nil, nil
		})
	})
	if err != nil {
		k.pointers = append(k.pointers, pointer{base: inputBase})
		return nil
	}
	return json.RawMessage(out)
}
