package js

import (
	"github.com/dop251/goja"
	whatwg "github.com/nlnwa/whatwg-url/url"
)

// urlObject is the Go side of a URL: the record and its live parameters.
type urlObject struct {
	record *whatwg.Url
	params *searchParams
	object *goja.Object // the URLSearchParams, made when first read
}

// sync writes changed parameters into the query.
func (u *urlObject) sync() {
	// The form encoding has no character that a query would encode again.
	u.record.SetSearch(u.params.String())
}

// reload reads the parameters anew from the query.
func (u *urlObject) reload() { u.params.pairs = parseForm(u.record.Query()) }

func (s *session) urlClass() goja.Value {
	read := func(v goja.Value) string {
		if obj, ok := s.reveal(v).(*urlObject); ok {
			return obj.record.Href(false)
		}
		return v.String()
	}
	parse := func(call []goja.Value) (*whatwg.Url, error) {
		var base *whatwg.Url
		input := read(argument(call, 0))
		if b := argument(call, 1); !goja.IsUndefined(b) {
			var err error
			if base, err = parseURL(read(b), nil); err != nil {
				return nil, err
			}
		}
		return parseURL(input, base)
	}
	fill := func(obj *goja.Object, rec *whatwg.Url) {
		u := &urlObject{record: rec, params: &searchParams{}}
		u.params.owner = u
		u.reload()
		s.hide(obj, u)
	}
	ctor := s.class("URL", func(obj *goja.Object, call goja.ConstructorCall) {
		if len(call.Arguments) == 0 {
			s.throwError("TypeError", "URL needs a text to parse")
		}
		rec, err := parse(call.Arguments)
		if err != nil {
			s.throwError("TypeError", "Invalid URL: "+clip(argument(call.Arguments, 0).String(), 200))
		}
		fill(obj, rec)
	})
	needed := func(call goja.FunctionCall, name string) {
		if len(call.Arguments) == 0 {
			s.throwError("TypeError", "URL."+name+" needs a text to parse")
		}
	}
	s.hiddenMethod(ctor, "canParse", func(call goja.FunctionCall) goja.Value {
		needed(call, "canParse")
		_, err := parse(call.Arguments)
		return s.vm.ToValue(err == nil)
	})
	proto := ctor.Get("prototype").(*goja.Object)
	s.hiddenMethod(ctor, "parse", func(call goja.FunctionCall) goja.Value {
		needed(call, "parse")
		rec, err := parse(call.Arguments)
		if err != nil {
			return goja.Null()
		}
		obj := s.vm.CreateObject(proto)
		fill(obj, rec)
		return obj
	})
	s.urlMembers(proto)
	return ctor
}

func (s *session) urlMembers(proto *goja.Object) {
	self := func(v goja.Value) *urlObject {
		u, ok := s.reveal(v).(*urlObject)
		if !ok {
			s.throwError("TypeError", "the receiver is not a URL")
		}
		return u
	}
	accessor := func(name string, get func(*urlObject) goja.Value, set func(*urlObject, string)) {
		getter := s.function("get "+name, func(call goja.FunctionCall) goja.Value { return get(self(call.This)) })
		var setter goja.Value = goja.Undefined()
		if set != nil {
			setter = s.function("set "+name, func(call goja.FunctionCall) goja.Value {
				u, text := self(call.This), call.Argument(0).String()
				if len(text) > maxURLText {
					s.throwError("TypeError", "Invalid URL: the value for "+name+" is too long")
				}
				set(u, text)
				return goja.Undefined()
			})
		}
		_ = proto.DefineAccessorProperty(name, getter, setter, goja.FLAG_TRUE, goja.FLAG_TRUE)
	}
	for _, p := range urlProperties {
		var set func(*urlObject, string)
		if p.set != nil {
			set = func(u *urlObject, text string) { p.set(u.record, text) }
		}
		accessor(p.name, func(u *urlObject) goja.Value { return s.vm.ToValue(p.get(u.record)) }, set)
	}
	accessor("href", func(u *urlObject) goja.Value { return s.vm.ToValue(u.record.Href(false)) }, func(u *urlObject, text string) {
		rec, err := parseURL(text, nil)
		if err != nil {
			s.throwError("TypeError", "Invalid URL: "+clip(text, 200))
		}
		u.record = rec
		u.reload()
	})
	accessor("search", func(u *urlObject) goja.Value { return s.vm.ToValue(u.record.Search()) }, func(u *urlObject, text string) {
		u.record.SetSearch(text)
		u.reload()
	})
	accessor("searchParams", func(u *urlObject) goja.Value {
		if u.object == nil {
			class := s.searchParamsClass()
			u.object = s.vm.CreateObject(class.Get("prototype").(*goja.Object))
			s.hide(u.object, u.params)
		}
		return u.object
	}, nil)
	for _, name := range []string{"toString", "toJSON"} {
		s.hiddenMethod(proto, name, func(call goja.FunctionCall) goja.Value {
			return s.vm.ToValue(self(call.This).record.Href(false))
		})
	}
}

// urlProperties are the plain accessors of URL. A setter that cannot use its
// value leaves the record as it is, as the standard has it.
var urlProperties = []struct {
	name string
	get  func(*whatwg.Url) string
	set  func(*whatwg.Url, string)
}{
	{"origin", origin, nil},
	{"protocol", (*whatwg.Url).Protocol, (*whatwg.Url).SetProtocol},
	{"username", (*whatwg.Url).Username, (*whatwg.Url).SetUsername},
	{"password", (*whatwg.Url).Password, (*whatwg.Url).SetPassword},
	{"host", (*whatwg.Url).Host, (*whatwg.Url).SetHost},
	{"hostname", (*whatwg.Url).Hostname, (*whatwg.Url).SetHostname},
	{"port", (*whatwg.Url).Port, (*whatwg.Url).SetPort},
	{"pathname", (*whatwg.Url).Pathname, (*whatwg.Url).SetPathname},
	{"hash", (*whatwg.Url).Hash, (*whatwg.Url).SetHash},
}
