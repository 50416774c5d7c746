package js

import (
	"math"

	"github.com/dop251/goja"
)

// installMilliseconds replaces the setters of milliseconds, with which the
// engine comes out a second late before 1970.
func (s *session) installMilliseconds() {
	proto := s.member(s.ctor("Date"), "prototype")
	get, _ := s.callable(proto.Get("getTime"))
	set, _ := s.callable(proto.Get("setTime"))
	for _, name := range []string{"setMilliseconds", "setUTCMilliseconds"} {
		s.replace(proto, name, 1, func(call goja.FunctionCall) goja.Value {
			now := get(call.This).ToFloat() // throws for what is no date
			ms := math.Trunc(call.Argument(0).ToNumber().ToFloat())
			if now != now {
				return s.vm.ToValue(now)
			}
			at := math.Floor(now/1000)*1000 + ms
			if math.IsInf(at, 0) || math.Abs(at) > maxTime {
				at = math.NaN()
			}
			return set(call.This, s.vm.ToValue(at))
		})
	}
}
