package js

import (
	"encoding/base64"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/dop251/goja"
	"golang.org/x/text/encoding/charmap"

	"github.com/toolwarrant/toolwarrant/fault"
)

// maxBulk bounds strings, arrays and buffers that one built-in call makes.
const maxBulk = 1 << 24

const encodingHelper = "safety.encoding"

func (s *session) atob(call goja.FunctionCall) goja.Value {
	b, ok := forgivingBase64(call.Argument(0).String())
	if !ok {
		s.refuse(fault.InvalidInput, encodingHelper, "invalid-base64", "[atob] the text is not base64")
	}
	return s.vm.ToValue(latin1(b))
}

func (s *session) btoa(call goja.FunctionCall) goja.Value {
	text := call.Argument(0).String()
	out := make([]byte, 0, len(text))
	for _, r := range text {
		if r > 0xFF {
			s.refuse(fault.InvalidInput, encodingHelper, "non-latin-1", "[btoa] the text has characters beyond Latin-1; encode it with TextEncoder first")
		}
		out = append(out, byte(r))
	}
	return s.vm.ToValue(base64.StdEncoding.EncodeToString(out))
}

func latin1(b []byte) string {
	var out strings.Builder
	out.Grow(len(b))
	for _, c := range b {
		out.WriteRune(rune(c))
	}
	return out.String()
}

// forgivingBase64 is the forgiving-base64 decode of the Infra standard.
func forgivingBase64(text string) ([]byte, bool) {
	text = strings.Map(func(r rune) rune {
		switch r {
		case ' ', '\t', '\n', '\f', '\r':
			return -1
		}
		return r
	}, text)
	if len(text)%4 == 0 {
		text = strings.TrimSuffix(strings.TrimSuffix(text, "="), "=")
	}
	if len(text)%4 == 1 || strings.ContainsAny(text, "\r\n=") {
		return nil, false
	}
	b, err := base64.RawStdEncoding.DecodeString(text)
	return b, err == nil
}

// class is a constructor whose instances get their methods from build.
func (s *session) class(name string, build func(obj *goja.Object, call goja.ConstructorCall)) *goja.Object {
	ctor := s.vm.ToValue(func(call goja.ConstructorCall) *goja.Object {
		build(call.This, call)
		return nil
	}).(*goja.Object)
	_ = ctor.DefineDataProperty("name", s.vm.ToValue(name), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	return ctor
}

func (s *session) textEncoder() goja.Value {
	return s.class("TextEncoder", func(obj *goja.Object, _ goja.ConstructorCall) {
		s.constant(obj, "encoding", s.vm.ToValue("utf-8"))
		s.hiddenMethod(obj, "encode", func(call goja.FunctionCall) goja.Value {
			if goja.IsUndefined(call.Argument(0)) {
				return s.bytesValue(nil)
			}
			return s.bytesValue([]byte(call.Argument(0).String()))
		})
		s.hiddenMethod(obj, "encodeInto", func(call goja.FunctionCall) goja.Value {
			dst, ok := s.bytesOf(call.Argument(1))
			if !ok {
				s.throwError("TypeError", "encodeInto needs a Uint8Array")
			}
			read, written := 0, 0
			for _, r := range call.Argument(0).String() {
				n := utf8.RuneLen(r)
				if written+n > len(dst) {
					break
				}
				written += utf8.EncodeRune(dst[written:], r)
				read++
				if r > 0xFFFF {
					read++
				}
			}
			out := s.vm.NewObject()
			_ = out.Set("read", read)
			_ = out.Set("written", written)
			return out
		})
	})
}

func (s *session) textDecoder() goja.Value {
	return s.class("TextDecoder", func(obj *goja.Object, call goja.ConstructorCall) {
		label := "utf-8"
		if v := call.Argument(0); !goja.IsUndefined(v) {
			label = strings.ToLower(strings.TrimSpace(v.String()))
		}
		encoding := decoderLabels[label]
		if encoding == "" {
			s.throwError("RangeError", "TextDecoder supports utf-8, utf-16le and windows-1252 (latin1), not "+clip(label, 60))
		}
		fatal, ignoreBOM := s.flag(call.Argument(1), "fatal"), s.flag(call.Argument(1), "ignoreBOM")
		s.constant(obj, "encoding", s.vm.ToValue(encoding))
		s.constant(obj, "fatal", s.vm.ToValue(fatal))
		s.constant(obj, "ignoreBOM", s.vm.ToValue(ignoreBOM))
		var pending []byte
		started := false
		s.hiddenMethod(obj, "decode", func(call goja.FunctionCall) goja.Value {
			data := pending
			pending = nil
			if v := call.Argument(0); !goja.IsUndefined(v) {
				b, ok := s.bytesOf(v)
				if !ok {
					s.throwError("TypeError", "decode needs an ArrayBuffer or a typed array")
				}
				data = append(data[:len(data):len(data)], b...)
			}
			stream := s.flag(call.Argument(1), "stream")
			switch encoding {
			case "windows-1252": // every byte is a character
				var out strings.Builder
				for _, c := range data {
					r := charmap.Windows1252.DecodeByte(c)
					if r == utf8.RuneError { // five that the standard keeps as controls
						r = rune(c)
					}
					out.WriteRune(r)
				}
				return s.vm.ToValue(out.String())
			case "utf-16le":
				if n := unfinished16(data); stream && n > 0 {
					pending = append([]byte(nil), data[len(data)-n:]...)
					data = data[:len(data)-n]
				}
				text, valid := decode16(data)
				if !ignoreBOM && !started {
					text = strings.TrimPrefix(text, "\uFEFF")
				}
				started = stream && (started || len(data) > 0)
				if fatal && !valid {
					pending, started = nil, false
					s.throwError("TypeError", "the data is not valid utf-16le")
				}
				return s.vm.ToValue(text)
			}
			if stream {
				if n := incompleteTail(data); n > 0 {
					pending = append([]byte(nil), data[len(data)-n:]...)
					data = data[:len(data)-n]
				}
			}
			if !ignoreBOM && !started && strings.HasPrefix(string(data), "\uFEFF") {
				data = data[3:]
			}
			started = stream && (started || len(data) > 0)
			if fatal && !utf8.Valid(data) {
				pending, started = nil, false
				s.throwError("TypeError", "the data is not valid utf-8")
			}
			return s.vm.ToValue(decodeUTF8(data))
		})
	})
}

// decoderLabels are the labels of the Encoding standard for the encodings here.
var decoderLabels = map[string]string{}

func init() {
	for encoding, labels := range map[string]string{
		"utf-8":    "unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf-8 utf8 x-unicode20utf8",
		"utf-16le": "csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16 utf-16le",
		"windows-1252": "ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 iso88591 iso_8859-1 " +
			"iso_8859-1:1987 l1 latin1 us-ascii windows-1252 x-cp1252",
	} {
		for l := range strings.FieldsSeq(labels) {
			decoderLabels[l] = encoding
		}
	}
}

// decode16 decodes UTF-16LE; what is no text becomes U+FFFD.
func decode16(b []byte) (string, bool) {
	valid := len(b)%2 == 0
	var out strings.Builder
	for len(b) > 1 {
		r := rune(b[0]) | rune(b[1])<<8
		b = b[2:]
		if utf16.IsSurrogate(r) {
			low := utf8.RuneError
			if len(b) > 1 {
				low = utf16.DecodeRune(r, rune(b[0])|rune(b[1])<<8)
			}
			if r = low; r == utf8.RuneError {
				valid = false
			} else {
				b = b[2:]
			}
		}
		out.WriteRune(r)
	}
	if len(b) == 1 {
		out.WriteRune(utf8.RuneError)
	}
	return out.String(), valid
}

// unfinished16 is how many bytes at the end need more to be a character.
func unfinished16(b []byte) int {
	n := len(b) % 2
	if end := len(b) - n; end > 1 && b[end-1] >= 0xD8 && b[end-1] <= 0xDB {
		n += 2
	}
	return n
}

// decodeUTF8 replaces each maximal ill-formed part by U+FFFD, as the Encoding
// standard has it.
func decodeUTF8(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	var out strings.Builder
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		if r == utf8.RuneError && n == 1 {
			n = illFormed(b)
		}
		out.WriteRune(r)
		b = b[n:]
	}
	return out.String()
}

// illFormed is the length of the maximal prefix of a sequence that b breaks.
func illFormed(b []byte) int {
	need, lo, hi := sequence(b[0])
	n := 1
	for n < need && n < len(b) && b[n] >= lo && b[n] <= hi {
		lo, hi = 0x80, 0xBF
		n++
	}
	return n
}

// sequence gives the length that a first byte announces and the range of the
// byte behind it.
func sequence(c byte) (need int, lo, hi byte) {
	lo, hi = 0x80, 0xBF
	switch {
	case c >= 0xC2 && c <= 0xDF:
		need = 2
	case c >= 0xE0 && c <= 0xEF:
		need = 3
		if c == 0xE0 {
			lo = 0xA0
		} else if c == 0xED {
			hi = 0x9F
		}
	case c >= 0xF0 && c <= 0xF4:
		need = 4
		if c == 0xF0 {
			lo = 0x90
		} else if c == 0xF4 {
			hi = 0x8F
		}
	default:
		need = 1
	}
	return need, lo, hi
}

// incompleteTail is the length of a sequence that b ends within.
func incompleteTail(b []byte) int {
	for i := len(b) - 1; i >= 0 && i >= len(b)-3; i-- {
		if b[i] < 0x80 || b[i] >= 0xC0 {
			if need, _, _ := sequence(b[i]); need > len(b)-i && illFormed(b[i:]) == len(b)-i {
				return len(b) - i
			}
			return 0
		}
	}
	return 0
}

// flag reads a boolean member of an options object.
func (s *session) flag(v goja.Value, name string) bool {
	obj, ok := v.(*goja.Object)
	return ok && orUndefined(obj.Get(name)).ToBoolean()
}

func (s *session) constant(obj *goja.Object, name string, v goja.Value) {
	_ = obj.DefineDataProperty(name, v, goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
}

func (s *session) hiddenMethod(obj *goja.Object, name string, f func(goja.FunctionCall) goja.Value) {
	_ = obj.DefineDataProperty(name, s.function(name, f), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
}
