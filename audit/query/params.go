package query

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/digest"
	"github.com/toolwarrant/toolwarrant/fault"
)

// Param says which value an argument of a call had. It is found as it is, as
// its digest, and as its keyed digest by whoever has the key. What was masked
// or dropped is not found.
type Param struct {
	Name  string // of a parameter; with a leading "/" an RFC 6901 pointer into the arguments
	Value string // a text, and also the value of which it is the JSON text: 5 finds 5 and "5"
}

// ParseParam reads name=value. The error is USAGE.
func ParseParam(s string) (Param, error) {
	name, value, ok := strings.Cut(s, "=")
	if !ok || name == "" {
		return Param{}, fault.New(fault.Usage, "param", "%q is no parameter with a value; write name=value, or /name/member=value", s)
	}
	return Param{name, value}, nil
}

// wantedParam is the values of one name, made ready.
type wantedParam struct {
	at     []string // tokens of the pointer
	values [][]byte // canonical
	hashes []string
}

// wantedParams are the names; of each one value is enough.
func wantedParams(params []Param) []*wantedParam {
	byName := map[string]*wantedParam{}
	var out []*wantedParam
	for _, p := range params {
		w := byName[p.Name]
		if w == nil {
			w = &wantedParam{at: []string{p.Name}}
			if strings.HasPrefix(p.Name, "/") {
				w.at = slices.Collect(jsontext.Pointer(p.Name).Tokens())
			}
			byName[p.Name], out = w, append(out, w)
		}
		for _, v := range []any{p.Value, json.RawMessage(p.Value)} {
			c, err := digest.Canonical(v)
			if err == nil && len(c) > 0 && !slices.ContainsFunc(w.values, func(have []byte) bool { return bytes.Equal(have, c) }) {
				w.values, w.hashes = append(w.values, c), append(w.hashes, digest.Bytes(c))
			}
		}
	}
	return out
}

// params holds the arguments of a record against what is wanted.
func (m *matcher) params(r *audit.Record) bool {
	for _, w := range m.wanted {
		v := valueAt(r.Params, w.at)
		if v == nil || !m.equal(w, v) {
			return false
		}
	}
	return true
}

func (m *matcher) equal(w *wantedParam, v json.RawMessage) bool {
	c, err := digest.Canonical(v)
	if err != nil {
		return false
	}
	if slices.ContainsFunc(w.values, func(want []byte) bool { return bytes.Equal(want, c) }) {
		return true
	}
	var text string
	if json.Unmarshal(v, &text) != nil {
		return false
	}
	if slices.Contains(w.hashes, text) {
		return true
	}
	rest, keyed := strings.CutPrefix(text, "hmac-sha256:")
	id, _, whole := strings.Cut(rest, ":")
	if !keyed || !whole {
		return false
	}
	var key []byte
	known := false
	if m.Key != nil {
		key, known = m.Key(id)
	}
	if !known {
		m.foreign[id] = true
		return false
	}
	return slices.ContainsFunc(w.values, func(want []byte) bool {
		d, err := digest.Keyed(id, key, json.RawMessage(want))
		return err == nil && d == text
	})
}

// valueAt is the value at a pointer; nil if there is none.
func valueAt(raw json.RawMessage, tokens []string) json.RawMessage {
	for _, token := range tokens {
		switch jsontext.Value(raw).Kind() {
		case '{':
			var members map[string]json.RawMessage
			if json.Unmarshal(raw, &members) != nil {
				return nil
			}
			raw = members[token]
		case '[':
			var elements []json.RawMessage
			i, err := strconv.Atoi(token)
			if json.Unmarshal(raw, &elements) != nil || err != nil || i < 0 || i >= len(elements) {
				return nil
			}
			raw = elements[i]
		default:
			return nil
		}
	}
	return raw
}

// strangers tells of keyed digests that could not be held against a value.
func (m *matcher) strangers(note func(string)) {
	if note == nil {
		return
	}
	for _, id := range slices.Sorted(maps.Keys(m.foreign)) {
		note(fmt.Sprintf("some values are keyed digests of the key %.40q, which is not in the keyring of this home: whether they are equal is not known", id))
	}
}
