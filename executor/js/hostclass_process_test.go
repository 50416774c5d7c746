package js

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolwarrant/toolwarrant/executor/worker"
)

// TestProcessBuilder: what a script writes, what the broker is asked, what the
// script gets.
func TestProcessBuilder(t *testing.T) {
	const ran = `{"exitCode":3,"stdout":"one\ntwo\n","stderr":"oops","timedOut":false,"truncated":true,"limitHit":"memory"}`
	const class = `const P = Java.type("java.lang.ProcessBuilder");`
	for _, tc := range []struct {
		body, want string
		asked      worker.Command
	}{
		{`return new P("a", "b").run()`, ran, worker.Command{Argv: []string{"a", "b"}}},
		{`return new P(["a", 1, true]).start()`, ran, worker.Command{Argv: []string{"a", "1", "true"}}},
		{`const l = new (Java.type("java.util.ArrayList"))(); l.add("a"); const p = new P(l).start(); return [p.waitFor(), p.exitValue(), p.isAlive(), p.waitFor(1, "SECONDS")]`,
			`[3,3,false,true]`, worker.Command{Argv: []string{"a"}}},
		{`const b = new P("a"); b.directory("/d").redirectErrorStream(true).input("in").timeoutMs(5); b.environment().put("K", "v"); b.environment({L: 2}); return [b.directory(), b.command(), b.run().exitCode]`,
			`["/d",["a"],3]`, worker.Command{Argv: []string{"a"}, Env: [][2]string{{"K", "v"}, {"L", "2"}}, Dir: "/d", Input: "in", TimeoutMillis: 5, MergeOutput: true}},
		{`const p = new P().command("x", "y").start(); const r = p.inputReader(); return [r.readLine(), r.readLine(), r.readLine(), p.getErrorStream().readAllAsString(), p.getInputStream().lines(), [...p.getErrorStream().readAllBytes()].length, String(p.getInputStream())]`,
			`["one","two",null,"oops",["one","two"],4,"one\ntwo\n"]`, worker.Command{Argv: []string{"x", "y"}}},
		{`return typeof new P("a").start().constructor + typeof new P("a").getClass`, `"undefinedundefined"`, worker.Command{Argv: []string{"a"}}},
		{`new P("a", null)`, `INVALID_INPUT/command-null: [ProcessBuilder] a word of the command is null`, worker.Command{}},
		{`new P("a").environment(1)`, `INVALID_INPUT/environment: [ProcessBuilder] environment takes an object or a map of names and values`, worker.Command{}},
		{`new P("a").run.call({})`, `JS_ERROR/TypeError: java.lang.ProcessBuilder.run was called on something else`, worker.Command{}},
	} {
		var asked worker.Command
		b := &fakeBroker{serve: map[worker.Op]func([]json.RawMessage) worker.BrokerReply{
			worker.OpClassLookup: answer(`true`),
			worker.OpProcessRun: func(args []json.RawMessage) worker.BrokerReply {
				if len(args) != 1 || json.Unmarshal(args[0], &asked) != nil {
					t.Errorf("asked %s", args)
				}
				return worker.BrokerReply{Result: json.RawMessage(ran)}
			},
		}}
		if got := outcome(runWith(t, b, class+tc.body, `{}`)); got != tc.want {
			t.Errorf("%s\ngot  %s\nwant %s", tc.body, got, tc.want)
		}
		if len(tc.asked.Argv) > 0 && tc.asked.Env == nil {
			tc.asked.Env = [][2]string{}
		}
		if diff := cmp.Diff(tc.asked, asked); diff != "" {
			t.Errorf("%s\n%s", tc.body, diff)
		}
	}
}

// TestProcessRefused: a refusal is an error that the code can read.
func TestProcessRefused(t *testing.T) {
	b := &fakeBroker{serve: map[worker.Op]func([]json.RawMessage) worker.BrokerReply{
		worker.OpClassLookup: answer(`true`),
		worker.OpProcessRun: func([]json.RawMessage) worker.BrokerReply {
			return worker.BrokerReply{Failure: &worker.Failure{Code: "SECURITY", Reason: "sandbox-unenforceable", Message: "no"}}
		},
	}}
	if got := outcome(runWith(t, b, `new (Java.type("java.lang.ProcessBuilder"))("a").start()`, `{}`)); got != "SECURITY/sandbox-unenforceable: no" {
		t.Error(got)
	}
}
