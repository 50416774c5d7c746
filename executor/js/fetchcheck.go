package js

import (
	"fmt"
	"strconv"

	"github.com/dop251/goja"

	"github.com/toolwarrant/toolwarrant/fault"
)

// checkResponse is response.check(who, advice?). It gives the response back,
// or fails where the status is none of success or the body was cut: what a
// tool would otherwise have to ask after each request. advice says what to do
// about a status, or about "truncated", by the name of its member.
func (s *session) checkResponse(call goja.FunctionCall) goja.Value {
	res, ok := s.reveal(call.This).(*fetched)
	if !ok {
		s.throwError("TypeError", "check was called on something that is not a response")
	}
	who := "the server"
	if v := call.Argument(0); !goja.IsUndefined(v) {
		who = s.fetchText(v)
	}
	advice := func(name string) string {
		if o, ok := call.Argument(1).(*goja.Object); ok {
			if v := o.Get(name); v != nil && !goja.IsUndefined(v) && !goja.IsNull(v) {
				return "; " + s.fetchText(v)
			}
		}
		return ""
	}
	if res.Status < 200 || res.Status > 299 {
		status := strconv.Itoa(res.Status)
		s.refuse(fault.HelperRuntime, fetchHelper, "http-status", "[fetch] "+who+" answered with HTTP status "+status+advice(status))
	}
	if res.Truncated {
		s.refuse(fault.HelperRuntime, fetchHelper, "body-truncated",
			"[fetch] the answer of "+who+" is larger than "+size(len(res.Body.Bytes))+advice("truncated"))
	}
	return call.This
}

// size says how many bytes n is in the unit that shows it in full.
func size(n int) string {
	switch {
	case n > 0 && n%1_000_000 == 0:
		return fmt.Sprintf("%d MB", n/1_000_000)
	case n > 0 && n%1000 == 0:
		return fmt.Sprintf("%d kB", n/1000)
	}
	return fmt.Sprintf("%d bytes", n)
}
