package script

import (
	"errors"
	"fmt"
	"strings"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/parser"
)

// MaxBytes is the largest code that is read at all.
const MaxBytes = 64 << 10

// The body of a tool is the body of an async function, so that return and
// await work at its top. The newlines keep a trailing line comment from
// swallowing the end, and shift line numbers by exactly one.
const (
	prefix = "(async function(){\n"
	suffix = "\n})"
)

// Problem is one reason why the code cannot run. Line and Column are 1-based
// positions inside the code; columns count bytes.
type Problem struct {
	Line, Column int
	Reason       string // "code-syntax", "code-too-large", "code-too-deep"
	Message      string
}

// Parse reads code and says what it uses. With a problem the facts are empty.
// It never panics and is safe for concurrent use.
func Parse(code string) (Facts, []Problem) {
	_, body, problem := parse(code)
	if problem != nil {
		return Facts{}, []Problem{*problem}
	}
	return collect(body), nil
}

// maxCompileDepth is the deepest tree that Check compiles: the compiler needs
// the square of it, 15 s for a chain of 40,000 operators.
const maxCompileDepth = 500

// Check is Parse and, beyond it, what only the compiler finds, such as a name
// that is declared twice. It costs about twice as much. An expression that is
// nested very deep is not compiled here; a test run is, under a time limit.
func Check(code string) []Problem {
	prog, body, problem := parse(code)
	if problem == nil && depth(body) <= maxCompileDepth {
		expand(body)
		problem = compile(prog)
	}
	if problem != nil {
		return []Problem{*problem}
	}
	return nil
}

// expand puts regular expressions into the form in which they run.
func expand(body *ast.BlockStatement) {
	w := &walker{seen: map[string]bool{}, visit: func(e ast.Expression) {
		if r, ok := e.(*ast.RegExpLiteral); ok {
			r.Pattern, _ = Pattern(r.Pattern, r.Flags)
		}
	}}
	w.statement(body)
}

func parse(code string) (prog *ast.Program, body *ast.BlockStatement, problem *Problem) {
	if len(code) > MaxBytes {
		return nil, nil, &Problem{1, 1, "code-too-large", fmt.Sprintf("the code has %d bytes, at most %d are read", len(code), MaxBytes)}
	}
	if p := scan(code); p != nil {
		return nil, nil, p
	}
	// The parser is not ours; a defect in it must not take the process down.
	defer func() {
		if r := recover(); r != nil {
			prog, body = nil, nil
			problem = &Problem{1, 1, "code-syntax", "the code confuses the parser; simplify it"}
		}
	}()
	tree, err := ParseTree("", prefix, code, suffix)
	if err != nil {
		return nil, nil, syntaxProblem(code, err)
	}
	fn := wrapped(tree, len(code))
	if fn == nil {
		return nil, nil, &Problem{1, 1, "code-syntax", "the code closes a brace that it did not open"}
	}
	prog, body = tree.Program, fn.Body
	if refused := Refuse(tree, fn); len(refused) > 0 {
		p := refused[0]
		p.Line = max(p.Line-1, 1)
		return nil, nil, &p
	}
	return prog, body, nil
}

// wrapped gives the body of the wrapper, provided that the whole program is
// exactly the one function that the wrapper opens, closed by the wrapper's own
// brace. Code such as "}, function(){" has another shape.
func wrapped(tree *Tree, codeLen int) *ast.FunctionLiteral {
	prog := tree.Program
	if len(prog.Body) != 1 {
		return nil
	}
	st, ok := prog.Body[0].(*ast.ExpressionStatement)
	if !ok {
		return nil
	}
	fn, ok := st.Expression.(*ast.FunctionLiteral)
	if !ok || !fn.Async || fn.Generator || fn.Name != nil || fn.Body == nil {
		return nil
	}
	// Indexes of the parser are 1-based offsets.
	if !tree.Lowered && fn.Body.RightBrace != file.Idx(len(prefix)+codeLen+1+1) {
		return nil
	}
	return fn
}

// depth is that of the deepest expression or statement below body.
func depth(body *ast.BlockStatement) int {
	w := &walker{seen: map[string]bool{}}
	w.node(body)
	return w.deepest
}

// syntaxProblem takes the first error of the parser.
func syntaxProblem(code string, err error) *Problem {
	var list parser.ErrorList
	if !errors.As(err, &list) || len(list) == 0 {
		return &Problem{1, 1, "code-syntax", "the code is not valid JavaScript"}
	}
	e := list[0] // what follows the first one is mostly its echo
	line, col := e.Position.Line-1, e.Position.Column
	if lines := strings.Count(code, "\n") + 1; line > lines {
		// The parser ran into the end of the wrapper.
		last := code[strings.LastIndexByte(code, '\n')+1:]
		return &Problem{lines, len(last) + 1, "code-syntax", "the code ends too early: a bracket, brace, string or comment is not closed"}
	}
	return &Problem{max(line, 1), max(col, 1), "code-syntax", hint(e.Message)}
}

// hint turns the parser's message into ours, and names the syntax that this
// engine lacks where the code may have used it.
func hint(msg string) string {
	msg = strings.TrimPrefix(msg, "SyntaxError: ")
	if msg == "" {
		msg = "not valid JavaScript"
	}
	msg = strings.ToLower(msg[:1]) + msg[1:]
	for _, word := range []string{"await", "import", "export", "token *", "async"} {
		if strings.Contains(msg, word) && !strings.Contains(msg, "supported") {
			return msg + " (for await, async generators, import and export are not supported)"
		}
	}
	return msg
}

// compile finds early errors. The compiler reports by value and by panic.
func compile(prog *ast.Program) (problem *Problem) {
	defer func() {
		if r := recover(); r != nil {
			problem = &Problem{1, 1, "code-syntax", "the code confuses the compiler; simplify it"}
		}
	}()
	if _, err := goja.CompileAST(prog, false); err != nil {
		p := &Problem{1, 1, "code-syntax", "the code does not compile"}
		var ce *goja.CompilerSyntaxError
		if errors.As(err, &ce) {
			p.Message = hint(Explain(ce.Message))
			if ce.File != nil {
				pos := ce.File.Position(ce.Offset)
				p.Line, p.Column = max(pos.Line-1, 1), max(Column(ce.File, pos), 1)
			}
		}
		return p
	}
	return nil
}
