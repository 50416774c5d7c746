package js

import (
	"embed"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

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

// needs are the parts of the world that cost too much to build for a program
// which never names them. A program that puts the name of a method together at
// run time finds the engine's own behaviour, which is no less safe. The names
// of globals may be put together: that takes the global object as a value, and
// then every global is there.
type needs struct {
	regexp, missing, promises, parse, apply, locale bool
	iterators, weak, collate, buffers               bool
	from, typed, asyncIterator, entries             bool
	bigints, dates, casing, readsDates, oldDates    bool
	powers, any                                     bool     // Math.pow, Promise.any
	guarded                                         []string // bulk methods
	helpers                                         []string // of iterators, to be loaded at their first call
	global                                          bool     // the global object may be used as a value
	words                                           map[string]bool
}

// names reports whether a program can reach one of these globals.
func (n *needs) names(list ...string) bool {
	if n.global {
		return true
	}
	for _, w := range list {
		if n.words[w] {
			return true
		}
	}
	return false
}

// watched are the globals that are built, or taken before the program can
// replace them, only for programs that name them.
var watched = func() map[string]bool {
	out := map[string]bool{"JSON": true, "Uint8Array": true, "Error": true, "GoError": true}
	for n := range injected {
		out[n] = true
	}
	for _, n := range errorKinds {
		out[n] = true
	}
	return out
}()

// escape is a character of an identifier written by its number.
var escape = regexp.MustCompile(`\\u(?:00|\{0*)([0-9a-fA-F]{2})\}?`)

// bigLiteral is a number with an n at its end.
var bigLiteral = regexp.MustCompile(`\b(?:0[xX][0-9a-fA-F_]+|0[bBoO][0-7_]+|[0-9][0-9_]*)n\b`)

// namesBigInts reports whether a program may have BigInts.
func namesBigInts(source string) bool {
	return strings.Contains(source, "BigInt") || strings.Contains(source, "Big64") || bigLiteral.MatchString(source)
}

// wordsOf are the watched names that stand anywhere in the text, comments and
// strings included.
func wordsOf(source string) map[string]bool {
	if strings.Contains(source, `\u`) {
		source = escape.ReplaceAllStringFunc(source, func(e string) string {
			n, _ := strconv.ParseUint(escape.FindStringSubmatch(e)[1], 16, 8)
			return string(rune(n))
		})
	}
	var out map[string]bool
	apart := func(c rune) bool { return c >= utf8.RuneSelf || c == '\\' || !identByte(byte(c)) }
	for w := range strings.FieldsFuncSeq(source, apart) {
		if watched[w] {
			if out == nil {
				out = map[string]bool{}
			}
			out[w] = true
		}
	}
	return out
}

func needsOf(source string, global, held bool) needs {
	names := func(list ...string) bool {
		for _, n := range list {
			if strings.Contains(source, n) {
				return true
			}
		}
		return false
	}
	return needs{
		global:   global,
		words:    wordsOf(source),
		locale:   names("toLocale", "getOwnProperty", "Reflect"),
		regexp:   names("RegExp", "constructor", "structuredClone"),
		missing:  names("fromAsync", "groupBy", "withResolvers", ".try", "ellFormed"),
		promises: names("fetch", "crypto", "queueMicrotask"),
		parse:    names("parse"),
		apply:    names("apply", "Reflect"),
		guarded:  mentioned(source),

		from:          names("from") && names("Array"),
		entries:       names("fromEntries"),
		bigints:       namesBigInts(source),
		dates:         names("Date"),
		any:           names(".any", "any\"", "any'", "any`") && names("Promise"),
		powers:        names("pow") && names("Math"),
		oldDates:      names("getYear", "setYear", "toGMTString"),
		casing:        names("toLocaleLower", "toLocaleUpper"),
		typed:         names("8Array", "16Array", "32Array", "64Array"),
		asyncIterator: names("asyncIterator", "fromAsync"),

		iterators: names("Iterator"),
		helpers:   helpersIn(source, held),
		weak:      names("WeakRef", "FinalizationRegistry") || names("WeakMap", "WeakSet") && names("Symbol"),
		collate:   names("localeCompare"),
		buffers:   names(".transfer", ".detached", "resizable"),
	}
}

// iteratorHelpers are the methods of iterators that the engine lacks, with the
// number of their parameters.
var iteratorHelpers = []struct {
	name   string
	length int
}{{"map", 1}, {"filter", 1}, {"take", 1}, {"drop", 1}, {"flatMap", 1}, {"reduce", 1}, {"toArray", 0}, {"forEach", 1}, {"some", 1}, {"every", 1}, {"find", 1}}

// helpersIn are the helpers that a program which can hold an iterator names.
// Most other programs mean the methods of arrays.
func helpersIn(source string, held bool) []string {
	if !held && !hasIterators(source) {
		return nil
	}
	var out []string
	for _, h := range iteratorHelpers {
		if strings.Contains(source, "."+h.name) {
			out = append(out, h.name)
		}
	}
	return out
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

// hasIterators reports whether the text may make an iterator by a generator,
// a method of its own, or the symbol.
func hasIterators(source string) bool {
	for _, n := range []string{"yield", "matchAll", "Symbol.iterator", "Iterator", ".take", ".drop", ".toArray"} {
		if strings.Contains(source, n) {
			return true
		}
	}
	return false
}

// prelude changes the engine's own world before the program sees it.
func (s *session) prelude() {
	if s.prog.needs.names("eval") {
		s.hiddenMethod(s.vm.GlobalObject(), "eval", func(goja.FunctionCall) goja.Value {
			s.refuseCode("eval")
			return nil
		})
	}
	if s.prog.needs.regexp || s.prog.textual || s.splitsByWords() {
		s.regexpTexts()
	}
	if s.prog.needs.regexp || len(s.prog.patterns) > 0 {
		s.regexps()
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
	}))
}
