package spec

import (
	"fmt"

	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/spec/script"
)

// Facts is what the parsed code says about itself. The code is parsed on the
// first call and never again. Code that does not parse has no facts; it cannot
// run either.
func (s *Spec) Facts() script.Facts {
	s.codeOnce.Do(func() { s.facts, s.problems = script.Parse(s.Code) })
	return s.facts
}

// CheckCode says why the code cannot run: syntax, size, nesting. Loading does
// not ask, so that ten thousand tools load quickly; whoever publishes, tests
// or lints a document has to. A problem carries the place of /code, and the
// line of the code in its message; with the code in action.js, it carries the
// place in that file.
func (s *Spec) CheckCode() []*fault.Error {
	s.Facts()
	problems := s.problems
	if len(problems) == 0 {
		problems = script.Check(s.Code)
	}
	var out []*fault.Error
	for _, p := range problems {
		var root *node
		if s.src != nil {
			root, _ = readTree(s.src.data)
		}
		out = append(out, s.codeFault(p.Reason, p.Message, p.Line, p.Column, root))
	}
	return out
}

// AtCode gives a copy of e that points at a place inside the code.
func (s *Spec) AtCode(e *fault.Error, line, column int) *fault.Error {
	var root *node
	if s.src != nil {
		root, _ = readTree(s.src.data)
	}
	placed := s.codeFault(e.Reason, e.Message, line, column, root)
	placed.Code = e.Code
	return placed
}

// codeFault places a problem of the code: in action.js itself, or at /code
// with the line inside the code in words.
func (s *Spec) codeFault(reason, message string, line, column int, root *node) *fault.Error {
	if s.act != nil {
		return fault.New(fault.SpecInvariant, reason, "%s", message).At(s.act.file, "/code", line, column)
	}
	if line > 1 || column > 1 {
		message = fmt.Sprintf("%s (code line %d, column %d)", message, line, column)
	}
	e := fault.New(fault.SpecInvariant, reason, "%s", message)
	if s.src == nil || root == nil {
		return e.At("", "/code", 0, 0)
	}
	p := &parsing{src: s.src, root: root}
	return s.src.at(e, "/code", p.offset("/code", false))
}
