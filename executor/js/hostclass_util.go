package js

import (
	"crypto/md5"
	"encoding/base64"
	"strconv"
	"strings"
	"time"

	"github.com/dop251/goja"
	"github.com/google/uuid"
)

func (s *session) javaUUID() *goja.Object {
	t := s.newHostType("java.util.UUID", nil)
	t.static("randomUUID", func([]goja.Value) any { return t.instance(uuid.New()) })
	t.static("fromString", func(args []goja.Value) any {
		text := argument(args, 0).String()
		id, err := uuid.Parse(text)
		if err != nil || len(text) != 36 {
			s.bad("invalid-uuid", "java.util.UUID cannot read "+strconv.Quote(clip(text, 80)))
		}
		return t.instance(id)
	})
	t.static("nameUUIDFromBytes", func(args []goja.Value) any {
		b, ok := s.bytesOf(argument(args, 0))
		if !ok {
			s.bad("bytes-required", "nameUUIDFromBytes needs bytes")
		}
		id := uuid.UUID(md5.Sum(b))
		id[6], id[8] = id[6]&0x0f|0x30, id[8]&0x3f|0x80
		return t.instance(id)
	})
	for _, name := range []string{"toString", "toJSON"} {
		instanceMethod(t, name, func(id uuid.UUID, _ *goja.Object, _ []goja.Value) any { return id.String() })
	}
	instanceMethod(t, "version", func(id uuid.UUID, _ *goja.Object, _ []goja.Value) any { return int(id.Version()) })
	instanceMethod(t, "equals", func(id uuid.UUID, _ *goja.Object, args []goja.Value) any {
		other, ok := s.reveal(argument(args, 0)).(uuid.UUID)
		return ok && other == id
	})
	return t.ctor
}

func (s *session) javaBase64() *goja.Object {
	t := s.newHostType("java.util.Base64", nil)
	coder := func(enc *base64.Encoding, encode bool) func([]goja.Value) any {
		return func([]goja.Value) any {
			obj := s.vm.NewObject()
			input := func(call goja.FunctionCall) []byte {
				if b, ok := s.bytesOf(call.Argument(0)); ok {
					return b
				}
				if text, ok := text(call.Argument(0)); ok {
					return []byte(text)
				}
				s.bad("bytes-required", "Base64 needs bytes or a string")
				return nil
			}
			if encode {
				s.hiddenMethod(obj, "encodeToString", func(call goja.FunctionCall) goja.Value {
					return s.vm.ToValue(enc.EncodeToString(input(call)))
				})
				return obj
			}
			s.hiddenMethod(obj, "decode", func(call goja.FunctionCall) goja.Value {
				b, err := enc.WithPadding(base64.NoPadding).DecodeString(strings.TrimRight(string(input(call)), "="))
				if err != nil {
					s.bad("invalid-base64", "the text is not base64")
				}
				return s.bytesValue(b)
			})
			return obj
		}
	}
	t.static("getEncoder", coder(base64.StdEncoding, true))
	t.static("getUrlEncoder", coder(base64.URLEncoding, true))
	t.static("getDecoder", coder(base64.StdEncoding, false))
	t.static("getUrlDecoder", coder(base64.URLEncoding, false))
	return t.ctor
}

func (s *session) javaInstant() *goja.Object {
	t := s.newHostType("java.time.Instant", nil)
	t.static("now", func([]goja.Value) any { return t.instance(time.Now().UTC()) })
	t.static("parse", func(args []goja.Value) any {
		at, err := time.Parse(time.RFC3339Nano, argument(args, 0).String())
		if err != nil {
			s.bad("date-time-parse", "java.time.Instant cannot read "+strconv.Quote(clip(argument(args, 0).String(), 80)))
		}
		return t.instance(at.UTC())
	})
	t.static("ofEpochMilli", func(args []goja.Value) any {
		return t.instance(time.UnixMilli(argument(args, 0).ToInteger()).UTC())
	})
	t.static("ofEpochSecond", func(args []goja.Value) any {
		return t.instance(time.Unix(argument(args, 0).ToInteger(), 0).UTC())
	})
	instanceMethod(t, "toEpochMilli", func(at time.Time, _ *goja.Object, _ []goja.Value) any { return at.UnixMilli() })
	instanceMethod(t, "getEpochSecond", func(at time.Time, _ *goja.Object, _ []goja.Value) any { return at.Unix() })
	for name, unit := range map[string]time.Duration{"plusMillis": time.Millisecond, "plusSeconds": time.Second, "minusMillis": -time.Millisecond, "minusSeconds": -time.Second} {
		instanceMethod(t, name, func(at time.Time, _ *goja.Object, args []goja.Value) any {
			n := argument(args, 0).ToInteger()
			if n > 1<<33 || n < -(1<<33) {
				s.bad("arithmetic", "the amount is out of range")
			}
			return t.instance(at.Add(time.Duration(n) * unit))
		})
	}
	compare := func(name string, f func(a, b time.Time) any) {
		instanceMethod(t, name, func(at time.Time, _ *goja.Object, args []goja.Value) any {
			other, ok := s.reveal(argument(args, 0)).(time.Time)
			if !ok {
				s.bad("instant-required", name+" needs another Instant")
			}
			return f(at, other)
		})
	}
	compare("isBefore", func(a, b time.Time) any { return a.Before(b) })
	compare("isAfter", func(a, b time.Time) any { return a.After(b) })
	compare("compareTo", func(a, b time.Time) any { return a.Compare(b) })
	compare("equals", func(a, b time.Time) any { return a.Equal(b) })
	for _, name := range []string{"toString", "toJSON"} {
		instanceMethod(t, name, func(at time.Time, _ *goja.Object, _ []goja.Value) any { return instantText(at) })
	}
	return t.ctor
}

// instantText has no fraction, or three, six or nine digits, as Java prints.
func instantText(at time.Time) string {
	out := at.Format("2006-01-02T15:04:05")
	ns := at.Nanosecond()
	switch {
	case ns == 0:
	case ns%1e6 == 0:
		out += at.Format(".000")
	case ns%1e3 == 0:
		out += at.Format(".000000")
	default:
		out += at.Format(".000000000")
	}
	return out + "Z"
}
