package script

import "github.com/dop251/goja/ast"

// The engine keeps the catch of a statement at hand while its finally runs:
// what the finally throws is caught by it, and the finally runs again. A
// statement that has only one of the two does not know the other.

// nestTry makes try A catch B finally C into try { try A catch B } finally C.
func nestTry(s *ast.TryStatement) {
	if s.Catch == nil || s.Finally == nil {
		return
	}
	inner := &ast.TryStatement{Try: s.Try, Body: s.Body, Catch: s.Catch}
	s.Body = &ast.BlockStatement{LeftBrace: s.Body.LeftBrace, List: []ast.Statement{inner}, RightBrace: s.Catch.Body.RightBrace}
	s.Catch = nil
}

// NestedTry gives the statement that nestTry put into s, which the author did
// not write as one of its own, or nil.
func NestedTry(s *ast.TryStatement) *ast.TryStatement {
	if s.Catch != nil || len(s.Body.List) != 1 {
		return nil
	}
	if inner, ok := s.Body.List[0].(*ast.TryStatement); ok && inner.Try == s.Try {
		return inner
	}
	return nil
}
