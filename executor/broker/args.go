package broker

import (
	"bytes"
	"encoding/base64"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/toolwarrant/toolwarrant/executor/class"
	"github.com/toolwarrant/toolwarrant/executor/egress"
	"github.com/toolwarrant/toolwarrant/executor/filesystem"
	"github.com/toolwarrant/toolwarrant/executor/parser"
	"github.com/toolwarrant/toolwarrant/executor/worker"
	"github.com/toolwarrant/toolwarrant/fault"
)

// lenient takes what JavaScript can put into a string: an unpaired surrogate
// becomes U+FFFD. Duplicate names stay an error.
var lenient = jsontext.AllowInvalidUTF8(true)

// maxArgs bounds the list of arguments.
const maxArgs = 16

// args are the arguments of one operation. The first thing that does not fit
// is kept; later reads give zero values.
type args struct {
	helper string
	list   []jsontext.Value
	fail   *worker.Failure
}

// helperOf names the helper that an operation belongs to.
func helperOf(op worker.Op) string {
	switch prefix, _, _ := strings.Cut(string(op), "."); prefix {
	case "class":
		return class.Helper
	case "fetch":
		return egress.Helper
	case "parser":
		return parser.Helper
	case "fs":
		return filesystem.Helper
	case "process":
		return ProcessHelper
	}
	return ""
}

func decodeArgs(req worker.BrokerRequest) (*args, *worker.Failure) {
	a := &args{helper: helperOf(req.Op)}
	if len(req.Args) == 0 {
		return a, nil
	}
	if err := json.Unmarshal(req.Args, &a.list, lenient); err != nil || len(a.list) > maxArgs {
		return nil, fail(fault.InvalidInput, a.helper, "invalid-arguments", "the arguments cannot be read")
	}
	return a, nil
}

func (a *args) bad(message string) {
	if a.fail == nil {
		a.fail = fail(fault.InvalidInput, a.helper, "invalid-arguments", message)
	}
}

// at gives argument i, nil when it is absent, null or undefined.
func (a *args) at(i int) jsontext.Value {
	if i >= len(a.list) || a.list[i].Kind() == 'n' {
		return nil
	}
	return a.list[i]
}

// str reads a string; absent is "".
func (a *args) str(i int, what string) string {
	v := a.at(i)
	if v == nil {
		return ""
	}
	var s string
	if v.Kind() != '"' || json.Unmarshal(v, &s, lenient) != nil {
		a.bad(what + " must be a string")
	}
	return s
}

// required reads a string that must be given; it may be empty.
func (a *args) required(i int, what string) string {
	if a.at(i) == nil {
		a.bad(what + " is missing")
	}
	return a.str(i, what)
}

// flag reads a boolean; absent is false.
func (a *args) flag(i int, what string) bool {
	var b bool
	if v := a.at(i); v != nil && json.Unmarshal(v, &b) != nil {
		a.bad(what + " must be true or false")
	}
	return b
}

// bytes reads bytes, or the bytes of a text.
func (a *args) bytes(i int, what string) []byte {
	var p payload
	if v := a.at(i); v == nil || json.Unmarshal(v, &p, lenient) != nil {
		a.bad(what + " must be bytes or a string")
	}
	return p.data
}

// number reads a whole number; a fraction is cut off, absent is nil.
func (a *args) number(i int, what string) *int64 {
	var n *number
	if v := a.at(i); v != nil && json.Unmarshal(v, &n) != nil {
		a.bad(what + " must be a number")
	}
	return n.int()
}

// options reads an object into a struct of pointers; absent leaves it as it
// is. Members that the struct lacks mean nothing, as in JavaScript.
func (a *args) options(i int, into any) {
	v := a.at(i)
	if v == nil {
		return
	}
	if v.Kind() != '{' || json.Unmarshal(v, into, lenient) != nil {
		a.bad("the options are not valid")
	}
}

// number is a JSON number as JavaScript means it.
type number float64

func (n *number) int() *int64 {
	if n == nil {
		return nil
	}
	const bound = 1 << 53
	v := int64(max(min(float64(*n), bound), -bound))
	return &v
}

// or gives the value of an optional member.
func or[T any](p *T, absent T) T {
	if p == nil {
		return absent
	}
	return *p
}

// payload is a request body: text, or {"$bytes": base64}.
type payload struct{ data []byte }

// UnmarshalJSON reads either form.
func (p *payload) UnmarshalJSON(raw []byte) error {
	if raw = bytes.TrimSpace(raw); len(raw) > 0 && raw[0] == '{' {
		var wrapped struct {
			Bytes *string `json:"$bytes"`
		}
		if err := json.Unmarshal(raw, &wrapped, json.RejectUnknownMembers(true)); err != nil {
			return err
		}
		var err error
		p.data, err = base64.StdEncoding.DecodeString(or(wrapped.Bytes, ""))
		return err
	}
	var text string
	if err := json.Unmarshal(raw, &text, lenient); err != nil {
		return err
	}
	p.data = []byte(text)
	return nil
}

// headers are request headers: an object, or a list of [name, value]. Values
// may be numbers or booleans, which stand for their text.
type headers struct{ list []egress.Header }

// UnmarshalJSON reads either form in its order.
func (h *headers) UnmarshalJSON(raw []byte) error {
	dec := jsontext.NewDecoder(bytes.NewReader(raw), lenient)
	open, err := dec.ReadToken()
	if err != nil {
		return err
	}
	switch open.Kind() {
	case 'n':
		return nil
	case '{':
		for dec.PeekKind() != '}' {
			name, err := dec.ReadToken()
			if err != nil {
				return err
			}
			field := name.String()
			value, err := dec.ReadValue()
			if err != nil {
				return err
			}
			if err := h.add(field, value); err != nil {
				return err
			}
		}
		return nil
	}
	var pairs [][]jsontext.Value
	if err := json.Unmarshal(raw, &pairs, lenient); err != nil {
		return err
	}
	for _, p := range pairs {
		var name string
		if len(p) != 2 {
			return errShape
		}
		if err := json.Unmarshal(p[0], &name, lenient); err != nil {
			return err
		}
		if err := h.add(name, p[1]); err != nil {
			return err
		}
	}
	return nil
}

func (h *headers) add(name string, value jsontext.Value) error {
	text := ""
	switch value.Kind() {
	case '"':
		if err := json.Unmarshal(value, &text, lenient); err != nil {
			return err
		}
	case '0', 't', 'f':
		text = value.String()
	case 'n':
		return nil
	default:
		return errShape
	}
	h.list = append(h.list, egress.Header{Name: name, Value: text})
	return nil
}
