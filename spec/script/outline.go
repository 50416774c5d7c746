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

// Outline is what a reader of the code looks for: the texts in it, those of
// them that stand under a name, the names beyond ASCII, the names that nobody
// declares and the runtime lacks (each once), and the loops that end by nothing
// that is written in them. Comments are not in it. Of the names that are
// missing, those of params and static variables are for the caller to leave out.
type Outline struct {
	Strings      []Piece
	Named        []Named
	Foreign      []Piece
	Missing      []Piece
	EndlessLoops []Piece
}

// Read gives the outline of code; that of code that does not parse is empty.
func Read(code string) Outline {
	prog, body, problem := parse(code)
	if problem != nil {
		return Outline{}
	}
	o := &outliner{file: prog.File}
	free := freeNames{declared: declared{}}
	w := &walker{seen: map[string]bool{}, visit: func(e ast.Expression) {
		o.expr(e)
		o.named(e)
		free.expr(e)
	}, visitStmt: func(s ast.Statement) {
		o.stmt(s)
		free.stmt(s)
	}}
	w.node(body)
	for _, id := range free.missing() {
		o.out.Missing = append(o.out.Missing, o.piece(id.Name.String(), id.Idx))
	}
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
		for _, el := range e.Body {
			switch el := el.(type) {
			case *ast.FieldDefinition:
				o.key(el.Key, el.Computed)
			case *ast.MethodDefinition:
				o.key(el.Key, el.Computed)
			}
		}
	case *ast.PropertyShort:
		o.name(&e.Name)
	case *ast.PropertyKeyed:
		o.key(e.Key, e.Computed)
	case *ast.PrivateDotExpression:
		o.name(&e.Identifier.Identifier)
	}
}

// key notes the name of a member, quoted or not. A computed one is a value.
func (o *outliner) key(k ast.Expression, computed bool) {
	switch k := k.(type) {
	case *ast.StringLiteral:
		if !computed {
			o.name(&ast.Identifier{Name: k.Value, Idx: k.Idx})
		}
	case *ast.PrivateIdentifier:
		o.name(&k.Identifier)
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
	case *ast.LabelledStatement:
		o.name(s.Label)
	case *ast.WhileStatement:
		o.loop(loop{"while", s.Test, nil, s.Body, s.While})
	case *ast.DoWhileStatement:
		o.loop(loop{"do", s.Test, nil, s.Body, s.Do})
	case *ast.ForStatement:
		o.loop(loop{"for", s.Test, s.Update, s.Body, s.For})
		if upwards(s) {
			o.loop(loop{"for", nil, s.Update, s.Body, s.For})
		}
	}
}
