package process_test

import (
	"context"
	"encoding/json"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/toolwarrant/toolwarrant/executor/js"
	"github.com/toolwarrant/toolwarrant/executor/process"
	"github.com/toolwarrant/toolwarrant/executor/worker"
)

func call(code string) worker.Call {
	return worker.Call{
		CallID: "t", Program: worker.Program{ID: code, Name: "t.js", Source: code}, Args: json.RawMessage("{}"),
		Limits: worker.Limits{MaxStatements: 500_000, TimeoutMillis: 5000, MaxMemoryBytes: 128 << 20, MaxOutputBytes: 1 << 20, MaxLogLines: 1000, MaxLogBytes: 8 << 10},
	}
}

func open(t testing.TB, opts process.Options) *process.Runtime {
	t.Helper()
	r := process.New(opts)
	if err := r.Ready(context.Background()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r
}

func outcome(t testing.TB, r *process.Runtime, c worker.Call) string {
	t.Helper()
	return outcomeOf(t, r, c)
}

// runner is a runtime of either kind.
type runner interface {
	Run(context.Context, worker.Call, worker.Broker) (worker.Reply, error)
}

// js400 is the engine in this process, as a worker sets its collector.
func js400(t testing.TB) runner {
	old := debug.SetGCPercent(400)
	t.Cleanup(func() { debug.SetGCPercent(old) })
	return js.New(js.Options{})
}

func outcomeOf(t testing.TB, r runner, c worker.Call) string {
	t.Helper()
	rep, err := r.Run(context.Background(), c, nil)
	if err != nil {
		t.Fatal(err)
	}
	if f := rep.Failure; f != nil {
		return f.Code + "/" + f.Reason
	}
	return string(rep.Result)
}

func TestRun(t *testing.T) {
	r := open(t, process.Options{})
	iso, _ := json.Marshal(r.Isolation())
	t.Logf("isolation %s", iso)
	for _, tt := range []struct{ name, code, want string }{
		{"value", "return {a: 1 + 1}", `{"a":2}`},
		{"nothing", "", "null"},
		{"error", "throw new TypeError('x')", "JS_ERROR/TypeError"},
		{"statements", "for(;;);", "RESOURCE_LIMIT/statements"},
		{"stack", "function f(){return f()+1}; return f()", "RESOURCE_LIMIT/stack"},
		{"allocation at once", "return new Uint8Array(2**40).length", "RESOURCE_LIMIT/memory"},
		{"growing", "let s='x'; while(true) s+=s", "RESOURCE_LIMIT/memory"},
		{"time zone", "return new Intl.DateTimeFormat('en-US',{timeZone:'Asia/Seoul',hour:'2-digit',hour12:false}).format(new Date(0))", `"09"`},
		{"random", "return typeof crypto.randomUUID()", `"string"`},
		{"after all", "return 3", "3"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := call(tt.code)
			c.Limits.TimeoutMillis = 60_000 // none of these is about time, and the machine may be busy
			if got := outcome(t, r, c); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}

func TestDeadline(t *testing.T) {
	r := open(t, process.Options{})
	c := call("'x'.repeat(1) ; return /^(?=a)(?:(a+)+)+$/.test('a'.repeat(40) + 'b')")
	c.Limits.TimeoutMillis = 300
	began := time.Now()
	if got := outcome(t, r, c); got != "TIMEOUT/deadline" {
		t.Error(got)
	}
	t.Log(time.Since(began))
	if got := outcome(t, r, call("return 3")); got != "3" {
		t.Error(got)
	}
}

func TestClosed(t *testing.T) {
	r := open(t, process.Options{})
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Run(context.Background(), call("return 1"), nil); err == nil || !strings.Contains(err.Error(), "closed") {
		t.Error(err)
	}
}
