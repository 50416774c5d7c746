package audit

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/go-json-experiment/json/jsontext"
)

var errInputShape = errors.New("a decision input of an unknown shape")

// input masks, then bounds, decision.input: in it, call.args and
// principal.clientId are the caller's, and everything else is ours and stays
// as it is, so that the decision can be made again. An input that has another
// shape is left out, since nobody knows what of it is whose.
func (k *masking) input(raw json.RawMessage, at string) json.RawMessage {
	if _, blind := k.m.(withholder); blind || k.m == nil || len(raw) == 0 {
		return k.json(raw, at)
	}
	clean, err := compactJSON(raw)
	if err != nil {
		return marker("invalid", len(raw))
	}
	before := len(k.pointers)
	out, err := members(clean, func(name string, v jsontext.Value) (jsontext.Value, error) {
		switch name {
		case "principal":
			return members(v, func(name string, v jsontext.Value) (jsontext.Value, error) {
				return k.principalMember(name, v, at+"/principal")
			})
		case "call":
			return members(v, func(name string, v jsontext.Value) (jsontext.Value, error) {
				return k.callMember(name, v, at+"/call")
			})
		case "now":
			return v, kinds(v, `"`)
		case "approvals":
			return v, kinds(v, "[n")
		}
		return nil, errInputShape
	})
	if err != nil {
		k.pointers = append(k.pointers[:before], pointer{base: at})
		return nil
	}
	if len(out) > maxValue+maxString {
		k.pointers = append(k.pointers[:before], pointer{base: at})
		return marker("truncated", len(out))
	}
	if len(out) <= maxString {
		return json.RawMessage(out)
	}
	capped, err := capLeaves(out)
	if err != nil {
		k.err = err
		return nil
	}
	return capped
}

func (k *masking) principalMember(name string, v jsontext.Value, at string) (jsontext.Value, error) {
	switch name {
	case "clientId":
		if v.Kind() != '"' {
			return nil, errInputShape
		}
		var s string
		if err := json.Unmarshal(v, &s); err != nil {
			return nil, err
		}
		masked := k.text(s, maxString, at+"/clientId")
		if masked == s {
			return v, nil
		}
		return jsontext.AppendQuote(nil, masked)
	case "subject", "method":
		return v, kinds(v, `"`)
	case "untrusted":
		return v, kinds(v, "tf")
	case "groups", "scopes":
		var list []string
		return v, json.Unmarshal(v, &list)
	}
	return nil, errInputShape
}

func (k *masking) callMember(name string, v jsontext.Value, at string) (jsontext.Value, error) {
	switch name {
	case "args":
		masked := k.value(json.RawMessage(v), at+"/args")
		if masked == nil {
			return jsontext.Value("null"), nil
		}
		// Cut by itself, so that the rest still says what was decided about: a
		// decision whose rules read no argument can be made again.
		bounded := capJSON(masked)
		if len(masked) > maxValue {
			k.pointers = append(k.pointers, pointer{base: at + "/args"})
		}
		return jsontext.Value(bounded), nil
	case "origin":
		return v, kinds(v, `"`)
	}
	return nil, errInputShape
}

// kinds is nil if v is of one of the kinds.
func kinds(v jsontext.Value, want string) error {
	if bytes.IndexByte([]byte(want), byte(v.Kind())) < 0 {
		return errInputShape
	}
	return nil
}

// members gives a compact JSON object with its values replaced by what f
// makes of them, without those of which it makes nil; names and their order
// stay.
func members(object []byte, f func(name string, v jsontext.Value) (jsontext.Value, error)) (jsontext.Value, error) {
	dec := jsontext.NewDecoder(bytes.NewReader(object))
	if dec.PeekKind() != '{' {
		return nil, errInputShape
	}
	if _, err := dec.ReadToken(); err != nil {
		return nil, err
	}
	out := append(make([]byte, 0, len(object)), '{')
	for dec.PeekKind() == '"' {
		tok, err := dec.ReadToken()
		if err != nil {
			return nil, err
		}
		name := tok.String()
		v, err := dec.ReadValue()
		if err != nil {
			return nil, err
		}
		if v, err = f(name, v); err != nil {
			return nil, err
		}
		if v == nil {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		if out, err = jsontext.AppendQuote(out, name); err != nil {
			return nil, err
		}
		out = append(append(out, ':'), v...)
	}
	if _, err := dec.ReadToken(); err != nil {
		return nil, err
	}
	return append(out, '}'), nil
}
