package js

import (
	"encoding/json"

	"github.com/dop251/goja"

	"github.com/toolwarrant/toolwarrant/executor/worker"
	"github.com/toolwarrant/toolwarrant/fault"
)

// maxRequest bounds the arguments of one brokered operation, in bytes of JSON.
const maxRequest = 16 << 20

// encode writes values as one JSON array; bytes become {"$bytes": base64}.
func (s *session) encode(helper string, args []goja.Value) []byte {
	w := writer{s: s, limit: maxRequest, seen: map[*goja.Object]bool{}, binary: true}
	ex := s.vm.Try(func() {
		w.raw("[")
		for i, a := range args {
			if i > 0 {
				w.raw(",")
			}
			if !w.value(nil, "", a) {
				w.raw("null")
			}
		}
		w.raw("]")
	})
	if ex == nil {
		return w.buf
	}
	if w.over {
		s.refuse(fault.InvalidInput, helper, "input-too-large", "["+helper+"] the arguments are larger than 16 MiB")
	}
	panic(ex)
}

// ask does one brokered operation and returns its result as JSON; a failure
// is thrown into the program.
func (s *session) ask(op worker.Op, helper string, args []byte) json.RawMessage {
	rep := s.do(op, args)
	if f := rep.Failure; f != nil {
		c := *f
		if c.Helper == "" {
			c.Helper = helper
		}
		if c.Code == "" {
			c.Code = string(fault.HelperRuntime)
		}
		s.fail(&c)
	}
	if len(rep.Result) == 0 {
		return json.RawMessage("null")
	}
	if !json.Valid(rep.Result) {
		s.refuse(fault.HelperRuntime, helper, "bad-answer", "["+helper+"] the helper gave an answer that cannot be read")
	}
	return rep.Result
}

func (s *session) parseJSON(raw json.RawMessage) goja.Value {
	if nesting(string(raw)) > maxJSONDepth {
		s.throwError("RangeError", "the answer of the helper nests too deeply")
	}
	return s.parser()(goja.Undefined(), s.vm.ToValue(string(raw)))
}

// forward is a function that sends its arguments to the broker as they are.
func (s *session) forward(op worker.Op, helper string) func(goja.FunctionCall) goja.Value {
	return func(call goja.FunctionCall) goja.Value {
		return s.parseJSON(s.ask(op, helper, s.encode(helper, call.Arguments)))
	}
}

const fsHelper = "safety.fs"

type fsMethod struct {
	name string
	op   worker.Op
}

var fsRead = []fsMethod{
	{"readText", worker.OpFSReadText}, {"list", worker.OpFSList}, {"exists", worker.OpFSExists},
	{"stat", worker.OpFSStat}, {"grep", worker.OpFSGrep}, {"lineCount", worker.OpFSLineCount},
	{"slice", worker.OpFSSlice}, {"cut", worker.OpFSCut}, {"sort", worker.OpFSSort}, {"find", worker.OpFSFind},
	{"workspace", worker.OpFSWorkspace}, {"readRoots", worker.OpFSReadRoots},
	{"searchInFiles", worker.OpFSSearchInFiles}, {"search", worker.OpFSSearchInFiles},
}

var fsWrite = []fsMethod{
	{"writeText", worker.OpFSWriteText}, {"writeBytes", worker.OpFSWriteBytes}, {"appendText", worker.OpFSAppendText},
	{"move", worker.OpFSMove}, {"delete", worker.OpFSDelete}, {"deleteDir", worker.OpFSDeleteDir},
}

// fsBoth read what they write.
var fsBoth = []fsMethod{{"editText", worker.OpFSEditText}, {"copy", worker.OpFSCopy}}

// safetyObject is the namespace of the helpers. fs is a member only where the
// call may read or write; the half that is not granted refuses.
func (s *session) safetyObject() goja.Value {
	safety := s.vm.NewObject()
	g := s.call.Globals
	if g.FSRead || g.FSWrite {
		fs := s.vm.NewObject()
		for _, group := range []struct {
			methods []fsMethod
			granted bool
		}{{fsRead, g.FSRead}, {fsWrite, g.FSWrite}, {fsBoth, g.FSRead && g.FSWrite}} {
			for _, f := range group.methods {
				s.method(fs, f.name, s.granted(group.granted, f.name, s.forward(f.op, fsHelper)))
			}
		}
		s.method(fs, "readBytes", s.granted(g.FSRead, "readBytes", s.readBytes))
		_ = safety.Set("fs", fs)
	}
	parse := s.vm.NewObject()
	s.method(parse, "html", s.parseHTML)
	s.method(parse, "dataGoKr", s.parseDataGoKr)
	for name, op := range map[string]worker.Op{"yaml": worker.OpParserYAML, "csv": worker.OpParserCSV, "xml": worker.OpParserXML} {
		s.method(parse, name, s.forward(op, "safety.parser"))
	}
	_ = safety.Set("parser", parse)
	_ = safety.Set("time", s.timeObject())
	s.method(safety, "check", s.checkValues)
	return safety
}

// readBytes gives a Uint8Array, which JSON alone cannot.
func (s *session) readBytes(call goja.FunctionCall) goja.Value {
	var got bytesJSON
	if err := json.Unmarshal(s.ask(worker.OpFSReadBytes, fsHelper, s.encode(fsHelper, call.Arguments)), &got); err != nil {
		s.refuse(fault.HelperRuntime, fsHelper, "bad-answer", "[safety.fs] the helper gave an answer that cannot be read")
	}
	return s.bytesValue(got.Bytes)
}

func (s *session) granted(ok bool, name string, serve func(goja.FunctionCall) goja.Value) func(goja.FunctionCall) goja.Value {
	if ok {
		return serve
	}
	return func(goja.FunctionCall) goja.Value {
		s.refuse(fault.Security, fsHelper, "not-granted", "[safety.fs] "+name+" is not granted to this tool")
		return nil
	}
}
