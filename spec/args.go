package spec

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/internal/suggest"
)

const (
	// MaxArgsBytes bounds the arguments of one call.
	MaxArgsBytes = 1 << 20
	// maxSafe is the largest integer that a 64-bit float keeps apart from its
	// neighbours; JavaScript would silently run with another value beyond it.
	maxSafe = 1<<53 - 1
)

// Args validates the arguments of a call and gives them in the form in which
// they are decided upon, shown to a human, recorded and run: one JSON object
// with the present parameters in declared order, numbers and strings in their
// RFC 8785 spelling. Placeholders in arguments are plain text.
//
// raw must be a JSON object, null or empty. Models often send text for
// numbers, so a value is coerced to the declared type where its text says
// exactly that: "5" for INTEGER, "true" for BOOLEAN, the JSON text of an
// object or list for OBJECT and ARRAY. A number is never taken for STRING.
// Null is a missing argument, and so is an empty text for every type but
// STRING. Unknown arguments are refused.
//
// Faults are INVALID_ARGUMENTS; their pointer is relative to the arguments,
// and no message repeats a value.
func (s *Spec) Args(raw json.RawMessage) (json.RawMessage, *fault.Error) {
	if len(raw) > MaxArgsBytes {
		return nil, argFault("too-large", "", "the arguments have %d bytes, at most %d are taken", len(raw), MaxArgsBytes)
	}
	if strings.TrimSpace(string(raw)) == "" {
		raw = json.RawMessage("{}")
	}
	root, errs := readTree(raw)
	if len(errs) > 0 {
		why := errs[0].message
		if errs[0].reason == "syntax" {
			why = "not valid JSON" // the reader's words repeat what it met
		}
		return nil, argFault(errs[0].reason, errs[0].pointer, "the arguments cannot be read: %s", why)
	}
	if root.kind != '{' && root.kind != 'n' {
		return nil, argFault("not-an-object", "", "want the arguments as one JSON object, got %s", kindName(root))
	}
	for i := range root.members {
		if e := s.known(root.members[i].name); e != nil {
			return nil, e
		}
	}
	return s.coerceAll(root, raw)
}

// maxNamed is how many parameters a refusal lists: more of them say nothing.
const maxNamed = 12

// known refuses an argument that no parameter declares.
func (s *Spec) known(name string) *fault.Error {
	names := make([]string, len(s.Params))
	for i, p := range s.Params {
		if p.Name == name {
			return nil
		}
		names[i] = p.Name
	}
	e := argFault("unknown-argument", join("", name), "the tool has no parameter %s", quote(name))
	switch n := suggest.Nearest(name, names); {
	case n != "":
		e.Message += "; did you mean " + quote(n) + "?"
	case len(names) > 0 && len(names) <= maxNamed:
		e.Message += "; it takes " + strings.Join(names, ", ")
	}
	return e
}

func (s *Spec) coerceAll(root *node, raw []byte) (json.RawMessage, *fault.Error) {
	out := []byte{'{'}
	for i := range s.Params {
		p := &s.Params[i]
		v, why := coerce(p.Type, root.get(p.Name), raw)
		if why != "" {
			return nil, argFault(reasonType, join("", p.Name), "argument %s must be %s: %s", quote(p.Name), article(p.Type), why)
		}
		if v == nil {
			if p.Required {
				return nil, argFault(reasonMissing, join("", p.Name), "argument %s is required", quote(p.Name))
			}
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(append(out, encodeText(p.Name)...), ':'), v...)
	}
	return append(out, '}'), nil
}

// coerce gives the canonical text of a value, nil when it is missing, or why
// it does not fit the declared type.
func coerce(t ParamType, n *node, raw []byte) (value []byte, why string) {
	if n == nil || n.kind == 'n' {
		return nil, ""
	}
	if n.kind == '"' {
		return coerceText(t, n.str)
	}
	switch t {
	case Integer:
		if n.kind == '0' {
			return integer(n.num)
		}
	case Number:
		if n.kind == '0' {
			return canonical(raw[n.start:n.end])
		}
	case Boolean:
		if n.kind == 't' || n.kind == 'f' {
			return raw[n.start:n.end], ""
		}
	case Object:
		if n.kind == '{' {
			return canonical(raw[n.start:n.end])
		}
	case Array:
		if n.kind == '[' {
			return canonical(raw[n.start:n.end])
		}
	}
	return nil, "got " + kindName(n)
}

// coerceText reads text as a value of type t. Empty text is a value of STRING
// and a missing value of every other type; for a testValue, see TestArgs.
func coerceText(t ParamType, text string) (value []byte, why string) {
	if t == String {
		return encodeText(text), ""
	}
	text = strings.TrimSpace(text)
	if text == "" {
		return nil, ""
	}
	if len(text) > MaxArgsBytes {
		return nil, "the text is too long"
	}
	if t == Boolean {
		switch strings.ToLower(text) {
		case "true":
			return []byte("true"), ""
		case "false":
			return []byte("false"), ""
		}
		return nil, "want true or false"
	}
	n, errs := readTree([]byte(text))
	if len(errs) > 0 && errs[0].reason != "syntax" {
		return nil, errs[0].message
	}
	if len(errs) > 0 {
		return nil, "want the JSON text of " + article(t)
	}
	if n.kind == '"' {
		return nil, "got a text inside a text"
	}
	return coerce(t, n, []byte(text))
}

func integer(f float64) ([]byte, string) {
	if f != math.Trunc(f) {
		return nil, "got a number with a fraction"
	}
	if math.Abs(f) > maxSafe {
		return nil, "the number is beyond 2^53-1, where integers are no longer exact; pass it as text to a STRING parameter"
	}
	return strconv.AppendInt(nil, int64(f), 10), ""
}

// canonical rewrites a JSON value in its RFC 8785 spelling, but for the order
// of members, which stays.
func canonical(raw []byte) ([]byte, string) {
	out, err := jsontext.AppendFormat(nil, raw,
		jsontext.CanonicalizeRawInts(true), jsontext.CanonicalizeRawFloats(true), jsontext.PreserveRawStrings(false))
	if err != nil {
		return nil, "the value is not valid JSON"
	}
	return out, ""
}

// encodeText is the JSON spelling of a string, without escapes for HTML.
func encodeText(s string) []byte {
	out, err := jsontext.AppendQuote(nil, s)
	if err != nil { // bytes that are not UTF-8 become U+FFFD, as in the reader of JavaScript
		out, _ = jsontext.AppendQuote(nil, strings.ToValidUTF8(s, "\uFFFD"))
	}
	return out
}

// TestArgs are the arguments of the Local Pass: every parameter from its
// testValue, required ones always, optional ones when a testValue is written
// and not empty. The fault is a SPEC_INVARIANT of the document.
func (s *Spec) TestArgs() (json.RawMessage, *fault.Error) {
	out := []byte{'{'}
	for i, p := range s.Params {
		if p.TestValue == nil || !p.Required && *p.TestValue == "" {
			if !p.Required {
				continue
			}
			return nil, s.testFault("missing-test-value", i, "parameter %s is required and has no testValue", quote(p.Name))
		}
		v, why := coerceText(p.Type, *p.TestValue)
		if why == "" && v == nil {
			why = "it is empty"
		}
		if why != "" {
			return nil, s.testFault("bad-test-value", i, "the testValue of parameter %s is not %s: %s", quote(p.Name), article(p.Type), why)
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(append(out, encodeText(p.Name)...), ':'), v...)
	}
	return append(out, '}'), nil
}

func (s *Spec) testFault(reason string, i int, format string, args ...any) *fault.Error {
	return s.At(fault.New(fault.SpecInvariant, reason, format, args...), index("/params", i)+"/testValue")
}

// Reasons of faults about arguments whose messages tell of the parameters that
// the tool declares, and of nothing that the caller chose.
const (
	reasonType    = "wrong-type"
	reasonMissing = "missing-argument"
)

// NamesParamsOnly reports whether the message of a fault of Args with this
// reason repeats nothing of the arguments, not even a name.
func NamesParamsOnly(reason string) bool { return reason == reasonType || reason == reasonMissing }

func argFault(reason, pointer, format string, args ...any) *fault.Error {
	return fault.New(fault.InvalidArguments, reason, format, args...).At("", pointer, 0, 0)
}
