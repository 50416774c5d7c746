package script

import "strings"

// The tokens of the scan: each function moves past one and, where it matters,
// notes what may follow. None of them refuses anything; the parser does.

func (s *scanner) skipTo(end string, past bool) {
	i := strings.Index(s.src[s.pos+2:], end)
	if i < 0 {
		s.pos = len(s.src)
		return
	}
	s.pos += 2 + i
	if past {
		s.pos += len(end)
	}
}

func (s *scanner) quoted(q byte) {
	for s.pos++; s.pos < len(s.src); s.pos++ {
		switch s.src[s.pos] {
		case '\\':
			s.pos++
		case '\n':
			return // not closed: the parser says so
		case q:
			s.pos++
			return
		}
	}
	s.pos = min(s.pos, len(s.src))
}

// template reads template text up to its end or to the next ${.
func (s *scanner) template() {
	for ; s.pos < len(s.src); s.pos++ {
		switch s.src[s.pos] {
		case '\\':
			s.pos++
		case '`':
			s.pos++
			s.after(false)
			return
		case '$':
			if s.peek(1) == '{' {
				s.levels = append(s.levels, level{open: '$', start: s.pos})
				s.pos += 2
				s.after(true)
				return
			}
		}
	}
	s.pos = min(s.pos, len(s.src))
}

func (s *scanner) regex() {
	class := false
	for s.pos++; s.pos < len(s.src); s.pos++ {
		switch c := s.src[s.pos]; {
		case c == '\n':
			return // not closed: the parser says so
		case c == '\\':
			s.pos++
		case c == '[':
			class = true
		case c == ']':
			class = false
		case c == '/' && !class:
			s.pos++
			return
		}
	}
	s.pos = min(s.pos, len(s.src))
}

func (s *scanner) identifier() {
	start := s.pos
	for s.pos < len(s.src) && isWordByte(s.src[s.pos]) {
		s.pos++
	}
	s.dotted = start > 0 && s.src[start-1] == '.'
	before := s.word
	s.word, s.groupEnd = s.src[start:s.pos], false
	s.regexOK = false
	// A label starts a statement. After a brace or a comma it is a property,
	// and a brace counts by itself; after "?" it is a conditional.
	s.label = before == "else" || before == "do" || before == "" && strings.IndexByte("?.{,", s.last) < 0
	s.last = s.src[s.pos-1]
	if s.dotted {
		return
	}
	switch s.word {
	case "if", "for", "while", "with":
		s.nest(1)
	case "default":
		s.label = false
	}
	switch s.word {
	case "return", "typeof", "instanceof", "in", "of", "new", "delete", "void", "throw", "case",
		"do", "else", "await", "yield":
		s.regexOK = true
	}
}

// isWordByte holds for bytes of identifiers and numbers; every byte outside
// ASCII counts, which is right for names and harmless for the rest.
func isWordByte(c byte) bool {
	return c == '_' || c == '$' || c == '\\' || c >= 0x80 ||
		'0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}
