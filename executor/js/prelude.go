package js

import (
	_ "embed"
	"sync"

	"github.com/dop251/goja"
	"github.com/dop251/goja/parser"
)

//go:embed prelude.js
var preludeSource string

// library compiles one of our own scripts, once for the process.
func library(name, source string) func() *goja.Program {
	return sync.OnceValue(func() *goja.Program {
		tree, err := parser.ParseFile(nil, name, source, 0, parser.WithDisableSourceMaps)
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

//go:embed library.js
var librarySource string

var libraryProgram = library("toolwarrant:library", librarySource)

func (s *session) structuredClone() goja.Value {
	refuse := s.function("refuse", func(call goja.FunctionCall) goja.Value {
		obj, err := s.vm.New(s.native.errorCtor, s.vm.ToValue(clip(call.Argument(0).String(), 100)+" could not be cloned"))
		if err != nil {
			panic(err)
		}
		_ = obj.DefineDataProperty("name", s.vm.ToValue("DataCloneError"), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
		panic(obj)
	})
	return s.load(libraryProgram(), refuse)
}

var preludeProgram = library("toolwarrant:prelude", preludeSource)

// load runs a script that is one function expression and calls it.
func (s *session) load(p *goja.Program, args ...goja.Value) goja.Value {
	v, err := s.vm.RunProgram(p)
	if err != nil {
		panic(err)
	}
	fn, _ := s.callable(v)
	return fn(goja.Undefined(), args...)
}

func (s *session) prelude() {
	refuse := s.function("refuse", func(call goja.FunctionCall) goja.Value {
		s.throwError("EvalError", call.Argument(0).String()+" is not available: code made at run time could not be counted; write the function out")
		return nil
	})
	check := s.function("check", func(call goja.FunctionCall) goja.Value {
		if len(call.Argument(0).String()) > maxPattern {
			s.throwError("SyntaxError", "the regular expression is too long")
		}
		if msg := unsupportedPattern(call.Argument(0).String(), call.Argument(1).String()); msg != "" {
			s.throwError("SyntaxError", msg)
		}
		return goja.Undefined()
	})
	uncaught := s.function("uncaught", func(call goja.FunctionCall) goja.Value {
		s.stop(s.thrown(call.Argument(0), nil))
		return goja.Undefined()
	})
	kit := s.load(preludeProgram(), s.vm.GlobalObject(), refuse, check, uncaught, s.vm.ToValue(maxBulk))
	s.native.dual, _ = s.callable(kit)
	s.guards()
}
