package js

import (
	"fmt"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/dlclark/regexp2/v2"
	"github.com/dop251/goja"
	"github.com/dop251/goja/parser"
)

var libRegexpText = library("regexptext.js")

// plainPattern says that the engine's methods of text find the matches of an
// expression as exec finds them: it runs in the linear matcher, which takes an
// empty match after another one for none, and is not sticky.
func plainPattern(pattern, flags string) bool {
	if strings.Contains(flags, "y") {
		return false
	}
	text, err := parser.TransformRegExp(pattern, strings.Contains(flags, "s"), strings.ContainsAny(flags, "uv"))
	if err != nil {
		return false
	}
	tree, err := syntax.Parse(text, syntax.Perl)
	return err == nil && !maybeEmpty(tree)
}

// maybeEmpty says that re can match the empty text.
func maybeEmpty(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpLiteral, syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL, syntax.OpNoMatch:
		return false
	case syntax.OpConcat:
		return !slices.ContainsFunc(re.Sub, func(k *syntax.Regexp) bool { return !maybeEmpty(k) })
	case syntax.OpAlternate:
		return slices.ContainsFunc(re.Sub, maybeEmpty)
	case syntax.OpCapture, syntax.OpPlus:
		return maybeEmpty(re.Sub[0])
	case syntax.OpRepeat:
		return re.Min == 0 || maybeEmpty(re.Sub[0])
	}
	return true
}

// regexpTexts puts the methods of text for other expressions on top. The answer
// takes a function that gives the engine's own flags of an expression, and a
// method exec that finds what the engine's own finds.
func (s *session) regexpTexts() goja.Value {
	known, compiled := map[string]bool{}, map[string]*regexp2.Regexp{}
	return s.load(libRegexpText(), s.vm.GlobalObject().Get("RegExp").ToObject(s.vm).Get("prototype"),
		s.function("plain", func(call goja.FunctionCall) goja.Value {
			pattern, flags := patternText(call.Argument(0)), call.Argument(1).String()
			key := flags + "/" + pattern
			plain, ok := known[key]
			if !ok {
				plain = plainPattern(pattern, flags)
				if len(known) < 1000 {
					known[key] = plain
				}
			}
			return s.vm.ToValue(plain)
		}),
		s.function("find", func(call goja.FunctionCall) goja.Value {
			pattern, flags := patternText(call.Argument(0)), call.Argument(1).String()
			key := flags + "/" + pattern
			re := compiled[key]
			if re == nil {
				var err error
				if re, err = regexp2.Compile(byUnits(pattern, flags), matchOptions(flags)); err != nil {
					s.throwError("SyntaxError", "the regular expression is not supported here")
				}
				if len(compiled) < 1000 {
					compiled[key] = re
				}
			}
			return s.findAll(re, flags, call.Argument(2), call.Argument(3).ToBoolean())
		}), s.vm.ToValue(maxBulk))
}

// byUnits writes pairs of surrogates as the two characters that they are
// without the flag u.
func byUnits(pattern, flags string) string {
	if strings.Contains(flags, "u") {
		return pattern
	}
	var b strings.Builder
	for _, r := range pattern {
		if high, low := utf16.EncodeRune(r); r > 0xFFFF {
			fmt.Fprintf(&b, `\u%04X\u%04X`, high, low)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func matchOptions(flags string) regexp2.RegexOptions {
	opts := regexp2.ECMAScript
	for flag, opt := range map[string]regexp2.RegexOptions{"m": regexp2.Multiline, "s": regexp2.Singleline, "i": regexp2.IgnoreCase, "u": regexp2.Unicode} {
		if strings.Contains(flags, flag) {
			opts |= opt
		}
	}
	return opts
}

// findAll gives the names of the groups and the bounds of all matches in a flat
// list, -1 for a group that is not set. A splitter takes no empty match at
// the end of the one before, none at the end of a text, and is never sticky.
func (s *session) findAll(re *regexp2.Regexp, flags string, text goja.Value, split bool) goja.Value {
	units := utf16Units(text)
	runes, offsets := decodeUnits(units, strings.Contains(flags, "u"))
	sticky := !split && strings.Contains(flags, "y")
	names, flat := []any{""}, []any{}
	for start, last := 0, 0; start <= len(runes); {
		if split && start == len(runes) && start > 0 {
			break
		}
		m, err := re.FindRunesMatchStartingAt(runes, start)
		if err != nil || s.ctx.Err() != nil || m == nil || sticky && m.RuneIndex != start {
			break
		}
		first, end := m.RuneIndex, m.RuneIndex+m.RuneLength
		if split && len(runes) > 0 {
			if first == len(runes) {
				break
			}
			if end == last {
				start = first + 1
				continue
			}
		}
		names = names[:0]
		for i, g := range m.Groups() {
			name := ""
			if i > 0 && (g.Name == "" || g.Name[0] < '0' || g.Name[0] > '9') {
				name = g.Name
			}
			names = append(names, name)
			if len(g.Captures) == 0 {
				flat = append(flat, -1, -1)
			} else {
				flat = append(flat, offsets[g.RuneIndex], offsets[g.RuneIndex+g.RuneLength])
			}
		}
		if len(flat) > maxBulk/4 {
			s.throwError("RangeError", "too many matches")
		}
		start, last = end, end
		if end == first && !split {
			start++
		}
		if split && len(runes) == 0 {
			break
		}
	}
	return s.vm.NewArray(s.vm.NewArray(names...), s.vm.NewArray(flat...))
}

// decodeUnits gives the characters of a text, pairs as one where that is asked
// for, and where each begins.
func decodeUnits(units []uint16, pairs bool) ([]rune, []int) {
	runes, offsets := make([]rune, 0, len(units)), make([]int, 0, len(units)+1)
	for i := 0; i < len(units); {
		offsets = append(offsets, i)
		r, n := rune(units[i]), 1
		if pairs && i+1 < len(units) && r >= 0xD800 && r < 0xDC00 && units[i+1] >= 0xDC00 && units[i+1] < 0xE000 {
			r, n = 0x10000+(r-0xD800)<<10+(rune(units[i+1])-0xDC00), 2
		}
		runes = append(runes, r)
		i += n
	}
	return runes, append(offsets, len(units))
}
