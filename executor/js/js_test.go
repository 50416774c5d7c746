package js

import (
	"context"
	"encoding/json"
	"sync"
	"testing"

	"github.com/toolwarrant/toolwarrant/executor/worker"
)

// fakeBroker answers each operation from a table and remembers what it saw.
type fakeBroker struct {
	mu    sync.Mutex
	serve map[worker.Op]func(args []json.RawMessage) worker.BrokerReply
	seen  []worker.BrokerRequest
}

func (b *fakeBroker) Do(_ context.Context, req worker.BrokerRequest) worker.BrokerReply {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.seen = append(b.seen, req)
	var args []json.RawMessage
	if err := json.Unmarshal(req.Args, &args); err != nil {
		return worker.BrokerReply{Failure: &worker.Failure{Code: "INTERNAL", Message: err.Error()}}
	}
	if f := b.serve[req.Op]; f != nil {
		return f(args)
	}
	return worker.BrokerReply{Failure: &worker.Failure{Code: "SECURITY", Reason: "denied", Message: "denied"}}
}

func answer(text string) func([]json.RawMessage) worker.BrokerReply {
	return func([]json.RawMessage) worker.BrokerReply { return worker.BrokerReply{Result: json.RawMessage(text)} }
}

func run(t testing.TB, body, args string, opts ...func(*worker.Call)) worker.Reply {
	t.Helper()
	return runWith(t, nil, body, args, opts...)
}

var shared = New(Options{MaxStuck: 1000})

func runWith(t testing.TB, b worker.Broker, body, args string, opts ...func(*worker.Call)) worker.Reply {
	t.Helper()
	call := worker.Call{CallID: "c", Program: worker.Program{ID: body, Name: "tool.js", Source: body},
		Args:   json.RawMessage(args),
		Limits: worker.Limits{MaxStatements: 500000, TimeoutMillis: 60000, MaxOutputBytes: 1 << 20, MaxLogLines: 100}}
	dec := map[string]json.RawMessage{}
	if json.Unmarshal([]byte(args), &dec) == nil {
		for k := range dec {
			call.Program.Params = append(call.Program.Params, k)
		}
	}
	for _, o := range opts {
		o(&call)
	}
	rep, err := shared.Run(context.Background(), call, b)
	if err != nil {
		t.Fatal(err)
	}
	if rep.Failure == nil && !json.Valid(rep.Result) {
		t.Fatalf("result is not JSON: %q", rep.Result)
	}
	return rep
}

// outcome is one comparable line: the result, or code/reason/message.
func outcome(rep worker.Reply) string {
	if rep.Failure != nil {
		return rep.Failure.Code + "/" + rep.Failure.Reason + ": " + rep.Failure.Message
	}
	return string(rep.Result)
}

func TestLanguage(t *testing.T) {
	for _, tc := range []struct{ name, body, args, want string }{
		{"return", `return a + 1`, `{"a":1}`, `2`},
		{"undefined", `return`, `{}`, `null`},
		{"function", `return () => 1`, `{}`, `null`},
		{"await", `return await Promise.resolve(3)`, `{}`, `3`},
		{"order of members", `return args`, `{"z":1,"a":{"q":1,"b":2}}`, `{"z":1,"a":{"q":1,"b":2}}`},
		{"redeclared param", `const a = args.a * 2; return a`, `{"a":2}`, `4`},
		{"names with dashes", `return args["x-y"]`, `{"x-y":2}`, `2`},
		{"typed array", `return new Uint8Array([1,2])`, `{}`, `[1,2]`},
		{"date", `return new Date(0)`, `{}`, `"1970-01-01T00:00:00.000Z"`},
		{"bigint", `return {a: 1n}`, `{}`, `JS_ERROR/TypeError: the result holds a BigInt, which JSON cannot carry; use String(value)`},
		{"nested omitted", `return {a: undefined, b: [undefined, () => 1], c: Symbol()}`, `{}`, `{"b":[null,null]}`},
		{"numbers", `return [NaN, -0, 1e21, 0.1, 1e-7, 5]`, `{}`, `[null,0,1e+21,0.1,1e-7,5]`},
		{"boxed", `return [new Number(1), new String("x"), new Boolean(false)]`, `{}`, `[1,"x",false]`},
		{"timer", `return await new Promise(r => setTimeout(r, 1, "late"))`, `{}`, `"late"`},
		{"never settles", `await new Promise(() => {})`, `{}`, `JS_ERROR/never-settles: the code awaits a promise that nothing can settle any more`},
		{"thrown", `throw new TypeError("no")`, `{}`, `JS_ERROR/TypeError: no`},
		{"thrown string", `throw "x"`, `{}`, `JS_ERROR/non-error: the code threw "x"`},
		{"eval", `return (0, eval)("1")`, `{}`, `JS_ERROR/EvalError: eval is not available: code made at run time could not be counted; write the function out`},
		{"direct eval", `return eval("1")`, `{}`, `JS_ERROR/SyntaxError: eval is not available: code made at run time could not be counted; write the function out`},
		{"loop", `while (true) {}`, `{}`, `RESOURCE_LIMIT/statements: the code executed more than 500000 statements`},
		{"stack", `const f = () => f() + 1; f()`, `{}`, `RESOURCE_LIMIT/stack: the calls nest deeper than 1000; look for a recursion without an end`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := outcome(run(t, tc.body, tc.args)); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}
