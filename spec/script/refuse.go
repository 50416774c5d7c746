package script

import (
	"fmt"
	"slices"
	"sort"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/token"
)

// Lacking are the globals of the language that this runtime does not have, and
// what to do without. It is never changed. A program that names one and neither declares the name itself nor asks with
// typeof whether it is there would fail when it comes to the line; it is
// refused as a whole instead.
var Lacking = map[string]string{
	"SharedArrayBuffer":    "there are no threads to share with; use ArrayBuffer",
	"Atomics":              "there are no threads to share with; use plain assignments",
	"WebAssembly":          "write the function in JavaScript",
	"Float16Array":         "use Float32Array",
	"Temporal":             "use Date and Intl.DateTimeFormat",
	"DisposableStack":      "use try and finally",
	"AsyncDisposableStack": "use try and finally",
}

// Refuse lists what parses and would not run as the language demands, in the
// order of the text. What a change of the tree sets right it mends there. Lines
// and columns are those of the whole text that was parsed. fn is the function
// around the code.
func Refuse(t *Tree, fn *ast.FunctionLiteral) []Problem {
	r := &refusal{tree: t, declared: declared{}, intl: newIntlUses()}
	w := &walker{seen: map[string]bool{}, visit: r.expr, visitStmt: r.stmt}
	w.function(fn)
	regroup(t.Program, r.chains, func(at file.Idx) {
		r.add(at, "comparisons in a row are not grouped as the language says on this runtime; write parentheses")
	})
	awaitedPowers(t.Program, r.powers, func(at file.Idx) {
		r.add(at, "await in front of ** needs parentheses: write (await x) ** 2 or await (x ** 2)")
	})
	if r.arguments {
		mendArguments(fn, func(at file.Idx) { r.add(at, argumentsWrite) })
	}
	if r.inBlocks > 0 {
		leakedFunctions(fn, r.add)
	}
	for _, ref := range r.named {
		if !r.declared[ref.name] {
			r.add(ref.at, ref.message)
		}
	}
	r.intl.report(r.declared["Intl"], r.add)
	sort.SliceStable(r.found, func(i, j int) bool {
		a, b := r.found[i], r.found[j]
		return a.Line < b.Line || a.Line == b.Line && a.Column < b.Column
	})
	return r.found
}

type reference struct {
	name, message string
	at            file.Idx
}

type refusal struct {
	tree     *Tree
	declared declared
	named    []reference
	intl     intlUses
	found    []Problem
	expanded int // bytes of all expressions

	powers    []*ast.BinaryExpression // of what is awaited, see awaitedPowers
	chains    []*ast.BinaryExpression // relational ones in a row, see regroup
	arguments bool                    // that object is named, see mendArguments
	inBlocks  int                     // functions declared in blocks, see leakedFunctions
	last      *ast.FunctionLiteral    // the function visited last: some are twice
}

func (r *refusal) add(at file.Idx, message string) {
	pos := r.tree.Program.File.Position(int(at) - 1)
	r.found = append(r.found, Problem{pos.Line, Column(r.tree.Program.File, pos), "code-syntax", message})
}

func (r *refusal) stmt(s ast.Statement) {
	r.declared.stmt(s)
	r.intl.stmt(s)
	switch s := s.(type) {
	case *ast.FunctionDeclaration:
		r.inBlocks++
	case *ast.WithStatement:
		r.add(s.With, "with statements are not supported; name the object instead")
	case *ast.IfStatement:
		s.Test = keepTest(s.Test, s.Consequent, s.Alternate)
	case *ast.WhileStatement:
		s.Test = keepLoop(s.Test, s.Body)
	case *ast.ForStatement:
		s.Test = keepLoop(s.Test, s.Body)
	case *ast.TryStatement:
		nestTry(s)
	}
}

func (r *refusal) expr(e ast.Expression) {
	if u, ok := e.(*ast.UnaryExpression); !ok || !isIntl(u.Operand) { // typeof Intl asks for none of its classes
		r.declared.expr(e)
	}
	r.intl.expr(e)
	switch e := e.(type) {
	case *ast.BinaryExpression:
		if left, _ := relational(e); left != nil {
			r.chains = append(r.chains, left)
		}
		if _, awaited := e.Left.(*ast.AwaitExpression); awaited && e.Operator == token.EXPONENT && !r.tree.Lowered {
			r.powers = append(r.powers, e)
		}
	case *ast.PropertyShort:
		r.arguments = r.arguments || e.Name.Name == argumentsName
	case *ast.FunctionLiteral:
		if e != nil && e != r.last {
			r.last = e
			r.inBlocks -= declaredIn(e.Body)
		}
	case *ast.ArrowFunctionLiteral:
		if body, ok := e.Body.(*ast.BlockStatement); ok {
			r.inBlocks -= declaredIn(body)
		}
	case *ast.Identifier:
		if e != nil {
			r.arguments = r.arguments || e.Name == argumentsName
			if hint, ok := Lacking[e.Name.String()]; ok {
				r.named = append(r.named, reference{e.Name.String(), e.Name.String() + " does not exist on this runtime: " + hint, e.Idx})
			}
		}
	case *ast.RegExpLiteral:
		out, msg := Pattern(e.Pattern, e.Flags)
		if r.expanded += len(out); msg == "" && r.expanded > 16*maxExpanded {
			msg = "the regular expressions of the code become too large; name fewer properties of characters"
		}
		if msg != "" {
			r.add(e.Idx, msg)
		}
	case *ast.DotExpression:
		if e.Identifier.Name == "maxByteLength" {
			r.add(e.Identifier.Idx, fixedBuffers)
		}
		r.lastMatch(e.Left, e.Identifier.Name.String())
	case *ast.BracketExpression:
		if name, ok := e.Member.(*ast.StringLiteral); ok {
			r.lastMatch(e.Left, name.Value.String())
		}
	case *ast.ObjectLiteral:
		for _, p := range e.Value {
			if name, at := keyOf(p); name == "maxByteLength" {
				r.add(at, fixedBuffers) // whatever name the constructor goes by
			}
		}
	case *ast.CallExpression:
		r.made(e.Callee, e.ArgumentList, false)
	case *ast.NewExpression:
		r.made(e.Callee, e.ArgumentList, true)
	}
}

// LastMatch are the members of RegExp in which engines of the web keep what was
// matched last. They are none of the language, and not kept here.
var LastMatch = []string{"$1", "$2", "$3", "$4", "$5", "$6", "$7", "$8", "$9", "$_", "$&", "$+", "$`", "$'",
	"input", "lastMatch", "lastParen", "leftContext", "rightContext"}

// LastMatchAdvice says what to write instead of one of them.
func LastMatchAdvice(name string) string {
	return "RegExp." + name + " is not kept on this runtime; use the array that exec, match or matchAll gives"
}

// lastMatch refuses them where they stand.
func (r *refusal) lastMatch(class ast.Expression, name string) {
	if id, ok := class.(*ast.Identifier); ok && id.Name == "RegExp" && slices.Contains(LastMatch, name) {
		r.named = append(r.named, reference{"RegExp", LastMatchAdvice(name), id.Idx})
	}
}

// declaredIn counts the functions that a list of statements declares.
func declaredIn(b *ast.BlockStatement) (n int) {
	for _, s := range b.List {
		if _, ok := s.(*ast.FunctionDeclaration); ok {
			n++
		}
	}
	return n
}

const fixedBuffers = "array buffers cannot change their size on this runtime; make a larger one and copy"

// keyOf is the name of a member of an object literal, "" where it is computed.
func keyOf(p ast.Property) (string, file.Idx) {
	switch p := p.(type) {
	case *ast.PropertyShort:
		return p.Name.Name.String(), p.Name.Idx
	case *ast.PropertyKeyed:
		if s, ok := p.Key.(*ast.StringLiteral); ok {
			return s.Value.String(), s.Idx
		}
	}
	return "", 0
}

// made looks at calls of globals that cannot work.
func (r *refusal) made(callee ast.Expression, args []ast.Expression, isNew bool) {
	id, ok := callee.(*ast.Identifier)
	if !ok {
		return
	}
	refuse := func(format string, v ...any) {
		r.named = append(r.named, reference{id.Name.String(), fmt.Sprintf(format, v...), id.Idx})
	}
	switch name := id.Name.String(); name {
	case "eval", "Function":
		if name == "Function" || !isNew {
			refuse("%s is not available: code made at run time could not be counted; write the function out", name)
		}
	case "ArrayBuffer":
		if isNew && len(args) > 1 {
			refuse(fixedBuffers)
		}
	case "RegExp":
		if len(args) == 0 {
			return
		}
		pattern, ok := args[0].(*ast.StringLiteral)
		flags := ""
		if len(args) > 1 {
			f, isText := args[1].(*ast.StringLiteral)
			if !isText {
				return
			}
			flags = f.Value.String()
		}
		if ok {
			if _, msg := Pattern(pattern.Value.String(), flags); msg != "" {
				refuse("%s", msg)
			}
		}
	}
}
