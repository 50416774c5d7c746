package js

import (
	"errors"
	"regexp"
	"strconv"

	"github.com/dop251/goja"
	"github.com/dop251/goja/parser"

	"github.com/toolwarrant/toolwarrant/executor/mask"
	"github.com/toolwarrant/toolwarrant/executor/worker"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/spec/script"
)

// maxMessage bounds the text of every error that leaves a call, in bytes.
const maxMessage = 8 << 10

// clip bounds text that may hold a secret: the executor masks it later and
// knows by the mark that a secret may have been cut.
func clip(s string, n int) string { return mask.Clip(s, n) }

func syntaxError(message string, line, column int) *worker.Failure {
	return &worker.Failure{Code: string(fault.JSError), Reason: "SyntaxError", Name: "SyntaxError",
		Message: clip(message, maxMessage), Line: line, Column: column}
}

// syntaxFailure takes the first error of the parser or of the compiler.
func syntaxFailure(err error) *worker.Failure {
	var list parser.ErrorList
	var compiler *goja.CompilerSyntaxError
	var reference *goja.CompilerReferenceError
	switch {
	case errors.As(err, &list) && len(list) > 0:
		pos := list[0].Position
		return syntaxError(list[0].Message, pos.Line, userColumn(pos.Line, pos.Column))
	case errors.As(err, &compiler) && compiler.File != nil:
		pos := compiler.File.Position(compiler.Offset)
		return syntaxError(script.Explain(compiler.Message), pos.Line, userColumn(pos.Line, script.Column(compiler.File, pos)))
	case errors.As(err, &reference) && reference.File != nil:
		pos := reference.File.Position(reference.Offset)
		return syntaxError(reference.Message, pos.Line, userColumn(pos.Line, script.Column(reference.File, pos)))
	}
	return syntaxError(err.Error(), 0, 0)
}

// userColumn takes the wrapper off a column.
func userColumn(line, column int) int {
	if line == 1 {
		column -= len(opening)
	}
	return max(column, 0)
}

// fail throws a helper failure into the program: a real Error that carries
// kind, helper and reason. The association with f is kept in a WeakMap that
// the program cannot reach, so that an object with the same fields is not one.
func (s *session) fail(f *worker.Failure) {
	panic(s.helperError(f))
}

func (s *session) helperError(f *worker.Failure) *goja.Object {
	obj, err := s.vm.New(s.ctor("Error"), s.vm.ToValue(clip(f.Message, maxMessage)))
	if err != nil {
		panic(err)
	}
	for _, p := range [][2]string{{"kind", f.Code}, {"helper", f.Helper}, {"reason", f.Reason}} {
		_ = obj.DefineDataProperty(p[0], s.vm.ToValue(p[1]), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	}
	s.hide(obj, f)
	return obj
}

func (s *session) lookup(obj *goja.Object) *worker.Failure {
	if known, ok := s.reveal(obj).(*worker.Failure); ok {
		f := *known
		return &f
	}
	return nil
}

// refuse throws a failure of a helper that runs inside the worker.
func (s *session) refuse(code fault.Code, helper, reason, message string) {
	s.fail(&worker.Failure{Code: string(code), Helper: helper, Reason: reason, Message: message})
}

// throwError throws a plain JavaScript error of a built-in kind.
func (s *session) throwError(name, message string) {
	obj, err := s.vm.New(s.ctor(name), s.vm.ToValue(message))
	if err != nil {
		panic(err)
	}
	panic(obj)
}

// thrown names what the program threw. Reading an error may run code of the
// program (getters, proxies), which stays under the limits of the call and
// cannot fail in a way that matters.
func (s *session) thrown(v goja.Value, stack []goja.StackFrame) (f *worker.Failure) {
	defer func() {
		if x := recover(); x != nil {
			f = jsError("Error", "the code threw an error that cannot be read")
		}
		if stop := s.stopped.Load(); stop != nil {
			f = stop
		}
	}()
	obj, ok := v.(*goja.Object)
	if !ok {
		f = jsError("non-error", "the code threw "+describe(v))
		f.Name = ""
		f.Line, f.Column = s.position(stack)
		return f
	}
	if f = s.lookup(obj); f == nil {
		f = s.readError(obj)
	}
	if stack == nil {
		if ex := s.vm.Try(func() { panic(obj) }); ex != nil {
			stack = ex.Stack()
		}
	}
	f.Line, f.Column = s.position(stack)
	return f
}

var errorName = regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_$]{0,63}$`)

// memberOfNothing is what the engine says of undefined and of null alike.
var memberOfNothing = regexp.MustCompile(`(?s)^Cannot read property '(.*)' of undefined(?: or null)?$`)

func (s *session) readError(obj *goja.Object) *worker.Failure {
	isError := false
	name, message := "", ""
	if failed := s.guardedCall(func() {
		isError = obj.ClassName() == "Error" || s.vm.InstanceOf(obj, s.ctor("Error"))
		name, message = primitiveString(obj.Get("name")), primitiveString(obj.Get("message"))
	}); failed != nil {
		if s.stopped.Load() != nil {
			return failed
		}
		return jsError("Error", "the code threw an object that cannot be read")
	}
	if !isError {
		f := jsError("non-error", "the code threw an object that is not an Error")
		if message != "" {
			f.Message += ": " + clip(message, maxMessage)
		}
		f.Name = ""
		return f
	}
	if !errorName.MatchString(name) {
		name = "Error"
	}
	if m := memberOfNothing.FindStringSubmatch(message); m != nil && name == "TypeError" {
		message = "Cannot read properties of undefined or null (reading '" + m[1] + "')"
	}
	return jsError(name, message)
}

func jsError(name, message string) *worker.Failure {
	return &worker.Failure{Code: string(fault.JSError), Reason: name, Name: name, Message: clip(message, maxMessage)}
}

func primitiveString(v goja.Value) string {
	s, _ := text(v)
	return s
}

// text gives the content of a primitive string. Objects are never exported:
// that copies them whole, reading every member.
func text(v goja.Value) (string, bool) {
	if _, isObj := v.(*goja.Object); isObj || v == nil {
		return "", false
	}
	s, ok := v.Export().(string)
	return s, ok
}

// describe shows a primitive that was thrown.
func describe(v goja.Value) string {
	if v == nil {
		return "undefined"
	}
	if _, ok := v.(*goja.Symbol); ok {
		return "a symbol"
	}
	shown := clip(v.String(), 1024)
	if _, ok := text(v); ok {
		return strconv.Quote(shown)
	}
	return shown
}

// position is the innermost frame that is the author's.
func (s *session) position(stack []goja.StackFrame) (line, column int) {
	if s.prog == nil {
		return 0, 0
	}
	for i := range stack {
		name, p := stack[i].SrcName(), stack[i].Position()
		if name == script.HelperFile && p.Filename != name {
			p.Column++ // columns that were mapped count from zero
			name = s.prog.name
		}
		if name == s.prog.name {
			return p.Line, userColumn(p.Line, p.Column)
		}
	}
	return 0, 0
}
