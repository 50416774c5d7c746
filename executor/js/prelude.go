package js

import (
	"embed"
	"slices"
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
	libRegexp   = library("regexp.js")
	libMissing  = library("missing.js")
	libFrom     = library("from.js")
	libIterator = library("iterators.js")
	libWeak     = library("weak.js")
	libEntries  = library("entries.js")
	libPromises = library("promises.js")
	libAny      = library("any.js")
	libClone    = library("clone.js")
	libProxy    = library("proxy.js")
	libHas      = library("has.js")
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

// iteratorHelpers gives all iterators the helpers that the program names. The
// script behind them is loaded when the first of them is called.
func (s *session) iteratorHelpers() {
	values, _ := s.callable(s.vm.NewArray().Get("values"))
	base := values(s.vm.NewArray()).(*goja.Object).Prototype().Prototype()
	var kit *goja.Object
	for _, h := range iteratorHelpers {
		if !slices.Contains(s.prog.needs.helpers, h.name) {
			continue
		}
		fn := s.function(h.name, func(call goja.FunctionCall) goja.Value {
			if kit == nil {
				kit = s.load(libIterator(), s.vm.GlobalObject(), s.vm.ToValue(maxBulk), s.vm.ToValue(false)).(*goja.Object)
			}
			f, _ := s.callable(kit.Get(h.name))
			return f(call.This, call.Arguments...)
		})
		if h.length != 0 {
			_ = fn.DefineDataProperty("length", s.vm.ToValue(h.length), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
		}
		_ = base.DefineDataProperty(h.name, fn, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	}
}

// prelude changes the engine's own world before the program sees it.
func (s *session) prelude() {
	if s.prog.needs.names("eval") {
		s.hiddenMethod(s.vm.GlobalObject(), "eval", func(goja.FunctionCall) goja.Value {
			s.refuseCode("eval")
			return nil
		})
	}
	var alsoOurs goja.Value
	if s.prog.needs.regexp || s.prog.textual || s.splitsByWords() {
		alsoOurs = s.regexpTexts()
	}
	if s.prog.needs.regexp || len(s.prog.patterns) > 0 {
		s.regexps(alsoOurs)
	}
	if strings.Contains(s.prog.source, "replaceAll") {
		s.guardReplaceAll()
	}
	if s.prog.needs.asyncIterator {
		s.asyncIterator()
	}
	if s.prog.needs.from {
		s.load(libFrom(), s.vm.ToValue(maxBulk), s.vm.ToValue(s.prog.needs.typed))
	}
	if s.prog.needs.entries {
		_ = s.ctor("Object").DefineDataProperty("fromEntries", s.load(libEntries()), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	}
	if s.prog.needs.missing {
		s.load(libMissing())
	}
	if s.prog.needs.iterators {
		s.load(libIterator(), s.vm.GlobalObject(), s.vm.ToValue(maxBulk), s.vm.ToValue(true))
	} else if len(s.prog.needs.helpers) > 0 {
		s.iteratorHelpers()
	}
	if s.prog.needs.weak {
		s.load(libWeak(), s.vm.GlobalObject())
	}
	if s.prog.needs.collate {
		s.installCompare()
	}
	if s.prog.needs.buffers {
		s.installTransfer()
	}
	if s.prog.needs.any {
		_ = s.ctor("Promise").DefineDataProperty("any", s.load(libAny()), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	}
	if s.prog.needs.promises {
		s.promises()
	}
	if s.prog.needs.proxies {
		_ = s.vm.GlobalObject().DefineDataProperty("Proxy", s.load(libProxy(), s.ctor("Proxy")), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	}
	s.guards()
	s.corrections()
}

// asyncIterator adds the symbol that the engine lacks.
func (s *session) asyncIterator() {
	symbol := s.member(s.vm.GlobalObject(), "Symbol")
	_ = symbol.DefineDataProperty("asyncIterator", goja.NewSymbol("Symbol.asyncIterator"), goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE)
}

// refuseCode throws for what would run text as code.
func (s *session) refuseCode(name string) {
	s.throwError("EvalError", name+" is not available: code made at run time could not be counted; write the function out")
}

// noParser is an option of the virtual machine's own parser that refuses. All
// that makes code at run time goes through that parser: eval, Function and the
// constructors of other functions, however the program came by them.
func (s *session) noParser() parser.Option {
	return before(parser.WithDisableSourceMaps, func() {
		for _, f := range s.vm.CaptureCallStack(3, nil) {
			switch n := f.FuncName(); n {
			case "Function", "GeneratorFunction", "AsyncFunction", "eval":
				s.refuseCode(n)
			}
		}
		s.refuseCode("Function") // a constructor call has no name there
	})
}

// before makes an option that runs f first. The type that options take has no
// name outside of the parser.
func before[T any](option func(T), f func()) func(T) {
	return func(t T) {
		f()
		option(t)
	}
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
		obj, err := s.vm.New(s.ctor("Error"), s.vm.ToValue(clip(call.Argument(0).String(), 100)+" could not be cloned"))
		if err != nil {
			panic(err)
		}
		_ = obj.DefineDataProperty("name", s.vm.ToValue("DataCloneError"), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
		panic(obj)
	}), s.function("detach", func(call goja.FunctionCall) goja.Value {
		// With a second argument that is true, it only tells.
		buf, ok := arrayBuffer(call.Argument(0))
		if ok && !call.Argument(1).ToBoolean() {
			return s.vm.ToValue(buf.Detach())
		}
		return s.vm.ToValue(ok && buf.Detached())
	}), s.function("order", func(call goja.FunctionCall) goja.Value {
		if s.prog.needs.matches {
			s.order(call.Argument(0))
		}
		return call.Argument(0)
	}))
}
