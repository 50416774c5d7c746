package executor

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/digest"
	"github.com/toolwarrant/toolwarrant/executor/mask"
	"github.com/toolwarrant/toolwarrant/keyring"
)

// redactor brings arguments into the form in which the record holds them.
type redactor struct {
	keys keyring.Keyring

	kept   []string         // pointers of what was replaced or left out
	hidden []jsontext.Value // what stood there
	made   map[string]bool  // the digests that stand there now
}

// hiding is what the policy says of one place of the arguments. A place with a
// form is kept in it as a whole, so that there is nothing below.
type hiding struct {
	form  decision.Form
	below map[string]*hiding
}

// hidingOf makes a tree of pointers. Where a pointer goes into what another
// one hides, the stronger form holds for the whole: what is left of a value
// may not tell what was to be hidden in it.
func hidingOf(forms map[string]decision.Form) *hiding {
	root := &hiding{}
	for pointer, form := range forms {
		at := root
		for token := range jsontext.Pointer(pointer).Tokens() {
			if at.below == nil {
				at.below = map[string]*hiding{}
			}
			if at.below[token] == nil {
				at.below[token] = &hiding{}
			}
			at = at.below[token]
		}
		if !at.form.AtLeast(form) {
			at.form = form
		}
	}
	root.settle()
	return root
}

// settle gives the strongest form of a place and of those below.
func (h *hiding) settle() (strongest decision.Form) {
	strongest = h.form
	for _, below := range h.below {
		if f := below.settle(); !strongest.AtLeast(f) {
			strongest = f
		}
	}
	if h.form != "" {
		h.form, h.below = strongest, nil
	}
	return strongest
}

// strongest is the strongest form below a place.
func (h *hiding) strongest() (f decision.Form) {
	for _, below := range h.below {
		for _, got := range []decision.Form{below.form, below.strongest()} {
			if !f.AtLeast(got) {
				f = got
			}
		}
	}
	return f
}

var errArguments = errors.New("arguments that are no object")

// args gives arguments without what the policy keeps out of the log. Those
// that cannot be read, and arguments that are hidden as a whole, are not
// recorded at all.
func (r *redactor) args(args json.RawMessage, forms map[string]decision.Form) json.RawMessage {
	if len(forms) == 0 || len(args) == 0 {
		return args
	}
	h := hidingOf(forms)
	in := jsontext.Value(bytes.Clone(args))
	if err := in.Compact(); err != nil || in.Kind() != '{' {
		return nil
	}
	if h.form != "" {
		r.kept, r.hidden = append(r.kept, ""), append(r.hidden, in)
		return nil
	}
	out, err := r.object(in, h, "")
	if err != nil {
		r.kept = nil
		return nil
	}
	return json.RawMessage(out)
}

// value gives a value as it is kept; nil if it is left out.
func (r *redactor) value(v jsontext.Value, h *hiding, at jsontext.Pointer) (jsontext.Value, error) {
	switch {
	case h == nil:
		return v, nil
	case h.form != "":
		return r.replaced(v, h.form, at), nil
	case v.Kind() == '{':
		return r.object(v, h, at)
	case v.Kind() == '[' && h.indices():
		return r.list(v, h, at)
	case v.Kind() == 'n':
		return v, nil // nothing that could be hidden
	}
	// The policy hides a part of what has no parts, or others than it thought.
	return r.replaced(v, h.strongest(), at), nil
}

// indices reports whether all that is said below is of elements of a list.
func (h *hiding) indices() bool {
	for token := range h.below {
		if n, err := strconv.Atoi(token); err != nil || strconv.Itoa(n) != token || n < 0 {
			return false
		}
	}
	return true
}

func (r *redactor) object(v jsontext.Value, h *hiding, at jsontext.Pointer) (jsontext.Value, error) {
	in := jsontext.NewDecoder(bytes.NewReader(v))
	if tok, err := in.ReadToken(); err != nil || tok.Kind() != '{' {
		return nil, errors.Join(errArguments, err)
	}
	out := jsontext.Value{'{'}
	for in.PeekKind() == '"' {
		name, err := in.ReadValue()
		if err != nil {
			return nil, err
		}
		quoted := slices.Clone(name)
		plain, err := jsontext.AppendUnquote(nil, quoted)
		if err != nil {
			return nil, err
		}
		member, err := in.ReadValue()
		if err != nil {
			return nil, err
		}
		token := string(plain)
		kept, err := r.value(member, h.below[token], at.AppendToken(token))
		if err != nil {
			return nil, err
		}
		if kept == nil {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(append(out, quoted...), ':'), kept...)
	}
	if _, err := in.ReadToken(); err != nil {
		return nil, err
	}
	return append(out, '}'), nil
}

// list is object of a list. An element that is left out leaves null, so that
// the others keep their places.
func (r *redactor) list(v jsontext.Value, h *hiding, at jsontext.Pointer) (jsontext.Value, error) {
	in := jsontext.NewDecoder(bytes.NewReader(v))
	if tok, err := in.ReadToken(); err != nil || tok.Kind() != '[' {
		return nil, errors.Join(errArguments, err)
	}
	out := jsontext.Value{'['}
	for i := 0; in.PeekKind() != ']'; i++ {
		element, err := in.ReadValue()
		if err != nil {
			return nil, err
		}
		token := strconv.Itoa(i)
		kept, err := r.value(element, h.below[token], at.AppendToken(token))
		if err != nil {
			return nil, err
		}
		if kept == nil {
			kept = jsontext.Value("null")
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, kept...)
	}
	return append(out, ']'), nil
}

// replaced is what stands in place of a hidden value; nil for nothing. What
// has no digest is masked.
func (r *redactor) replaced(v jsontext.Value, form decision.Form, at jsontext.Pointer) jsontext.Value {
	r.kept, r.hidden = append(r.kept, string(at)), append(r.hidden, slices.Clone(v))
	text := mask.Mask
	switch form {
	case decision.FormHash:
		if d, err := digest.JSON(json.RawMessage(v)); err == nil {
			text = d
		}
	case decision.FormHMAC:
		if d, err := r.keyed(v); err == nil {
			text = d
		}
	case decision.FormMask:
	default:
		return nil
	}
	if r.made == nil {
		r.made = map[string]bool{}
	}
	r.made[text] = true
	return jsontext.Value(strconv.Quote(text)) // plain ASCII
}

// keyed names a value alone, not the parameter: the calls with one value are
// found whatever tool has it, and under whatever name.
func (r *redactor) keyed(v jsontext.Value) (string, error) {
	key, err := r.keys.Current(keyring.ParamValue)
	if err != nil {
		return "", err
	}
	return digest.Keyed(key.ID, key.Bytes, json.RawMessage(v))
}
