package js

import "github.com/dop251/goja"

// install builds the world of the program. It runs inside the virtual machine
// before any of the program's code.
func (s *session) install() {
	s.prelude()
	s.installConsole()
	s.installTimers()
	s.installEncoding()
	s.installLocale()
	s.lazy("Intl", s.intlObject)
	s.lazy("queueMicrotask", func() goja.Value { return s.promises().Get("queueMicrotask") })
	s.lazy("crypto", s.cryptoObject)
	s.lazy("safety", s.safetyObject)
	s.lazy("URL", s.urlClass)
	s.lazy("URLSearchParams", func() goja.Value { return s.searchParamsClass() })
	s.lazy("structuredClone", s.structuredClone)
	s.lazy("Java", s.javaObject)
	if s.call.Globals.Fetch {
		s.globalFunc("fetch", s.fetch)
	}
}
