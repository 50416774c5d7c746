package js

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// needs are the parts of the world that cost too much to build for a program
// which never names them. The name of a method may be put together at run time
// (see assembled.go). The names of globals may be put together: that takes the
// global object as a value, and then every global is there.
type needs struct {
	regexp, missing, promises, parse, apply, locale bool
	iterators, weak, collate, buffers               bool
	from, typed, asyncIterator, entries             bool
	bigints, dates, casing, readsDates, oldDates    bool
	radix, parseInt, narrow                         bool     // toString(2), parseInt, searches of typed arrays
	proxies, splits                                 bool     // Proxy; split with a limit
	imul, charCodes                                 bool     // Math.imul and clz32, String.fromCharCode, called otherwise than under their names
	integers, views, reflects                       bool     // lists of integers, DataView, Reflect and defineProperty
	digits, milliseconds                            bool     // toPrecision and toExponential, setMilliseconds
	matches, indents                                bool     // JSON.stringify with an indent
	powers, any                                     bool     // Math.pow, Promise.any
	math                                            []int    // of mathFunctions
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

var anyWord = regexp.MustCompile(`\bany\b`)

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
		any:           names("any") && names("Promise") && anyWord.MatchString(source),
		radix:         radixCall.MatchString(source),
		powers:        names("pow") && names("Math"),
		oldDates:      names("getYear", "setYear", "toGMTString"),
		casing:        names("toLocaleLower", "toLocaleUpper"),
		typed:         names("8Array", "16Array", "32Array", "64Array"),
		proxies:       global || names("Proxy"),
		integers:      global || holdsIntegers(source),
		views:         global || names("DataView"),
		reflects:      global || names("Reflect", "defineProperty", "assign"),
		asyncIterator: names("asyncIterator", "fromAsync"),

		iterators: names("Iterator"),
		helpers:   helpersIn(source, held),
		weak:      names("WeakRef", "FinalizationRegistry") || names("WeakMap", "WeakSet") && names("Symbol"),
		parseInt:  names("parseInt"),
		math:      mathIn(source),
		narrow:    names("Float32Array", "64Array") && names("ncludes", "ndexOf"),
		collate:   names("localeCompare"),
		digits:    names("toPrecision", "toExponential"),

		milliseconds: names("Milliseconds"),
		buffers:      names(".transfer", ".detached", "resizable"),
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
