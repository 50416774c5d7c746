package script

import (
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/token"
)

// The engine's parser groups a < b < c as a < (b < c); the language groups
// from the left. The tree does not say where the author wrote parentheses, so
// the text is asked: two operators of one chain stand at the same depth.

// relational gives the right operand of e when e and it are both relational.
func relational(e ast.Expression) (left, right *ast.BinaryExpression) {
	left, ok := e.(*ast.BinaryExpression)
	if !ok || !isRelational(left.Operator) {
		return nil, nil
	}
	right, ok = left.Right.(*ast.BinaryExpression)
	if !ok || !isRelational(right.Operator) {
		return nil, nil
	}
	return left, right
}

func isRelational(t token.Token) bool {
	switch t {
	case token.LESS, token.LESS_OR_EQUAL, token.GREATER, token.GREATER_OR_EQUAL, token.INSTANCEOF, token.IN:
		return true
	}
	return false
}

// regroup mends the chains that begin at the given expressions, outer ones
// first, and calls refuse where the text does not tell.
func regroup(prog *ast.Program, chains []*ast.BinaryExpression, refuse func(file.Idx)) {
	if len(chains) == 0 {
		return
	}
	text := lexemes(prog)
	done := map[*ast.BinaryExpression]bool{}
	for _, root := range chains {
		if done[root] {
			continue
		}
		depth, ok := text.operator(root)
		operands, operators := []ast.Expression{root.Left}, []token.Token{root.Operator}
		rest := root.Right
		for ok {
			next, isBinary := rest.(*ast.BinaryExpression)
			if !isBinary || !isRelational(next.Operator) {
				break
			}
			var d int
			if d, ok = text.operator(next); !ok || d != depth {
				break
			}
			done[next] = true
			operands, operators = append(operands, next.Left), append(operators, next.Operator)
			rest = next.Right
		}
		if !ok {
			refuse(leftmost(root))
			continue
		}
		last := len(operators) - 1
		if last == 0 {
			continue
		}
		left := operands[0]
		for i, op := range operators[:last] {
			left = &ast.BinaryExpression{Operator: op, Left: left, Right: operands[i+1], Comparison: compares(op)}
		}
		root.Operator, root.Left, root.Right, root.Comparison = operators[last], left, rest, compares(operators[last])
	}
}

// awaitedPowers finds the powers whose base is an await without parentheses,
// which the language refuses and the engine's parser takes.
func awaitedPowers(prog *ast.Program, powers []*ast.BinaryExpression, refuse func(file.Idx)) {
	if len(powers) == 0 {
		return
	}
	text := lexemes(prog)
	for _, e := range powers {
		at := int(e.Left.(*ast.AwaitExpression).Await) - 1
		i := sort.Search(len(text.list), func(i int) bool { return text.list[i].start >= at })
		if depth, ok := text.before(e.Right); !ok || i == len(text.list) || text.list[i].depth == depth {
			refuse(file.Idx(at + 1))
		}
	}
}

func compares(op token.Token) bool { return op != token.INSTANCEOF && op != token.IN }

// leftmost is where the text of e begins, parentheses aside.
func leftmost(e ast.Expression) file.Idx {
	for {
		switch x := e.(type) {
		case *ast.BinaryExpression:
			e = x.Left
		case *ast.AssignExpression:
			e = x.Left
		case *ast.ConditionalExpression:
			e = x.Test
		case *ast.SequenceExpression:
			e = x.Sequence[0]
		case *ast.DotExpression:
			e = x.Left
		case *ast.PrivateDotExpression:
			e = x.Left
		case *ast.BracketExpression:
			e = x.Left
		case *ast.CallExpression:
			e = x.Callee
		case *ast.OptionalChain:
			e = x.Expression
		case *ast.Optional:
			e = x.Expression
		case *ast.UnaryExpression:
			if !x.Postfix {
				return x.Idx
			}
			e = x.Operand
		case *ast.TemplateLiteral:
			if x.Tag == nil {
				return x.OpenQuote
			}
			e = x.Tag
		default:
			return e.Idx0()
		}
	}
}

// A lexeme is a word, a literal or one byte of punctuation.
type lexeme struct{ start, end, depth int }

type lexed struct {
	src  string
	list []lexeme
}

// operator gives the depth of brackets at the operator of e: the last lexeme
// in front of its right operand that opens no parenthesis.
func (l *lexed) operator(e *ast.BinaryExpression) (int, bool) {
	i := l.index(e.Right)
	if i < 0 {
		return 0, false
	}
	word, op := l.src[l.list[i].start:l.list[i].end], e.Operator.String()
	return l.list[i].depth, word == op || len(op) == 2 && word == "=" && i > 0 && l.src[l.list[i-1].start] == op[0]
}

// index is the last lexeme in front of e that opens no parenthesis, or -1.
func (l *lexed) index(e ast.Expression) int {
	at := int(leftmost(e)) - 1
	i := sort.Search(len(l.list), func(i int) bool { return l.list[i].start >= at }) - 1
	for i >= 0 && l.src[l.list[i].start] == '(' {
		i--
	}
	return i
}

// before gives the depth of brackets there.
func (l *lexed) before(e ast.Expression) (int, bool) {
	i := l.index(e)
	if i < 0 {
		return 0, false
	}
	return l.list[i].depth, true
}

// lexemes reads the text of prog. What is a regular expression and what a
// division, the tree knows.
func lexemes(prog *ast.Program) *lexed {
	regexps := map[int]int{}
	w := &walker{seen: map[string]bool{}, visit: func(e ast.Expression) {
		if r, ok := e.(*ast.RegExpLiteral); ok {
			regexps[int(r.Idx)-1] = len(r.Literal)
		}
	}}
	for _, s := range prog.Body {
		w.node(s)
	}
	l := &lexed{src: prog.File.Source()}
	s := &scanner{src: l.src}
	depth, templates := 0, []int{}
	for s.pos < len(s.src) {
		start, c := s.pos, s.src[s.pos]
		inText := false // a template goes on
		switch {
		case c == '/' && regexps[start] > 0:
			s.pos += regexps[start]
		case c == '/' && s.peek(1) == '/':
			end := strings.IndexAny(s.src[start:], "\n\r\u2028\u2029")
			if end < 0 {
				end = len(s.src) - start
			}
			s.pos += end
			continue
		case c == '/' && s.peek(1) == '*':
			s.skipTo("*/", true)
			continue
		case c == '"' || c == '\'':
			s.quoted(c)
		case c == '`':
			s.pos++
			inText = true
		case c == '(' || c == '[' || c == '{':
			s.pos++
			l.list = append(l.list, lexeme{start, s.pos, depth})
			depth++
			continue
		case c == ')' || c == ']' || c == '}':
			s.pos++
			depth--
			if n := len(templates) - 1; c == '}' && n >= 0 && templates[n] == depth {
				templates = templates[:n]
				inText = true
			}
		default:
			r, n := utf8.DecodeRuneInString(s.src[start:])
			if unicode.IsSpace(r) || r == '\ufeff' {
				s.pos += n
				continue
			}
			s.pos += n
			for isWordByte(c) && s.pos < len(s.src) && isWordByte(s.src[s.pos]) {
				r, n = utf8.DecodeRuneInString(s.src[s.pos:])
				if unicode.IsSpace(r) || r == '\ufeff' {
					break
				}
				s.pos += n
			}
		}
		l.list = append(l.list, lexeme{start, s.pos, depth})
		if inText && s.templateText() {
			templates = append(templates, depth)
			depth++
		}
	}
	return l
}

// templateText moves past the text of a template; it reports whether an
// expression follows.
func (s *scanner) templateText() bool {
	for ; s.pos < len(s.src); s.pos++ {
		switch c := s.src[s.pos]; {
		case c == '\\':
			s.pos++
		case c == '`':
			s.pos++
			return false
		case c == '$' && s.peek(1) == '{':
			s.pos += 2
			return true
		}
	}
	return false
}
