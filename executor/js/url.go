package js

import (
	"strings"

	"github.com/dop251/goja"
)

// urlObject is the Go side of a URL: the record and its live parameters.
type urlObject struct {
	record *urlRecord
	params *searchParams
	object *goja.Object // the URLSearchParams, made when first read
}

// sync writes changed parameters into the query.
func (u *urlObject) sync() {
	text := u.params.String()
	u.record.query = &text
	if len(u.params.pairs) == 0 {
		u.record.query = nil
	}
}

// reload reads the parameters anew from the query.
func (u *urlObject) reload() {
	u.params.pairs = nil
	if u.record.query != nil {
		u.params.pairs = parseForm(*u.record.query)
	}
}

func (s *session) urlClass() goja.Value {
	read := func(v goja.Value) string {
		if obj, ok := s.reveal(v).(*urlObject); ok {
			return obj.record.String()
		}
		return v.String()
	}
	parse := func(call []goja.Value) (*urlRecord, error) {
		var base *urlRecord
		if b := argument(call, 1); !goja.IsUndefined(b) {
			var err error
			if base, err = parseURL(read(b), nil); err != nil {
				return nil, err
			}
		}
		return parseURL(read(argument(call, 0)), base)
	}
	ctor := s.class("URL", func(obj *goja.Object, call goja.ConstructorCall) {
		rec, err := parse(call.Arguments)
		if err != nil || len(call.Arguments) == 0 {
			s.throwError("TypeError", "Invalid URL: "+clip(argument(call.Arguments, 0).String(), 200))
		}
		u := &urlObject{record: rec, params: &searchParams{}}
		u.params.owner = u
		u.reload()
		s.hide(obj, u)
	})
	s.hiddenMethod(ctor, "canParse", func(call goja.FunctionCall) goja.Value {
		_, err := parse(call.Arguments)
		return s.vm.ToValue(err == nil && len(call.Arguments) > 0)
	})
	proto := ctor.Get("prototype").(*goja.Object)
	self := func(v goja.Value) *urlObject {
		u, ok := s.reveal(v).(*urlObject)
		if !ok {
			s.throwError("TypeError", "the receiver is not a URL")
		}
		return u
	}
	for name, p := range urlProperties {
		get := s.function("get "+name, func(call goja.FunctionCall) goja.Value {
			return s.vm.ToValue(p.get(self(call.This).record))
		})
		var set goja.Value = goja.Undefined()
		if p.set != nil {
			set = s.function("set "+name, func(call goja.FunctionCall) goja.Value {
				u := self(call.This)
				if !p.set(u.record, call.Argument(0).String()) && name == "href" {
					s.throwError("TypeError", "Invalid URL")
				}
				if name == "search" || name == "href" {
					u.reload()
				}
				return goja.Undefined()
			})
		}
		_ = proto.DefineAccessorProperty(name, get, set, goja.FLAG_TRUE, goja.FLAG_TRUE)
	}
	params := s.function("get searchParams", func(call goja.FunctionCall) goja.Value {
		u := self(call.This)
		if u.object == nil {
			class := s.searchParamsClass()
			u.object = s.vm.CreateObject(class.Get("prototype").(*goja.Object))
			s.hide(u.object, u.params)
		}
		return u.object
	})
	_ = proto.DefineAccessorProperty("searchParams", params, goja.Undefined(), goja.FLAG_TRUE, goja.FLAG_TRUE)
	for _, name := range []string{"toString", "toJSON"} {
		s.hiddenMethod(proto, name, func(call goja.FunctionCall) goja.Value {
			return s.vm.ToValue(self(call.This).record.String())
		})
	}
	return ctor
}

type urlProperty struct {
	get func(*urlRecord) string
	set func(*urlRecord, string) bool
}

func prefixed(p *string, prefix string) string {
	if p == nil || *p == "" {
		return ""
	}
	return prefix + *p
}

// urlProperties are the accessors of URL. A setter that cannot use its value
// leaves the record as it is, as the standard has it.
var urlProperties = map[string]urlProperty{
	"href": {(*urlRecord).String, func(u *urlRecord, v string) bool {
		n, err := parseURL(v, nil)
		if err != nil {
			return false
		}
		*u = *n
		return true
	}},
	"origin": {(*urlRecord).origin, nil},
	"protocol": {func(u *urlRecord) string { return u.scheme + ":" }, func(u *urlRecord, v string) bool {
		scheme, _ := splitScheme(strings.TrimSuffix(v, ":") + ":")
		n := urlRecord{scheme: scheme}
		if scheme == "" || n.special() != u.special() || scheme == "file" || u.scheme == "file" {
			return false
		}
		u.scheme = scheme
		return u.setPort(u.port) == nil
	}},
	"username": {func(u *urlRecord) string { return u.username }, func(u *urlRecord, v string) bool {
		if u.host == nil || *u.host == "" {
			return false
		}
		u.username = percent(v, userinfoSet)
		return true
	}},
	"password": {func(u *urlRecord) string { return u.password }, func(u *urlRecord, v string) bool {
		if u.host == nil || *u.host == "" {
			return false
		}
		u.password = percent(v, userinfoSet)
		return true
	}},
	"host": {(*urlRecord).hostPort, func(u *urlRecord, v string) bool {
		if u.opaque {
			return false
		}
		n := *u
		v = authorityOf(u, v)
		if !strings.Contains(v, ":") && u.port != "" {
			v += ":" + u.port
		}
		if n.setHostPort(v) != nil {
			return false
		}
		*u = n
		return true
	}},
	"hostname": {func(u *urlRecord) string {
		if u.host == nil {
			return ""
		}
		return *u.host
	}, func(u *urlRecord, v string) bool {
		v = authorityOf(u, v)
		if u.opaque || v == "" || strings.Contains(v, ":") && !strings.HasPrefix(v, "[") {
			return false
		}
		h, err := parseHost(v, u.special())
		if err != nil {
			return false
		}
		u.host = &h
		return true
	}},
	"port": {func(u *urlRecord) string { return u.port }, func(u *urlRecord, v string) bool {
		digits := v[:len(v)-len(strings.TrimLeft(v, "0123456789"))]
		if u.host == nil || *u.host == "" || u.scheme == "file" || digits == "" && v != "" {
			return false
		}
		return u.setPort(digits) == nil
	}},
	"pathname": {func(u *urlRecord) string { return u.path }, func(u *urlRecord, v string) bool {
		if u.opaque {
			return false
		}
		u.path = u.normalize("", v)
		return true
	}},
	"search": {func(u *urlRecord) string { return prefixed(u.query, "?") }, func(u *urlRecord, v string) bool {
		if v == "" {
			u.query = nil
			return true
		}
		q := u.encodeQuery(strings.TrimPrefix(v, "?"))
		u.query = &q
		return true
	}},
	"hash": {func(u *urlRecord) string { return prefixed(u.fragment, "#") }, func(u *urlRecord, v string) bool {
		if v == "" {
			u.fragment = nil
			return true
		}
		f := percent(strings.TrimPrefix(v, "#"), fragmentSet)
		u.fragment = &f
		return true
	}},
}

// authorityOf is what a host setter reads of its value.
func authorityOf(u *urlRecord, v string) string {
	for i := range len(v) {
		if u.slash(v, i) || v[i] == '?' || v[i] == '#' || v[i] == '@' {
			return v[:i]
		}
	}
	return v
}
