package script

import (
	"strings"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
)

// mayHaveNewFlags is a cheap test for a regular expression with the flag d or
// v: a slash, letters of flags, and one of the two among them.
func mayHaveNewFlags(code string) bool {
	for i := 0; i < len(code); i++ {
		if code[i] != '/' {
			continue
		}
		for i+1 < len(code) && strings.IndexByte("dgimsuvy", code[i+1]) >= 0 {
			i++
			if code[i] == 'd' || code[i] == 'v' {
				return true
			}
		}
	}
	return false
}

// needsLowering looks for what the engine parses and its compiler refuses:
// literals with the flag d or v, async generators.
func needsLowering(prog *ast.Program) bool {
	found := false
	w := &walker{seen: map[string]bool{}, visit: func(e ast.Expression) {
		switch e := e.(type) {
		case *ast.RegExpLiteral:
			found = found || strings.ContainsAny(e.Flags, "dv")
		case *ast.FunctionLiteral:
			found = found || e != nil && e.Async && e.Generator
		}
	}}
	for _, s := range prog.Body {
		w.node(s)
	}
	return found
}

// htmlComment finds "<!--", which scripts of the web take for a comment and
// the engine for operators. It gives the offset, or -1.
func htmlComment(prog *ast.Program) int {
	text := prog.File.Source()
	if !strings.Contains(text, "<!--") {
		return -1
	}
	at := -1
	w := &walker{seen: map[string]bool{}, visit: func(e ast.Expression) {
		b, ok := e.(*ast.BinaryExpression)
		if !ok || b.Operator != token.LESS {
			return
		}
		if not, ok := b.Right.(*ast.UnaryExpression); ok && not.Operator == token.NOT {
			if i := int(not.Idx) - 1; i > 0 && i < len(text) && strings.HasPrefix(text[i-1:], "<!--") {
				at = i - 1
			}
		}
	}}
	for _, s := range prog.Body {
		w.node(s)
	}
	return at
}
