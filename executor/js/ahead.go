package js

import (
	"slices"

	"github.com/toolwarrant/toolwarrant/executor/worker"
)

// ahead is a virtual machine that was made before its call: all is in it that
// a program finds, and no code of a program has run there. It serves one call.
type ahead struct {
	session *session
	program worker.Program
	statics []string
	globals worker.Globals
}

// Prepare makes a virtual machine for the next call of the program that call
// names, to be used while there is nothing else to do. The next call finds it
// if it is one of the same program; otherwise it is dropped. Programs without
// an ID are not prepared.
func (r *Runtime) Prepare(call worker.Call) {
	if call.Program.ID == "" {
		return
	}
	s := newSession(r)
	s.call = worker.Call{Program: call.Program, Globals: call.Globals}
	prog, failure := r.compile(call.Program, call.Statics)
	if failure != nil || s.build(prog) != nil {
		return
	}
	r.ahead.Store(&ahead{session: s, program: call.Program, statics: staticNames(call.Statics), globals: call.Globals})
}

func staticNames(statics []worker.Static) []string {
	var out []string
	for _, s := range statics {
		out = append(out, s.Name)
	}
	return out
}

// session gives the virtual machine of a call.
func (r *Runtime) session(call worker.Call) *session {
	a := r.ahead.Swap(nil)
	if a != nil && a.serves(call) {
		return a.session
	}
	return newSession(r)
}

func (a *ahead) serves(call worker.Call) bool {
	p, q := a.program, call.Program
	return p.ID == q.ID && p.Name == q.Name && p.Source == q.Source && slices.Equal(p.Params, q.Params) &&
		a.globals == call.Globals &&
		slices.EqualFunc(a.statics, call.Statics, func(n string, s worker.Static) bool { return n == s.Name })
}
