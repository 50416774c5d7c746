package js

import (
	"errors"
	"fmt"
	"sort"
	"strings"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/unistring"

	"github.com/toolwarrant/toolwarrant/executor/worker"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/spec/script"
)

// The wrapper of every body. It adds no line, so that positions are the
// author's; columns of the first line are corrected by len(opening).
const (
	opening = "(function($){return async function(){"
	closing = "\n}})"
)

// A program is a compiled body. It is immutable and shared by calls.
type program struct {
	name    string
	source  string
	code    *goja.Program
	charges []int    // amounts of the counter functions, in parameter order
	ops     []string // functions that stand for operators, next in that order
	outer   []string // bindings of the wrapper: the body declares them anew
	inner   []string // bindings of the body's own function
	needs   needs

	patterns map[string]string // expanded regular expressions, with what the author wrote
	methods  string            // the source, and names of methods that it may put together
	textual  bool              // some need methods of text of their own
}

// compile gives the compiled form of p, from the cache where it can.
func (r *Runtime) compile(p worker.Program, statics []worker.Static) (*program, *worker.Failure) {
	names := bindings(p.Params, statics)
	key := p.ID + "\x00" + p.Name + "\x00" + strings.Join(names, "\x00")
	if p.ID != "" {
		if c, ok := r.cache.Get(key); ok && c.source == p.Source {
			return c, nil
		}
	}
	if len(p.Source) > r.opts.MaxSourceBytes {
		return nil, &worker.Failure{Code: string(fault.ResourceLimit), Reason: "source",
			Message: fmt.Sprintf("the code has %d bytes; at most %d are accepted", len(p.Source), r.opts.MaxSourceBytes)}
	}
	c, failure := compileBody(p.Name, p.Source, names, r.bare)
	if failure == nil && p.ID != "" {
		r.cache.Add(key, c)
	}
	return c, failure
}

// bindings are the names that become identifiers, each once, params first.
func bindings(params []string, statics []worker.Static) []string {
	if len(params)+len(statics) == 0 {
		return nil
	}
	seen := make(map[string]bool, len(params)+len(statics))
	out := make([]string, 0, len(params)+len(statics))
	add := func(n string) {
		if bindable(n) && !seen[n] {
			seen[n] = true
			out = append(out, n)
		}
	}
	for _, p := range params {
		add(p)
	}
	for _, s := range statics {
		add(s.Name)
	}
	return out
}

// compileBody parses and instruments a body. bare leaves the instruments out;
// that is for tests which compare the two.
func compileBody(name, body string, names []string, bare bool) (*program, *worker.Failure) {
	if name == "" {
		name = "tool.js"
	}
	if f := checkNesting(body); f != nil {
		return nil, f
	}
	parsed, err := script.ParseTree(name, opening, body, closing)
	if err != nil {
		return nil, syntaxFailure(err)
	}
	tree := parsed.Program
	wrapper, fn := shape(parsed, len(body))
	if fn == nil {
		return nil, syntaxError("the braces of the code do not balance: it ends its own function", 0, 0)
	}
	if refused := script.Refuse(parsed, fn); len(refused) > 0 {
		r := refused[0]
		return nil, syntaxError(r.Message, r.Line, userColumn(r.Line, r.Column))
	}
	meter := meter{root: fn, given: names, file: tree.File, amounts: map[int]bool{}, bare: bare, bigints: namesBigInts(body), matches: matchesIn(body), shows: showsPatterns(body), integral: holdsIntegers(body), source: body, direct: map[string]int{}}
	meter.function(fn)
	for _, h := range parsed.Helpers {
		meter.stmt(h)
	}
	if meter.failure != nil {
		return nil, meter.failure
	}
	text := body
	if parsed.Lowered {
		parsed.Adopt(wrapper)
		text += parsed.Text + "asyncIterator" // the names that the rewritten code uses
	}
	unnamed := meter.unnamed || strings.Contains(body, "Reflect") || strings.Contains(body, "getOwnProperty")
	if unnamed {
		text += silent
	}
	p := &program{name: name, methods: text, source: body, needs: needsOf(text, meter.global, meter.held > 0), patterns: meter.patterns, textual: meter.textual}
	p.needs.matches = meter.matches || unnamed
	p.needs.readsDates = meter.dates
	p.needs.imul = unnamed || meter.global || meter.otherwise("imul") || meter.otherwise("clz32")
	p.needs.charCodes = unnamed || meter.global || meter.otherwise("fromCharCode")
	p.needs.splits = unnamed || meter.splits
	p.needs.indents = strings.Count(text, "stringify") > meter.compact
	for _, n := range errorKinds {
		if !meter.values[n] {
			delete(p.needs.words, n)
		}
	}
	for n := range meter.amounts {
		p.charges = append(p.charges, n)
	}
	sort.Ints(p.charges)

	p.ops = meter.operators
	declared := lexical(fn.Body.List)
	for _, n := range names {
		if declared[n] {
			p.outer = append(p.outer, n)
		} else {
			p.inner = append(p.inner, n)
		}
	}
	wrapper.ParameterList.List = nil
	for _, n := range p.charges {
		bind(wrapper, counterName(n))
	}
	for _, n := range p.ops {
		bind(wrapper, n)
	}
	for _, n := range p.outer {
		bind(wrapper, n)
	}
	for _, n := range p.inner {
		bind(fn, n)
	}
	if p.code, err = compileTree(tree); err != nil {
		return nil, syntaxFailure(err)
	}
	return p, nil
}

// compileTree turns a panic of the engine's compiler into an error.
func compileTree(tree *ast.Program) (p *goja.Program, err error) {
	defer func() {
		if r := recover(); r != nil {
			p, err = nil, errors.New("the code confuses the compiler; simplify it")
		}
	}()
	return goja.CompileAST(tree, false)
}

func bind(fn *ast.FunctionLiteral, name string) {
	id := &ast.Identifier{Name: unistring.NewFromString(name), Idx: fn.Idx0()}
	fn.ParameterList.List = append(fn.ParameterList.List, &ast.Binding{Target: id})
}

// shape returns the wrapper and the body's function when the text parsed into
// exactly that: one expression, one return, and the function ends at the brace
// that the wrapper wrote. Anything else closed the function by itself.
func shape(parsed *script.Tree, bodyLen int) (wrapper, fn *ast.FunctionLiteral) {
	tree := parsed.Program
	if len(tree.Body) != 1 {
		return nil, nil
	}
	stmt, ok := tree.Body[0].(*ast.ExpressionStatement)
	if !ok {
		return nil, nil
	}
	wrapper, ok = stmt.Expression.(*ast.FunctionLiteral)
	if !ok || wrapper.Async || wrapper.Generator || len(wrapper.Body.List) != 1 {
		return nil, nil
	}
	ret, ok := wrapper.Body.List[0].(*ast.ReturnStatement)
	if !ok {
		return nil, nil
	}
	fn, ok = ret.Argument.(*ast.FunctionLiteral)
	end := file.Idx(len(opening) + bodyLen + len(closing) - len("}})") + 1)
	if !ok || !fn.Async || fn.Generator {
		return nil, nil
	}
	if !parsed.Lowered && (fn.Body.LeftBrace != file.Idx(len(opening)) || fn.Body.RightBrace != end) {
		return nil, nil
	}
	return wrapper, fn
}

// lexical are the names that let, const and class declare directly in list.
func lexical(list []ast.Statement) map[string]bool {
	out := map[string]bool{}
	for _, s := range list {
		switch s := s.(type) {
		case *ast.LexicalDeclaration:
			for _, b := range s.List {
				targets(b.Target, out)
			}
		case *ast.ClassDeclaration:
			if s.Class.Name != nil {
				out[s.Class.Name.Name.String()] = true
			}
		}
	}
	return out
}

func targets(e ast.Expression, out map[string]bool) {
	script.Targets(e, func(e ast.Expression) {
		if id, ok := e.(*ast.Identifier); ok {
			out[id.Name.String()] = true
		}
	})
}

// body calls the body of the program and returns its promise. It must run
// inside the virtual machine.
func (s *session) body() (goja.Value, error) {
	values, err := s.bindingValues()
	if err != nil {
		return nil, err
	}
	p := s.prog
	args := make([]goja.Value, 0, len(p.charges)+len(p.outer))
	for _, n := range p.charges {
		args = append(args, s.vm.ToValue(s.charge(int64(n))))
	}
	for _, n := range p.ops {
		args = append(args, s.vm.ToValue(s.operator(n)))
	}
	for _, n := range p.outer {
		args = append(args, orUndefined(values[n]))
	}
	body := s.start(goja.Undefined(), args...)
	args = args[:0]
	for _, n := range p.inner {
		args = append(args, orUndefined(values[n]))
	}
	call, _ := s.callable(body)
	return call(goja.Undefined(), args...), nil
}

// bindingValues parses the arguments inside the virtual machine, which keeps
// the order of members, and lays the static variables over them.
func (s *session) bindingValues() (map[string]goja.Value, error) {
	obj, err := s.argsObject()
	if err != nil {
		return nil, err
	}
	if err := s.vm.GlobalObject().DefineDataProperty("args", obj, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE); err != nil {
		return nil, err
	}
	if len(s.prog.outer)+len(s.prog.inner) == 0 {
		return nil, nil
	}
	values := map[string]goja.Value{}
	own := map[string]bool{}
	for _, n := range obj.GetOwnPropertyNames() {
		own[n] = true
	}
	for _, n := range s.call.Program.Params {
		if own[n] {
			values[n] = obj.Get(n)
		}
	}
	for _, st := range s.call.Statics {
		values[st.Name] = s.vm.ToValue(st.Value)
	}
	return values, nil
}

func (s *session) argsObject() (*goja.Object, error) {
	text := string(s.call.Args)
	switch strings.TrimSpace(text) {
	case "", "{}":
		return s.vm.NewObject(), nil
	}
	if nesting(text) > maxJSONDepth {
		return nil, errors.New("the arguments nest too deeply")
	}
	obj, ok := s.parser()(goja.Undefined(), s.vm.ToValue(text)).(*goja.Object)
	if !ok {
		return nil, errors.New("the arguments are not a JSON object")
	}
	return obj, nil
}

func orUndefined(v goja.Value) goja.Value {
	if v == nil {
		return goja.Undefined()
	}
	return v
}
