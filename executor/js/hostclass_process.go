package js

import (
	"encoding/json"
	"strings"

	"github.com/dop251/goja"

	"github.com/toolwarrant/toolwarrant/executor/worker"
	"github.com/toolwarrant/toolwarrant/fault"
)

const processHelper = "ProcessBuilder"

// processBuilder is a command before it runs.
type processBuilder struct {
	argv   []string
	env    *goja.Object // a java.util.HashMap, once it was asked for
	dir    goja.Value
	input  string
	millis int64
	merge  bool
}

// process is a command that has ended: there is nothing that goes on beside
// the code.
type process struct {
	result worker.CommandResult
	err    string // standard error as the code sees it
}

// javaProcessBuilder is java.lang.ProcessBuilder as scripts commonly use it.
// Each command runs in the sandbox of the call, by way of the broker.
func (s *session) javaProcessBuilder() *goja.Object {
	streams := s.processStream()
	processes := s.processType(streams)
	t := s.newHostType("java.lang.ProcessBuilder", func(args []goja.Value) any {
		return &processBuilder{argv: s.commandWords(args), dir: goja.Null()}
	})
	chain := func(name string, set func(b *processBuilder, args []goja.Value)) {
		instanceMethod(t, name, func(b *processBuilder, this *goja.Object, args []goja.Value) any {
			set(b, args)
			return this
		})
	}
	instanceMethod(t, "command", func(b *processBuilder, this *goja.Object, args []goja.Value) any {
		if len(args) == 0 {
			return s.arrayOfText(b.argv)
		}
		b.argv = s.commandWords(args)
		return this
	})
	instanceMethod(t, "directory", func(b *processBuilder, this *goja.Object, args []goja.Value) any {
		if len(args) == 0 {
			return b.dir
		}
		b.dir = s.vm.ToValue(shown(args[0]))
		return this
	})
	instanceMethod(t, "environment", func(b *processBuilder, this *goja.Object, args []goja.Value) any {
		if b.env == nil {
			b.env, _ = s.vm.New(s.javaHashMap())
		}
		if len(args) == 0 {
			return b.env
		}
		s.putAll(b.env, args[0])
		return this
	})
	chain("redirectErrorStream", func(b *processBuilder, args []goja.Value) { b.merge = argument(args, 0).ToBoolean() })
	chain("input", func(b *processBuilder, args []goja.Value) { b.input = shown(argument(args, 0)) })
	chain("timeoutMs", func(b *processBuilder, args []goja.Value) { b.millis = max(argument(args, 0).ToInteger(), 0) })
	instanceMethod(t, "start", func(b *processBuilder, _ *goja.Object, _ []goja.Value) any {
		r := s.runProcess(b)
		return processes.instance(&process{result: r, err: r.Stderr})
	})
	instanceMethod(t, "run", func(b *processBuilder, _ *goja.Object, _ []goja.Value) any {
		return s.processResult(s.runProcess(b))
	})
	return t.ctor
}

// commandWords are the words of a command: the arguments themselves, or the
// items of the one that is a list.
func (s *session) commandWords(args []goja.Value) []string {
	if len(args) == 1 {
		if _, isObject := args[0].(*goja.Object); isObject {
			args = s.items(args[0])
		}
	}
	words := make([]string, len(args))
	for i, a := range args {
		if a = orUndefined(a); goja.IsUndefined(a) || goja.IsNull(a) {
			s.refuse(fault.InvalidInput, processHelper, "command-null", "[ProcessBuilder] a word of the command is null")
		}
		words[i] = a.String()
	}
	return words
}

// putAll puts the members of a map or of an object into a java.util.HashMap.
func (s *session) putAll(into *goja.Object, from goja.Value) {
	m, _ := s.reveal(into).(*javaMap)
	if other, ok := s.reveal(from).(*javaMap); ok {
		for _, e := range other.live() {
			s.put(m, e.key, e.value)
		}
		return
	}
	obj, ok := from.(*goja.Object)
	if !ok {
		s.refuse(fault.InvalidInput, processHelper, "environment", "[ProcessBuilder] environment takes an object or a map of names and values")
	}
	for _, name := range obj.Keys() {
		s.put(m, s.vm.ToValue(name), orUndefined(obj.Get(name)))
	}
}

// runProcess runs a command to its end.
func (s *session) runProcess(b *processBuilder) worker.CommandResult {
	c := worker.Command{Argv: b.argv, Env: [][2]string{}, Input: b.input, TimeoutMillis: b.millis, MergeOutput: b.merge}
	if !goja.IsNull(b.dir) {
		c.Dir = b.dir.String()
	}
	if b.env != nil {
		m, _ := s.reveal(b.env).(*javaMap)
		for _, e := range m.live() {
			c.Env = append(c.Env, [2]string{shown(e.key), shown(e.value)})
		}
	}
	args, err := json.Marshal([]worker.Command{c})
	if err != nil || len(args) > maxRequest {
		s.refuse(fault.InvalidInput, processHelper, "input-too-large", "[ProcessBuilder] the command is larger than 16 MiB")
	}
	var r worker.CommandResult
	if err := json.Unmarshal(s.ask(worker.OpProcessRun, processHelper, args), &r); err != nil {
		s.refuse(fault.HelperRuntime, processHelper, "bad-answer", "[ProcessBuilder] the helper gave an answer that cannot be read")
	}
	return r
}

// processResult is a result as a plain object.
func (s *session) processResult(r worker.CommandResult) *goja.Object {
	obj := s.vm.NewObject()
	for _, m := range []struct {
		name  string
		value any
	}{{"exitCode", r.ExitCode}, {"stdout", r.Stdout}, {"stderr", r.Stderr}, {"timedOut", r.TimedOut}, {"truncated", r.Truncated}, {"limitHit", r.LimitHit}} {
		_ = obj.Set(m.name, m.value)
	}
	return obj
}

// processType is what start gives, with the methods of java.lang.Process that
// mean something once a command has ended.
func (s *session) processType(streams *hostType) *hostType {
	t := s.newHostType("java.lang.Process", nil)
	method := func(name string, f func(p *process, args []goja.Value) any) {
		instanceMethod(t, name, func(p *process, _ *goja.Object, args []goja.Value) any { return f(p, args) })
	}
	method("waitFor", func(p *process, args []goja.Value) any {
		if len(args) > 0 { // with a time: whether it ended within it
			return !p.result.TimedOut
		}
		return p.result.ExitCode
	})
	method("exitValue", func(p *process, _ []goja.Value) any { return p.result.ExitCode })
	method("isAlive", func(*process, []goja.Value) any { return false })
	method("destroy", func(*process, []goja.Value) any { return goja.Undefined() })
	stream := func(text func(p *process) string) func(p *process, _ []goja.Value) any {
		return func(p *process, _ []goja.Value) any { return streams.instance(&textStream{text(p)}) }
	}
	out := stream(func(p *process) string { return p.result.Stdout })
	err := stream(func(p *process) string { return p.err })
	for name, f := range map[string]func(*process, []goja.Value) any{"getInputStream": out, "inputReader": out, "getErrorStream": err, "errorReader": err} {
		method(name, f)
	}
	method("result", func(p *process, _ []goja.Value) any { return s.processResult(p.result) })
	method("toJSON", func(p *process, _ []goja.Value) any { return s.processResult(p.result) })
	return t
}

// textStream is what is left of an output that is read.
type textStream struct{ rest string }

// processStream is a stream and a reader in one: bytes, lines or all as text.
func (s *session) processStream() *hostType {
	t := s.newHostType("java.io.InputStream", nil)
	method := func(name string, f func(x *textStream) any) {
		instanceMethod(t, name, func(x *textStream, _ *goja.Object, _ []goja.Value) any { return f(x) })
	}
	all := func(x *textStream) string {
		text := x.rest
		x.rest = ""
		return text
	}
	method("readAllBytes", func(x *textStream) any { return s.bytesValue([]byte(all(x))) })
	method("readAllAsString", func(x *textStream) any { return all(x) })
	method("toString", func(x *textStream) any { return x.rest })
	method("readLine", func(x *textStream) any {
		if x.rest == "" {
			return goja.Null()
		}
		line, rest, _ := strings.Cut(x.rest, "\n")
		x.rest = rest
		return strings.TrimSuffix(line, "\r")
	})
	method("lines", func(x *textStream) any {
		text := strings.TrimSuffix(all(x), "\n")
		if text == "" {
			return s.arrayOf(nil)
		}
		return s.arrayOfText(strings.Split(text, "\n"))
	})
	method("close", func(*textStream) any { return goja.Undefined() })
	return t
}
