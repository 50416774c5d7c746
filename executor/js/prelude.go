package js

import (
	"embed"
	"strings"
	"sync"

	"github.com/dop251/goja"
	"github.com/dop251/goja/parser"
)

//go:embed lib/*.js
var libraryFiles embed.FS

// library compiles one of our own scripts, once for the process. Each is one
// function expression and is not charged.
func library(name string) func() *goja.Program {
	return sync.OnceValue(func() *goja.Program {
		source, err := libraryFiles.ReadFile("lib/" + name)
		if err != nil {
			panic(err)
		}
		tree, err := parser.ParseFile(nil, "toolwarrant:"+name, string(source), 0, parser.WithDisableSourceMaps)
		if err != nil {
			panic(err)
		}
		p, err := goja.CompileAST(tree, false)
		if err != nil {
			panic(err)
		}
		return p
	})
}

var (
	libNoEval   = library("noeval.js")
	libRegexp   = library("regexp.js")
	libMissing  = library("missing.js")
	libPromises = library("promises.js")
	libClone    = library("clone.js")
)

// load runs a script that is one function expression and calls it.
func (s *session) load(p *goja.Program, args ...goja.Value) goja.Value {
	v, err := s.vm.RunProgram(p)
	if err != nil {
		panic(err)
	}
	fn, _ := s.callable(v)
	return fn(goja.Undefined(), args...)
}

// needs are the parts of the world that cost too much to build for a program
// which never names them. A program that puts such a name together at run
// time finds the engine's own behaviour, which is no less safe.
type needs struct {
	regexp, missing, promises, parse, apply bool
	guarded                                 []string // bulk methods
}

func needsOf(source string) needs {
	names := func(list ...string) bool {
		for _, n := range list {
			if strings.Contains(source, n) {
				return true
			}
		}
		return false
	}
	return needs{
		regexp:   names("RegExp", "constructor", "structuredClone"),
		missing:  names("from", "groupBy", "withResolvers", ".try", "asyncIterator", "ellFormed"),
		promises: names("fetch", "crypto", "queueMicrotask"),
		parse:    names("parse"),
		apply:    names("apply", "Reflect"),
		guarded:  mentioned(source),
	}
}

// prelude changes the engine's own world before the program sees it.
func (s *session) prelude() {
	s.load(libNoEval(), s.vm.GlobalObject(), s.function("refuse", func(call goja.FunctionCall) goja.Value {
		s.throwError("EvalError", call.Argument(0).String()+" is not available: code made at run time could not be counted; write the function out")
		return nil
	}))
	if s.prog.needs.regexp {
		s.load(libRegexp(), s.vm.GlobalObject(), s.function("check", func(call goja.FunctionCall) goja.Value {
			pattern := call.Argument(0).String()
			if len(pattern) > maxPattern {
				s.throwError("SyntaxError", "the regular expression is too long")
			}
			if msg := unsupportedPattern(pattern, call.Argument(1).String()); msg != "" {
				s.throwError("SyntaxError", msg)
			}
			return goja.Undefined()
		}))
	}
	if s.prog.needs.missing {
		s.load(libMissing(), s.vm.ToValue(maxBulk))
	}
	if s.prog.needs.promises {
		s.promises()
	}
	s.guards()
}

// promises loads the part that touches promises, once.
func (s *session) promises() *goja.Object {
	if s.kit == nil {
		s.kit = s.load(libPromises(), s.function("uncaught", func(call goja.FunctionCall) goja.Value {
			s.stop(s.thrown(call.Argument(0), nil))
			return goja.Undefined()
		})).(*goja.Object)
	}
	return s.kit
}

// dual makes obj usable both at once and as a promise: then, catch and finally
// settle with what plain returns, an equal object without them. They do not
// show in enumerations.
func (s *session) dual(obj *goja.Object, plain func() goja.Value) *goja.Object {
	dual, _ := s.callable(s.promises().Get("dual"))
	dual(goja.Undefined(), obj, s.vm.ToValue(func(goja.FunctionCall) goja.Value { return plain() }))
	return obj
}

func (s *session) structuredClone() goja.Value {
	return s.load(libClone(), s.function("refuse", func(call goja.FunctionCall) goja.Value {
		obj, err := s.vm.New(s.native.errorCtor, s.vm.ToValue(clip(call.Argument(0).String(), 100)+" could not be cloned"))
		if err != nil {
			panic(err)
		}
		_ = obj.DefineDataProperty("name", s.vm.ToValue("DataCloneError"), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
		panic(obj)
	}))
}
