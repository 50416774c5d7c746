package script

import (
	"unicode/utf8"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
)

// Piece is a piece of the code and where it begins: 1-based, in bytes.
type Piece struct {
	Text   string `json:"text"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
}

// Outline is what a reader of the code looks for: the texts in it, the names
// beyond ASCII, and the loops that end by nothing that is written in them.
// Comments are not in it. Names of plain properties are not told apart from
// texts, and count as neither.
type Outline struct {
	Strings      []Piece
	Foreign      []Piece
	EndlessLoops []Piece
}

// Read gives the outline of code; that of code that does not parse is empty.
func Read(code string) Outline {
	prog, body, problem := parse(code)
	if problem != nil {
		return Outline{}
	}
	o := &outliner{file: prog.File}
	w := &walker{seen: map[string]bool{}, visit: o.expr, visitStmt: o.stmt}
	w.node(body)
	return o.out
}

type outliner struct {
	file *file.File
	out  Outline
}

func (o *outliner) piece(text string, at file.Idx) Piece {
	pos := o.file.Position(int(at) - 1)
	return Piece{text, max(pos.Line-1, 1), max(Column(o.file, pos), 1)}
}

func (o *outliner) expr(e ast.Expression) {
	switch e := e.(type) {
	case *ast.StringLiteral:
		o.out.Strings = append(o.out.Strings, o.piece(e.Value.String(), e.Idx))
	case *ast.TemplateLiteral:
		for _, el := range e.Elements {
			if el.Parsed != "" {
				o.out.Strings = append(o.out.Strings, o.piece(el.Parsed.String(), el.Idx-1)) // the parser points behind its first character
			}
		}
	case *ast.Identifier:
		if e != nil {
			o.name(e)
		}
	case *ast.DotExpression:
		o.name(&e.Identifier)
	case *ast.FunctionLiteral:
		if e.Name != nil {
			o.name(e.Name)
		}
	case *ast.ClassLiteral:
		if e.Name != nil {
			o.name(e.Name)
		}
	}
}

func (o *outliner) name(id *ast.Identifier) {
	text := id.Name.String()
	if len(text) != utf8.RuneCountInString(text) {
		o.out.Foreign = append(o.out.Foreign, o.piece(text, id.Idx))
	}
}

func (o *outliner) stmt(s ast.Statement) {
	switch s := s.(type) {
	case *ast.WhileStatement:
		o.loop("while", s.Test, s.Body, s.While)
	case *ast.DoWhileStatement:
		o.loop("do", s.Test, s.Body, s.Do)
	case *ast.ForStatement:
		o.loop("for", s.Test, s.Body, s.For)
	}
}

// loop notes a loop whose condition always holds and whose body never leaves
// it. A break or return anywhere below counts as a way out, be it that of an
// inner loop: what is noted has none.
func (o *outliner) loop(word string, test ast.Expression, body ast.Statement, at file.Idx) {
	if !always(test) {
		return
	}
	leaves := false
	w := &walker{
		seen: map[string]bool{},
		visit: func(e ast.Expression) {
			if _, yields := e.(*ast.YieldExpression); yields {
				leaves = true
			}
		},
		visitStmt: func(s ast.Statement) {
			switch s := s.(type) {
			case *ast.ReturnStatement, *ast.ThrowStatement:
				leaves = true
			case *ast.BranchStatement:
				leaves = leaves || s.Token.String() == "break" || s.Label != nil
			}
		},
	}
	w.statement(body)
	if !leaves {
		o.out.EndlessLoops = append(o.out.EndlessLoops, o.piece(word, at))
	}
}

// always reports whether a condition is a constant that holds.
func always(test ast.Expression) bool {
	switch t := test.(type) {
	case nil:
		return true
	case *ast.BooleanLiteral:
		return t.Value
	case *ast.NumberLiteral:
		switch n := t.Value.(type) {
		case int64:
			return n != 0
		case float64:
			return n != 0
		}
	}
	return false
}
