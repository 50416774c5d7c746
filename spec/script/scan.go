package script

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Bounds of the scan. The parser needs about 4.4 KB of stack for a level.
const (
	// maxDepth is the deepest nesting of brackets and of arrow functions that
	// people are told about. Code written by people stays below 30.
	maxDepth = 200
	// maxStatements is the deepest nesting of statements without braces, as in
	// "if (a) if (b) ...". A label weighs more: the parser searches the labels
	// around it for each one.
	maxStatements = 1000
	labelWeight   = 20
	// maxOpeners bounds the brackets of the whole code as raw bytes, strings
	// and comments included: whatever the parser takes them for, it cannot
	// recurse deeper than this (about 72 MB of stack).
	maxOpeners = 16 << 10
	// maxWork bounds the bytes that the parser reads. Parameters of an arrow
	// function are read twice, so nested ones cost 2^depth.
	maxWork = 1 << 20
)

// scan is one linear pass over the code that refuses what would exhaust the
// parser. It knows strings, templates, comments and regular expressions the
// way a highlighter does; where it errs it counts more, and maxOpeners holds
// whether it errs or not.
func scan(code string) *Problem {
	openers := 0
	for i := range len(code) {
		switch code[i] {
		case '(', '[', '{', '`':
			openers++
		}
	}
	if openers > maxOpeners {
		return &Problem{1, 1, "code-too-deep", fmt.Sprintf("the code has %d opening brackets, at most %d are read", openers, maxOpeners)}
	}
	s := &scanner{src: code, regexOK: true}
	s.levels = append(s.levels, level{})
	if at, msg := s.run(); msg != "" {
		line := 1 + strings.Count(code[:at], "\n")
		return &Problem{line, at - strings.LastIndexByte(code[:at], '\n'), "code-too-deep", msg}
	}
	return nil
}

// level is one open bracket.
type level struct {
	open      byte  // '(' '[' '{', or '$' for the ${ of a template
	start     int   // where it opened
	extra     int64 // bytes that are read again inside it
	arrows    int   // arrow functions that are nested right here
	stmts     int   // statements that are nested right here without braces
	condition bool  // the parenthesis of if, while, for, with
}

type scanner struct {
	src     string
	pos     int
	levels  []level
	arrows  int // sum of arrows over levels
	stmts   int // sum of stmts over levels
	regexOK bool
	word    string // the last identifier or keyword, "" after anything else
	dotted  bool   // that word followed a dot
	label   bool   // that word stands where a label may
	last    byte   // last byte of the token before the current one
	// group is the parenthesis that closed last, for "(...) =>".
	group    level
	groupEnd bool
}

func (s *scanner) top() *level { return &s.levels[len(s.levels)-1] }

// run gives the place and the reason of a refusal, or an empty reason.
func (s *scanner) run() (int, string) {
	for s.pos < len(s.src) {
		c := s.src[s.pos]
		switch {
		case c == ' ' || c == '\t' || c == '\r':
			s.pos++
			continue
		case c == '\n':
			s.newline()
			continue
		case c == '/' && s.peek(1) == '/':
			s.skipTo("\n", false)
			continue
		case c == '/' && s.peek(1) == '*':
			s.skipTo("*/", true)
			continue
		case c == '"' || c == '\'':
			s.quoted(c)
			s.after(false)
		case c == '`':
			s.pos++
			s.template()
		case c == '/' && s.regexOK:
			s.regex()
			s.after(false)
		case c == '(' || c == '[' || c == '{':
			s.push(c)
			s.pos++
			s.after(true)
		case c == ')' || c == ']' || c == '}':
			s.close(c)
		case c == '=' && s.peek(1) == '>':
			s.arrow()
			s.pos += 2
			s.after(true)
		case c == ',' || c == ';':
			s.unnest()
			s.pos++
			s.after(true)
		case c == ':' && s.label:
			s.nest(labelWeight)
			s.pos++
			s.after(true)
		case isWordByte(c):
			s.identifier()
		case (c == '+' || c == '-') && s.peek(1) == c:
			s.pos += 2 // x++ / y and ++ /re/: keep what was possible before
			s.word, s.groupEnd, s.label, s.last = "", false, false, c
		default:
			_, n := utf8.DecodeRuneInString(s.src[s.pos:])
			s.pos += n
			s.after(true)
		}
		if depth := len(s.levels) - 1 + s.arrows; depth > maxDepth {
			return min(s.pos, len(s.src)), fmt.Sprintf("brackets or arrow functions are nested more than %d deep; split the code into functions", maxDepth)
		}
		if s.stmts > maxStatements {
			return min(s.pos, len(s.src)), "statements or labels are nested too deep; use braces and functions"
		}
		if s.top().extra > maxWork {
			return min(s.pos, len(s.src)), "parameter defaults of arrow functions are nested too deep; split them into functions"
		}
	}
	return 0, ""
}

func (s *scanner) peek(n int) byte {
	if s.pos+n < len(s.src) {
		return s.src[s.pos+n]
	}
	return 0
}

// after ends a token that is no word: regex says whether a slash that follows
// starts a regular expression.
func (s *scanner) after(regex bool) {
	s.regexOK, s.word, s.groupEnd, s.label = regex, "", false, false
	s.last = s.src[min(s.pos, len(s.src))-1]
}

func (s *scanner) push(c byte) {
	l := level{open: c, start: s.pos}
	if c == '(' && !s.dotted {
		switch s.word {
		case "if", "while", "for", "with":
			l.condition = true
		}
	}
	s.levels = append(s.levels, l)
}

// close ends the innermost bracket. One that does not match is left to the
// parser; it cannot lower the count below what is open.
func (s *scanner) close(c byte) {
	l := *s.top()
	if len(s.levels) == 1 || !matches(l.open, c) {
		s.pos++
		s.after(c == '}')
		return
	}
	s.unnest()
	s.levels = s.levels[:len(s.levels)-1]
	s.top().extra += l.extra
	s.pos++
	if l.open == '$' {
		s.template()
		return
	}
	s.after(c == '}' || l.condition)
	s.group, s.groupEnd = l, c == ')'
}

func matches(open, c byte) bool {
	switch c {
	case ')':
		return open == '('
	case ']':
		return open == '['
	}
	return open == '{' || open == '$'
}

// arrow counts one arrow function and, after a parameter list in
// parentheses, the second reading of that list.
func (s *scanner) arrow() {
	s.top().arrows++
	s.arrows++
	if s.groupEnd {
		s.top().extra += int64(s.pos-s.group.start) + s.group.extra
	}
}

// nest counts a statement that stands inside the one before it.
func (s *scanner) nest(n int) {
	s.top().stmts += n
	s.stmts += n
}

// unnest ends the arrow functions and statements of this level.
func (s *scanner) unnest() {
	t := s.top()
	s.arrows -= t.arrows
	s.stmts -= t.stmts
	t.arrows, t.stmts = 0, 0
}

// newline ends a statement where the line before it ended an expression and
// the line after it does not go on with an operator.
func (s *scanner) newline() {
	s.pos++
	if s.top().arrows+s.top().stmts == 0 || s.regexOK {
		return
	}
	rest := strings.TrimLeft(s.src[s.pos:min(len(s.src), s.pos+256)], " \t\r\n")
	if rest != "" && isWordByte(rest[0]) {
		s.unnest()
	}
}
