package script

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/parser"
	"github.com/evanw/esbuild/pkg/api"
	"github.com/go-sourcemap/sourcemap"
)

// A Tree is a parsed program. Where the engine's parser lacks the syntax of
// the code, the code was rewritten first: Helpers are then the declarations
// that the rewritten code uses, taken out of Program, and all positions are
// mapped back to what the author wrote.
type Tree struct {
	Program *ast.Program
	Helpers []ast.Statement
	Text    string // what was parsed, without the helpers
	Lowered bool
}

// HelperFile is the file name of positions inside the helpers. Everything else
// is mapped back to the author's file.
const HelperFile = "helpers.js"

// Column is the column of a position in f, counted from one as ever: columns
// that were mapped back count from zero.
func Column(f *file.File, pos file.Position) int {
	if f.Name() == HelperFile && pos.Filename != HelperFile {
		return pos.Column + 1
	}
	return pos.Column
}

// ParseTree parses prefix+code+suffix. It is the one place that decides what
// syntax tools may use: the runtime and the checks of a document both ask it.
// An error is a parser.ErrorList; its positions are those of the whole text.
func ParseTree(name, prefix, code, suffix string) (tree *Tree, err error) {
	// The parsers are not ours, and one is known to panic on some errors.
	defer func() {
		if r := recover(); r != nil {
			tree, err = nil, errorAt(file.Position{Filename: name, Line: 1 + strings.Count(prefix, "\n"), Column: 1}, "the code confuses the parser; simplify it")
		}
	}()
	text := prefix + code + suffix
	prog, err := parser.ParseFile(nil, name, text, 0, parser.WithDisableSourceMaps)
	if err == nil {
		if at := htmlComment(prog); at >= 0 {
			return nil, errorAt(prog.File.Position(at), "comments in the manner of HTML (<!--) are not supported; write // instead")
		}
		if !mayHaveNewFlags(code) && !mayNeedLowering(code) || !needsLowering(prog) {
			return &Tree{Program: prog, Text: text}, nil
		}
	} else if !mayNeedLowering(code) {
		return nil, explained(err, text)
	}
	return lower(name, text)
}

// fieldWord is the text up to an error, at the mark behind a word or the one after, where that word
// is none that the parser takes for the name of a field.
var fieldWord = regexp.MustCompile(`(^|[^\w$.])(get|set|async)\s*[=;}]?\s*$`)

// explained adds to an error what to write instead, for classes that are right
// in the language and not read by the engine's parser.
func explained(err error, text string) error {
	var list parser.ErrorList
	if !errors.As(err, &list) || len(list) == 0 {
		return err
	}
	e := list[0]
	if strings.HasPrefix(e.Message, "Invalid destructuring binding target") {
		e.Message += "; a list with defaults in it that has a default itself ([a = 1] = []) is not supported in a pattern: take it apart in a statement of its own"
	}
	if !strings.Contains(text, "class") {
		return err
	}
	lines := strings.Split(text, "\n")
	if n := e.Position.Line - 1; strings.HasPrefix(e.Message, "Unexpected token") && n >= 0 && n < len(lines) &&
		fieldWord.MatchString(lines[n][:min(max(e.Position.Column-1, 0), len(lines[n]))]) {
		e.Message += "; a field with the name get, set or async needs quotes around its name"
	}
	return err
}

// Explain does the same for a message of the engine's compiler.
func Explain(message string) string {
	if strings.Contains(message, "'super' keyword unexpected here") {
		return message + "; in the initialiser of a field it is not supported: set the field in the constructor, or a static one in a static block; in an async generator it cannot be called with ?. or as a tag, or deleted"
	}
	return message
}

func errorAt(pos file.Position, message string) error {
	return parser.ErrorList{&parser.Error{Position: pos, Message: message}}
}

// mayNeedLowering is a cheap test for async iteration. Too many hits cost time
// for code that does not parse anyway.
func mayNeedLowering(code string) bool {
	return strings.Contains(code, "await") && strings.Contains(code, "for") ||
		strings.Contains(code, "async") && strings.Contains(code, "*")
}

// options make esbuild rewrite what the engine lacks and print the rest as it
// is.
func options(name string) api.TransformOptions {
	return api.TransformOptions{
		Target: api.ESNext, Loader: api.LoaderJS, Charset: api.CharsetUTF8, LegalComments: api.LegalCommentsNone,
		Supported: map[string]bool{"async-generator": false, "for-await": false,
			"regexp-match-indices": false, "regexp-set-notation": false},
		Sourcemap: api.SourceMapExternal, SourcesContent: api.SourcesContentExclude, Sourcefile: name,
		LogLevel: api.LogLevelSilent,
	}
}

// maxCommas bounds the work of esbuild, which takes time by the square of the
// length of a comma expression.
const maxCommas = 6000

// lower rewrites text with esbuild and parses the outcome.
func lower(name, text string) (*Tree, error) {
	if strings.Count(text, ",") > maxCommas {
		return nil, errorAt(file.Position{Filename: name, Line: 1, Column: 1},
			fmt.Sprintf("the code uses syntax that has to be rewritten for this engine, and has more than %d commas, which is too long for that; split it", maxCommas))
	}
	out := api.Transform(text, options(name))
	if wrong := append(out.Errors, legacy(out.Warnings)...); len(wrong) > 0 {
		m, pos := wrong[0], file.Position{Filename: name, Line: 1, Column: 1}
		if m.Location != nil {
			pos.Line, pos.Column = m.Location.Line, m.Location.Column+1
		}
		return nil, errorAt(pos, m.Text)
	}
	back, err := sourcemap.Parse("", out.Map)
	if err != nil {
		return nil, errorAt(file.Position{Line: 1, Column: 1}, "the code cannot be rewritten for this engine")
	}
	printed := string(out.Code)
	prog, err := parser.ParseFile(nil, HelperFile, printed, 0, parser.WithDisableSourceMaps)
	if err != nil {
		var list parser.ErrorList
		if errors.As(err, &list) && len(list) > 0 {
			if _, _, line, col, ok := back.Source(list[0].Position.Line, list[0].Position.Column); ok {
				return nil, errorAt(file.Position{Filename: name, Line: line, Column: col + 1}, list[0].Message)
			}
		}
		return nil, err
	}
	n, bad := helperCount(printed, prog)
	if own, any := replaceHelpers(printed, prog.Body[:n]); any && bad == nil {
		if prog, err = parser.ParseFile(nil, HelperFile, own, 0, parser.WithDisableSourceMaps); err != nil {
			return nil, err
		}
		printed = own
		mendGenerators(prog)
		checkSteps(prog)
	}
	prog.File.SetSourceMap(back)
	t := &Tree{Program: prog, Text: printed, Lowered: true}
	if bad != nil {
		return t, errorAt(prog.File.Position(int(bad.Idx0())-1), "the code closes a brace that it did not open, or uses a name of the runtime that begins with __")
	}
	t.takeHelpers(printed, n)
	return t, nil
}

// legacy are the warnings that we take for errors.
func legacy(list []api.Message) (out []api.Message) {
	for _, m := range list {
		if strings.Contains(m.Text, "HTML") {
			m.Text = "comments in the manner of HTML are not supported; write // instead"
			out = append(out, m)
		}
	}
	return out
}

// helperCount counts the declarations that esbuild put in front of prog. Only
// text that esbuild is known to print counts, so that nothing which stands in
// front of the function can be the author's: bad is the first that does.
func helperCount(printed string, prog *ast.Program) (n int, bad ast.Statement) {
	known := knownHelpers()
	for n < len(prog.Body) {
		v, ok := prog.Body[n].(*ast.VariableStatement)
		if !ok {
			break
		}
		if !known[statementText(printed, v)] {
			return n, v
		}
		n++
	}
	return n, nil
}

// takeHelpers moves the first n declarations out of the program.
func (t *Tree) takeHelpers(printed string, n int) {
	t.Helpers = t.Program.Body[:n:n]
	t.Program.Body = t.Program.Body[n:]
	if n > 0 {
		t.Text = printed[int(t.Helpers[n-1].Idx1())-1:]
	}
}

// Adopt moves the helpers and their declarations into fn, in front of what
// stands there.
func (t *Tree) Adopt(fn *ast.FunctionLiteral) {
	fn.Body.List = append(append([]ast.Statement{}, t.Helpers...), fn.Body.List...)
	fn.DeclarationList = append(fn.DeclarationList, t.Program.DeclarationList...)
	t.Program.DeclarationList = nil
}

func statementText(text string, s ast.Statement) string {
	from, to := int(s.Idx0())-1, int(s.Idx1())-1
	if from < 0 || to > len(text) || from >= to {
		return ""
	}
	return text[from:to]
}

// knownHelpers are the declarations that esbuild adds.
var knownHelpers = sync.OnceValue(func() map[string]bool {
	known := map[string]bool{}
	for _, sample := range []string{
		"async function* f() { yield* f(); await 1; for await (const x of f()); }",
		"async function f() { for await (const x of f()); }",
		"async function* f() { yield 1 }",
		"class A { async *#p() { yield super.x; for await (const x of this.#p()) await x } }",
	} {
		printed := string(api.Transform(sample, options("")).Code)
		prog, err := parser.ParseFile(nil, "", printed, 0, parser.WithDisableSourceMaps)
		if err != nil {
			continue // then that helper is unknown, and what needs it is refused
		}
		for _, s := range prog.Body {
			if v, ok := s.(*ast.VariableStatement); ok {
				known[statementText(printed, v)] = true
			}
		}
	}
	return known
})
