package mask

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// JSON masks a JSON value: the string leaves, the member names, and the
// numbers whose text contains a secret, which become the string Mask (a
// secret of digits must not leave as a number). Booleans, nulls, structure
// and the order of members stay. It returns the masked value and the RFC 6901
// pointers, in the masked value, of what changed; an unchanged value comes
// back as it was given.
//
// A member name that masking makes equal to an earlier one of its object gets
// the suffix #2, #3 and so on, so that the result stays valid. A value that
// is not JSON, or has a member name twice, is an error and nothing is
// returned. Unpaired surrogates become U+FFFD.
//
// Apply it to fields whose content a caller or a tool controls, never to a
// whole record: a secret may be spelled like a structural word.
func (s *Set) JSON(raw json.RawMessage) (json.RawMessage, []string, error) {
	if s.Empty() || bytes.IndexByte(raw, '\\') < 0 && !s.inBytes(raw) {
		// An escape could spell a secret in any way; without one, the
		// bytes of a leaf are its text.
		if jsontext.Value(raw).IsValid() {
			return raw, nil, nil
		}
	}
	return masked(raw, func(text string, _ bool) string { return s.String(text) }, func(text string) bool { return !s.Empty() && s.inNumber(text) })
}

// AllJSON is JSON for a value of which nobody knows what in it is secret: every
// string, member name and number of MinLength characters becomes Mask, but for
// those that keep lets stand.
func AllJSON(raw json.RawMessage, keep func(text string, name bool) bool) (json.RawMessage, []string, error) {
	return masked(raw, func(text string, name bool) string {
		if utf8.RuneCountInString(text) < MinLength || keep(text, name) {
			return text
		}
		return Mask
	}, func(text string) bool { return len(text) >= MinLength })
}

func masked(raw json.RawMessage, text func(text string, name bool) string, number func(text string) bool) (json.RawMessage, []string, error) {
	var out bytes.Buffer
	out.Grow(len(raw))
	w := &jsonMasker{
		text: text, digits: number,
		dec: jsontext.NewDecoder(bytes.NewReader(raw), jsontext.AllowInvalidUTF8(true)),
		enc: jsontext.NewEncoder(&out, jsontext.AllowInvalidUTF8(false)),
	}
	if err := w.run(); err != nil {
		// The cause may quote the value, so it stays out of the text.
		return nil, nil, fmt.Errorf("mask: the value is not valid JSON at byte %d", w.dec.InputOffset())
	}
	if len(w.changed) == 0 && jsontext.Value(raw).IsValid() {
		return raw, nil, nil
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), w.changed, nil
}

type jsonMasker struct {
	text    func(text string, name bool) string // as it is to be
	digits  func(text string) bool              // whether a number has to go
	dec     *jsontext.Decoder
	enc     *jsontext.Encoder
	changed []string
}

func (w *jsonMasker) run() error {
	for {
		kind := w.dec.PeekKind()
		var err error
		switch kind {
		case '"':
			err = w.str()
		case '0':
			err = w.number()
		default:
			var tok jsontext.Token
			if tok, err = w.dec.ReadToken(); err == nil {
				err = w.enc.WriteToken(tok)
			}
		}
		if err != nil {
			return err
		}
		if w.dec.StackDepth() == 0 {
			break
		}
	}
	if _, err := w.dec.ReadToken(); !errors.Is(err, io.EOF) {
		return errors.New("more than one value")
	}
	return nil
}

func (w *jsonMasker) str() error {
	parent, members := w.dec.StackIndex(w.dec.StackDepth())
	isName := parent == '{' && members%2 == 0
	tok, err := w.dec.ReadToken()
	if err != nil {
		return err
	}
	text := tok.String()
	masked := strings.ToValidUTF8(w.text(text, isName), "\ufffd")
	if isName {
		masked, err = w.name(masked)
	} else {
		err = w.enc.WriteToken(jsontext.String(masked))
	}
	if err != nil {
		return err
	}
	if masked != text {
		w.changed = append(w.changed, string(w.enc.StackPointer()))
	}
	return nil
}

// name writes a member name, made unique. The encoder refuses a duplicate
// and stays as it was.
func (w *jsonMasker) name(name string) (string, error) {
	err := w.enc.WriteToken(jsontext.String(name))
	if err == nil || !errors.Is(err, jsontext.ErrDuplicateName) {
		return name, err
	}
	for n := 2; ; n++ {
		unique := name + "#" + strconv.Itoa(n)
		err := w.enc.WriteToken(jsontext.String(unique))
		if err == nil || !errors.Is(err, jsontext.ErrDuplicateName) {
			return unique, err
		}
	}
}

func (w *jsonMasker) number() error {
	val, err := w.dec.ReadValue()
	if err != nil {
		return err
	}
	if !w.digits(string(val)) {
		return w.enc.WriteValue(val)
	}
	if err := w.enc.WriteToken(jsontext.String(Mask)); err != nil {
		return err
	}
	w.changed = append(w.changed, string(w.enc.StackPointer()))
	return nil
}

// inNumber looks for the values alone: a spelling such as hexadecimal found
// in a number is chance.
func (s *Set) inNumber(text string) bool {
	for _, v := range s.plain {
		if strings.Contains(text, v) {
			return true
		}
	}
	return false
}
