package js

import (
	"github.com/dop251/goja"
	"golang.org/x/text/collate"
	"golang.org/x/text/language"

	"github.com/toolwarrant/toolwarrant/spec/script"
)

// installCompare gives localeCompare its locales and options, which the engine
// ignores. Without them its own method is right, and faster.
func (s *session) installCompare() {
	proto := s.vm.ToValue("").ToObject(s.vm).Prototype()
	native, _ := s.callable(proto.Get("localeCompare"))
	collators := map[string]*collate.Collator{}
	s.hiddenMethod(proto, "localeCompare", func(call goja.FunctionCall) goja.Value {
		locales, options := call.Argument(1), call.Argument(2)
		if goja.IsUndefined(locales) && goja.IsUndefined(options) {
			return native(call.This, call.Arguments...)
		}
		if goja.IsUndefined(call.This) || goja.IsNull(call.This) {
			s.throwError("TypeError", "localeCompare was called on "+call.This.String())
		}
		a, b := call.This.String(), call.Argument(0).String()
		if len(a) > maxBulk/16 || len(b) > maxBulk/16 {
			s.throwError("RangeError", "localeCompare: the text is too long")
		}
		tag, rule, key := s.collationLocale(locales)
		opts, more, numeric, byCase := s.collationOptions(options)
		if msg := unlike(rule, a+b, numeric, byCase); msg != "" {
			s.throwError("RangeError", "localeCompare: "+msg)
		}
		if numeric {
			a, b = spreadNumbers(a), spreadNumbers(b)
		}
		key += more
		c := collators[key]
		if c == nil {
			c = collate.New(tag, opts...)
			if len(collators) < 32 {
				collators[key] = c
			}
		}
		return s.vm.ToValue(c.CompareString(a, b))
	})
}

// collationLocale reads the first locale of an argument.
func (s *session) collationLocale(v goja.Value) (language.Tag, collationRule, string) {
	none := goja.IsUndefined(v)
	if obj, ok := v.(*goja.Object); ok {
		if none = lengthOf(obj) == 0; !none {
			v = orUndefined(obj.Get("0"))
		}
	}
	if none {
		return language.AmericanEnglish, collationRule{}, "en-US"
	}
	name, ok := text(v)
	if !ok {
		s.throwError("TypeError", "a locale must be a string")
	}
	tag, base, problem := script.CompareLocale(name)
	if problem != "" {
		s.throwError("RangeError", problem)
	}
	rule := collationRules[base]
	if rule.like != "" {
		tag = language.Make(rule.like)
	}
	return tag, rule, name
}

// collationOptions reads the third argument; what it asks for and is not there
// is an error, so that no text is sorted in another way than was asked.
func (s *session) collationOptions(v goja.Value) (opts []collate.Option, key string, numeric, byCase bool) {
	if goja.IsUndefined(v) {
		return nil, "", false, false
	}
	obj := v.ToObject(s.vm)
	s.check(obj, script.CompareOptions, "usage", "localeMatcher", "caseFirst", "collation", "ignorePunctuation")
	numeric = orUndefined(obj.Get("numeric")).ToBoolean()
	switch sensitivity := s.option(obj, script.CompareOptions, "sensitivity"); sensitivity {
	case "base":
		opts = append(opts, collate.IgnoreCase, collate.IgnoreDiacritics)
		key += "/base"
	case "accent":
		opts = append(opts, collate.IgnoreCase)
		key += "/accent"
	case "case":
		opts = append(opts, collate.IgnoreDiacritics)
		key += "/case"
		byCase = true
	}
	return opts, key, numeric, byCase
}
