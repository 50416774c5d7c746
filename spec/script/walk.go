package script

import "github.com/dop251/goja/ast"

// node visits n and everything below it. Unknown kinds of nodes cannot occur:
// the cases below are all that the parser makes, and a test that names every
// construct keeps it so. The recursion is as deep as the tree, which the scan
// and the size cap bound.
func (w *walker) node(n ast.Node) {
	switch n := n.(type) {
	case nil:
	case ast.Statement:
		w.statement(n)
	case ast.Expression:
		w.expr(n)
	case *ast.ExpressionBody:
		w.expr(n.Expression)
	case *ast.FieldDefinition:
		w.key(n.Key, n.Computed)
		outer := w.fn
		w.fn = nil // a function of its own, which has no literal
		w.expr(n.Initializer)
		w.fn = outer
	case *ast.MethodDefinition:
		w.key(n.Key, n.Computed)
		w.function(n.Body)
	case *ast.ClassStaticBlock:
		outer := w.fn
		w.fn = nil
		w.statement(n.Block)
		w.fn = outer
	case *ast.ForLoopInitializerExpression:
		w.expr(n.Expression)
	case *ast.ForLoopInitializerVarDeclList:
		w.bindings(n.List)
	case *ast.ForLoopInitializerLexicalDecl:
		w.bindings(n.LexicalDeclaration.List)
	case *ast.ForIntoVar:
		w.expr(n.Binding)
	case *ast.ForDeclaration:
		w.expr(n.Target)
	case *ast.ForIntoExpression:
		w.expr(n.Expression)
	}
}

func (w *walker) statement(s ast.Statement) {
	w.enter()
	defer w.leave()
	if w.visitStmt != nil && s != nil {
		w.visitStmt(s)
	}
	switch s := s.(type) {
	case *ast.BlockStatement:
		if s != nil {
			w.statements(s.List)
		}
	case *ast.CaseStatement:
		w.expr(s.Test)
		w.statements(s.Consequent)
	case *ast.DoWhileStatement:
		w.statement(s.Body)
		w.expr(s.Test)
	case *ast.ExpressionStatement:
		w.expr(s.Expression)
	case *ast.ForInStatement:
		w.node(s.Into)
		w.expr(s.Source)
		w.statement(s.Body)
	case *ast.ForOfStatement:
		w.node(s.Into)
		w.expr(s.Source)
		w.statement(s.Body)
	case *ast.ForStatement:
		w.node(s.Initializer)
		w.expr(s.Test)
		w.expr(s.Update)
		w.statement(s.Body)
	case *ast.IfStatement:
		w.expr(s.Test)
		w.statement(s.Consequent)
		w.statement(s.Alternate)
	case *ast.LabelledStatement:
		w.statement(s.Statement)
	case *ast.ReturnStatement:
		w.expr(s.Argument)
	case *ast.SwitchStatement:
		w.expr(s.Discriminant)
		for _, c := range s.Body {
			w.statement(c)
		}
	case *ast.ThrowStatement:
		w.expr(s.Argument)
	case *ast.TryStatement:
		w.statement(s.Body)
		if s.Catch != nil {
			w.expr(s.Catch.Parameter)
			w.statement(s.Catch.Body)
		}
		w.statement(s.Finally)
	case *ast.VariableStatement:
		w.bindings(s.List)
	case *ast.LexicalDeclaration:
		w.bindings(s.List)
	case *ast.WhileStatement:
		w.expr(s.Test)
		w.statement(s.Body)
	case *ast.WithStatement:
		w.expr(s.Object)
		w.statement(s.Body)
	case *ast.FunctionDeclaration:
		w.function(s.Function)
	case *ast.ClassDeclaration:
		w.class(s.Class)
	}
}

func (w *walker) statements(list []ast.Statement) {
	for _, s := range list {
		w.statement(s)
	}
}

func (w *walker) expr(e ast.Expression) {
	w.enter()
	defer w.leave()
	if w.visit != nil && e != nil {
		w.visit(e)
	}
	switch e := e.(type) {
	case *ast.Identifier:
		if e != nil {
			w.global(e.Name.String())
		}
	case *ast.DotExpression:
		if !w.member(e.Left, e.Identifier.Name.String()) {
			w.expr(e.Left)
		}
	case *ast.BracketExpression:
		key, literal := e.Member.(*ast.StringLiteral)
		if !literal || !w.member(e.Left, key.Value.String()) {
			w.expr(e.Left)
		}
		w.expr(e.Member)
	case *ast.Optional:
		w.expr(e.Expression)
	case *ast.OptionalChain:
		w.expr(e.Expression)
	case *ast.YieldExpression:
		w.expr(e.Argument)
	case *ast.AwaitExpression:
		w.expr(e.Argument)
	case *ast.ArrayLiteral:
		w.exprs(e.Value)
	case *ast.ArrayPattern:
		w.exprs(e.Elements)
		w.expr(e.Rest)
	case *ast.AssignExpression:
		w.expr(e.Left)
		w.expr(e.Right)
	case *ast.BinaryExpression:
		w.expr(e.Left)
		w.expr(e.Right)
	case *ast.CallExpression:
		w.expr(e.Callee)
		w.exprs(e.ArgumentList)
	case *ast.NewExpression:
		w.expr(e.Callee)
		w.exprs(e.ArgumentList)
	case *ast.ConditionalExpression:
		w.expr(e.Test)
		w.expr(e.Consequent)
		w.expr(e.Alternate)
	case *ast.PrivateDotExpression:
		w.expr(e.Left)
	case *ast.FunctionLiteral:
		w.function(e)
	case *ast.ArrowFunctionLiteral:
		w.params(e.ParameterList)
		w.node(e.Body)
	case *ast.ClassLiteral:
		w.class(e)
	case *ast.ObjectLiteral:
		w.properties(e.Value)
	case *ast.ObjectPattern:
		w.properties(e.Properties)
		w.expr(e.Rest)
	case *ast.Binding:
		if e != nil {
			w.expr(e.Target)
			w.expr(e.Initializer)
		}
	case *ast.PropertyShort:
		w.global(e.Name.Name.String())
		w.expr(e.Initializer)
	case *ast.PropertyKeyed:
		w.key(e.Key, e.Computed)
		w.expr(e.Value)
	case *ast.SpreadElement:
		w.expr(e.Expression)
	case *ast.SequenceExpression:
		w.exprs(e.Sequence)
	case *ast.TemplateLiteral:
		w.expr(e.Tag)
		w.exprs(e.Expressions)
	case *ast.UnaryExpression:
		w.expr(e.Operand)
	}
}

func (w *walker) exprs(list []ast.Expression) {
	for _, e := range list {
		w.expr(e)
	}
}

func (w *walker) properties(list []ast.Property) {
	for _, p := range list {
		w.expr(p)
	}
}

func (w *walker) bindings(list []*ast.Binding) {
	for _, b := range list {
		w.expr(b)
	}
}

func (w *walker) function(f *ast.FunctionLiteral) {
	if f == nil {
		return
	}
	if w.visit != nil {
		w.visit(f)
	}
	outer := w.fn
	w.fn = f
	w.params(f.ParameterList)
	w.statement(f.Body)
	w.fn = outer
}

func (w *walker) class(c *ast.ClassLiteral) {
	if c == nil {
		return
	}
	if w.visit != nil {
		w.visit(c)
	}
	w.expr(c.SuperClass)
	for _, el := range c.Body {
		w.node(el)
	}
}

func (w *walker) params(p *ast.ParameterList) {
	if p == nil {
		return
	}
	w.bindings(p.List)
	w.expr(p.Rest)
}

// key visits a property key, which names a variable only when computed.
func (w *walker) key(k ast.Expression, computed bool) {
	if computed {
		w.expr(k)
	}
}
