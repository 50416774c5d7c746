package js

import "github.com/dop251/goja"

// install builds the world of the program. It runs inside the virtual machine
// before any of the program's code.
func (s *session) install() {
	s.capture()
	s.prelude()
	n := &s.prog.needs
	if n.names("console") {
		s.installConsole()
	}
	if n.names("setTimeout") {
		s.globalFunc("setTimeout", s.setTimeout)
	}
	if n.names("clearTimeout") {
		s.globalFunc("clearTimeout", s.clearTimeout)
	}
	if n.names("atob") {
		s.globalFunc("atob", s.atob)
	}
	if n.names("btoa") {
		s.globalFunc("btoa", s.btoa)
	}
	if n.locale {
		s.installLocale()
	}
	for _, g := range lazyGlobals {
		if n.names(g.name) {
			s.lazy(g.name, g.build)
		}
	}
	if s.call.Globals.Fetch && n.names("fetch") {
		s.globalFunc("fetch", s.fetch)
	}
}

// lazyGlobals are built when they are first read.
var lazyGlobals = []struct {
	name  string
	build func(*session) goja.Value
}{
	{"TextEncoder", (*session).textEncoder},
	{"TextDecoder", (*session).textDecoder},
	{"Intl", (*session).intlObject},
	{"queueMicrotask", func(s *session) goja.Value { return s.promises().Get("queueMicrotask") }},
	{"crypto", (*session).cryptoObject},
	{"safety", (*session).safetyObject},
	{"URL", (*session).urlClass},
	{"URLSearchParams", func(s *session) goja.Value { return s.searchParamsClass() }},
	{"structuredClone", (*session).structuredClone},
	{"Java", (*session).javaObject},
}
