package js

import (
	"fmt"
	"strconv"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"

	"github.com/dop251/goja/unistring"

	"github.com/toolwarrant/toolwarrant/executor/worker"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/spec/script"
)

// maxTreeDepth bounds the recursion of everything that walks the syntax tree.
const maxTreeDepth = 2500

// A meter rewrites a syntax tree so that running it is counted: every list of
// statements charges its length when it is entered, every turn of a loop and
// every call of a function at least one. A charge is a call, without
// arguments, of a parameter of the wrapper whose name no source text can spell
// (counterName), so that the program can neither read, call nor replace it.
// `with` could answer for such a name by a proxy and is refused.
type meter struct {
	file    *file.File
	amounts map[int]bool // charges in use
	depth   int
	strict  int  // elements of classes around, in which this is no global object
	global  bool // the global object may be used as a value
	dates   bool // a text may be read as a date
	held    int  // places where a collection makes an iterator that the program can hold
	unnamed bool // a built-in method may be called by a name that the source does not have
	matches bool // a match may be listed
	compact int  // calls of stringify without an indent
	failure *worker.Failure
	bare    bool // no charges are inserted

	bigints   bool     // there may be BigInts
	shows     bool     // a regular expression may be shown
	operators []string // functions that stand for operators

	integral bool                           // the program may have lists of integers
	direct   map[string]int                 // calls whose arguments were looked after
	splits   bool                           // a text may be split with a limit that is no small number
	unused   ast.Expression                 // of the statement that is looked at, whose value nobody takes
	source   string                         // the text of the program
	defined  map[string]bool                // members that it may define, as far as was asked
	own      map[string]bool                // names that the program binds or writes
	root     *ast.FunctionLiteral           // the body
	given    []string                       // names that are bound outside of it
	written  map[string][]script.Assignment // see boundOfName
	bounds   map[string]float64

	values   map[string]bool   // errors that are used as values, or may be replaced
	patterns map[string]string // expanded regular expressions, with what the author wrote
	textual  bool              // some need methods of text of their own
}

func counterName(n int) string { return "@" + strconv.Itoa(n) }

// charge is the function behind counterName(n).
func (s *session) charge(n int64) func(goja.FunctionCall) goja.Value {
	limit := s.call.Limits.MaxStatements
	return func(goja.FunctionCall) goja.Value {
		if used := s.used.Add(n); limit > 0 && used > limit {
			s.stop(&worker.Failure{Code: string(fault.ResourceLimit), Reason: "statements",
				Message: fmt.Sprintf("the code executed more than %d statements", limit)})
		}
		return goja.Undefined()
	}
}

func (m *meter) fail(at file.Idx, message string) {
	if m.failure == nil {
		pos := m.file.Position(int(at) - 1)
		m.failure = syntaxError(message, pos.Line, userColumn(pos.Line, script.Column(m.file, pos)))
	}
}

func (m *meter) call(n int, at file.Idx) ast.Expression {
	m.amounts[n] = true
	return &ast.CallExpression{
		Callee:          &ast.Identifier{Name: unistring.String(counterName(n)), Idx: at},
		LeftParenthesis: at, RightParenthesis: at,
	}
}

// list charges a list of statements, at least min, after its directives.
func (m *meter) list(list []ast.Statement, at file.Idx, min int) []ast.Statement {
	n, head := 0, 0
	for i, s := range list {
		if head == i && directive(s) {
			head++
			continue
		}
		if counted(s) {
			n++
		}
	}
	if n < min {
		n = min
	}
	for _, s := range list {
		m.stmt(s)
	}
	if n == 0 || m.bare {
		return list
	}
	out := make([]ast.Statement, 0, len(list)+1)
	out = append(out, list[:head]...)
	out = append(out, &ast.ExpressionStatement{Expression: m.call(n, at)})
	return append(out, list[head:]...)
}

// counted says whether a statement costs something where it stands; blocks
// and labels cost what they hold.
func counted(s ast.Statement) bool {
	switch s.(type) {
	case *ast.FunctionDeclaration, *ast.EmptyStatement, *ast.BlockStatement, *ast.LabelledStatement:
		return false
	}
	return true
}

func directive(s ast.Statement) bool {
	e, ok := s.(*ast.ExpressionStatement)
	if !ok {
		return false
	}
	_, ok = e.Expression.(*ast.StringLiteral)
	return ok
}

// body charges the single statement of a loop or a branch.
func (m *meter) body(s ast.Statement, min int) ast.Statement {
	switch s := s.(type) {
	case nil:
		return nil
	case *ast.BlockStatement:
		s.List = m.list(s.List, s.LeftBrace, min)
		return s
	}
	at := s.Idx0()
	return &ast.BlockStatement{LeftBrace: at, List: m.list([]ast.Statement{s}, at, min), RightBrace: at}
}

// block charges b in place.
func (m *meter) block(b *ast.BlockStatement, min int) {
	if b != nil {
		b.List = m.list(b.List, b.LeftBrace, min)
	}
}

func (m *meter) function(f *ast.FunctionLiteral) {
	if f == nil {
		return
	}
	m.params(f.ParameterList)
	m.block(f.Body, 1)
}

func (m *meter) params(p *ast.ParameterList) {
	if p == nil {
		return
	}
	m.bindings(p.List)
	m.expr(p.Rest)
}

func (m *meter) bindings(list []*ast.Binding) {
	for _, b := range list {
		if b != nil {
			m.expr(b.Target)
			m.expr(b.Initializer)
			if takesRest(b.Target) {
				b.Initializer = m.listed(b.Initializer)
			}
		}
	}
}

// deeper guards one level of recursion; it reports false when to turn back.
func (m *meter) deeper(at ast.Node) bool {
	m.depth++
	if m.depth > maxTreeDepth && m.failure == nil {
		m.failure = tooDeep()
	}
	return m.failure == nil
}

func (m *meter) stmt(s ast.Statement) {
	defer func() { m.depth-- }()
	if !m.deeper(s) {
		return
	}
	switch s := s.(type) {
	case *ast.BlockStatement:
		m.block(s, 0)
	case *ast.ExpressionStatement:
		m.unused = s.Expression
		m.expr(s.Expression)
	case *ast.VariableStatement:
		m.bindings(s.List)
	case *ast.LexicalDeclaration:
		m.bindings(s.List)
	case *ast.FunctionDeclaration:
		m.function(s.Function)
	case *ast.ClassDeclaration:
		m.class(s.Class)
	case *ast.ReturnStatement:
		m.expr(s.Argument)
	case *ast.ThrowStatement:
		m.expr(s.Argument)
	case *ast.LabelledStatement:
		m.stmt(s.Statement)
	case *ast.IfStatement:
		m.expr(s.Test)
		s.Consequent = m.body(s.Consequent, 0)
		s.Alternate = m.body(s.Alternate, 0)
	case *ast.ForStatement:
		switch in := s.Initializer.(type) {
		case *ast.ForLoopInitializerExpression:
			m.expr(in.Expression)
		case *ast.ForLoopInitializerVarDeclList:
			m.bindings(in.List)
		case *ast.ForLoopInitializerLexicalDecl:
			m.bindings(in.LexicalDeclaration.List)
		}
		m.expr(s.Test)
		m.expr(s.Update)
		s.Body = m.body(s.Body, 1)
	case *ast.ForInStatement:
		m.into(s.Into)
		m.expr(s.Source)
		s.Source = m.listed(s.Source)
		s.Body = m.body(s.Body, 1)
	case *ast.ForOfStatement:
		m.walked(s.Source)
		m.into(s.Into)
		m.expr(s.Source)
		s.Body = m.body(s.Body, 1)
		if m.matches {
			m.elements(s)
		}
	case *ast.WhileStatement:
		m.expr(s.Test)
		s.Body = m.body(s.Body, 1)
	case *ast.DoWhileStatement:
		m.expr(s.Test)
		s.Body = m.body(s.Body, 1)
	case *ast.SwitchStatement:
		m.expr(s.Discriminant)
		for _, c := range s.Body {
			m.expr(c.Test)
			c.Consequent = m.list(c.Consequent, c.Case, 0)
		}
	case *ast.TryStatement:
		if inner := script.NestedTry(s); inner != nil {
			m.stmt(inner) // one statement to the author
		} else {
			m.block(s.Body, 0)
		}
		if s.Catch != nil {
			m.expr(s.Catch.Parameter)
			m.block(s.Catch.Body, 0)
		}
		m.block(s.Finally, 0)
	case *ast.WithStatement:
		m.fail(s.With, "with statements are not supported; name the object instead")
	case nil, *ast.BranchStatement, *ast.EmptyStatement, *ast.DebuggerStatement:
	default:
		m.fail(s.Idx0(), fmt.Sprintf("a statement of this kind (%T) is not supported", s))
	}
}

func (m *meter) into(in ast.ForInto) {
	switch in := in.(type) {
	case *ast.ForIntoVar:
		m.bindings([]*ast.Binding{in.Binding})
	case *ast.ForDeclaration:
		m.expr(in.Target)
	case *ast.ForIntoExpression:
		m.expr(in.Expression)
		m.elementTargets(in.Expression)
	}
}
