package process

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/toolwarrant/toolwarrant/executor/worker"
)

// hostile are the workers that do not keep to the protocol.
func hostile() map[string]func(io.ReadWriter) {
	all := map[string]func(io.ReadWriter){}
	raw := func(b []byte) func(io.ReadWriter) {
		return func(s io.ReadWriter) {
			greetAnd(func(*worker.Conn, worker.Frame) { _, _ = s.Write(b) })(s)
		}
	}
	reply := func(v any, body string) func(io.ReadWriter) {
		return greetAnd(func(c *worker.Conn, call worker.Frame) { _ = c.Send(worker.KindReply, call.ID, v, []byte(body)) })
	}
	type m = map[string]any
	good := func() m {
		return m{"result": nil, "failure": nil, "logs": []any{}, "usage": m{"statements": 1, "memoryBytes": 1, "logLines": 0}}
	}
	with := func(k string, v any) m { g := good(); g[k] = v; return g }
	for name, f := range map[string]func(io.ReadWriter){
		"garbage":        raw(bytes.Repeat([]byte("not a frame "), 100)),
		"huge length":    raw([]byte{0xff, 0xff, 0xff, 0xff, 'R', 0, 0, 0, 1, 0, 0, 0, 2}),
		"short length":   raw([]byte{0, 0, 0, 1, 'R', 0, 0, 0, 1, 0, 0, 0, 2}),
		"header longer":  raw([]byte{0, 0, 0, 11, 'R', 0, 0, 0, 1, 0, 0, 0, 9, '{', '}'}),
		"not JSON":       raw([]byte{0, 0, 0, 11, 'R', 0, 0, 0, 1, 0, 0, 0, 2, '{', '{'}),
		"unknown kind":   raw([]byte{0, 0, 0, 11, 'Z', 0, 0, 0, 1, 0, 0, 0, 2, '{', '}'}),
		"second hello":   raw([]byte{0, 0, 0, 11, 'H', 0, 0, 0, 1, 0, 0, 0, 2, '{', '}'}),
		"a call":         raw([]byte{0, 0, 0, 11, 'C', 0, 0, 0, 1, 0, 0, 0, 2, '{', '}'}),
		"closes":         greetAnd(func(*worker.Conn, worker.Frame) { os.Exit(3) }),
		"killed":         greetAnd(func(*worker.Conn, worker.Frame) { p, _ := os.FindProcess(os.Getpid()); _ = p.Kill() }),
		"silent":         greetAnd(func(*worker.Conn, worker.Frame) {}),
		"unknown member": reply(with("extra", 1), "1"),
		"both":           reply(with("failure", m{"code": "JS_ERROR", "reason": "", "helper": "", "message": "", "name": "", "line": 0, "column": 0}), "1"),
		"neither":        reply(good(), ""),
		"header result":  reply(with("result", 5), "1"),
		"usage":          reply(with("usage", m{"statements": -1, "memoryBytes": 1, "logLines": 0}), "1"),
		"log level":      reply(with("logs", []any{m{"level": "fatal", "text": "x"}}), "1"),
		"log count":      reply(with("usage", m{"statements": 1, "memoryBytes": 1, "logLines": -1}), "1"),
		"other number":   greetAnd(func(c *worker.Conn, f worker.Frame) { _ = c.Send(worker.KindReply, f.ID+1, good(), []byte("1")) }),
		"request flood": greetAnd(func(c *worker.Conn, f worker.Frame) {
			for i := range 100_000 {
				if c.Send(worker.KindRequest, uint32(i), worker.BrokerRequest{Op: worker.OpFetch}, []byte("[]")) != nil {
					return
				}
			}
		}),
		"request member": greetAnd(func(c *worker.Conn, f worker.Frame) {
			_ = c.Send(worker.KindRequest, 1, m{"op": "fetch", "args": []any{1}}, nil)
		}),
		"half a frame": greetAnd(func(c *worker.Conn, f worker.Frame) {
			_ = c.Send(worker.KindReply, f.ID, good(), bytes.Repeat([]byte("1"), 10))
		}),
		"stderr flood": greetAnd(func(c *worker.Conn, f worker.Frame) {
			for range 2_000 {
				_, _ = os.Stderr.Write(bytes.Repeat([]byte("noise "), 1000))
			}
			os.Exit(1)
		}),
	} {
		all[name] = f
	}
	all["no hello"] = func(io.ReadWriter) { time.Sleep(time.Minute) }
	all["other build"] = func(s io.ReadWriter) {
		_ = worker.NewConn(s).Send(worker.KindHello, 0, worker.Hello{Build: "other", Isolation: worker.Isolation{Mode: "process"}}, nil)
		time.Sleep(time.Minute)
	}
	return all
}

func tinyCall() worker.Call {
	return worker.Call{
		CallID: "t", Program: worker.Program{ID: "x", Name: "t.js", Source: "return 1"}, Args: json.RawMessage("{}"),
		Limits: worker.Limits{MaxStatements: 1000, TimeoutMillis: 500, MaxMemoryBytes: 32 << 20, MaxOutputBytes: 1 << 20, MaxLogLines: 10, MaxLogBytes: 1000},
	}
}

// TestHostileWorkers: whatever a worker says, the call has one failure of the
// runtime's own, the parent lives, and nothing of the worker is left.
func TestHostileWorkers(t *testing.T) {
	want := map[string]string{
		"silent": "TIMEOUT/deadline", "closes": "RUNTIME_ERROR/worker-died", "stderr flood": "RUNTIME_ERROR/worker-died",
		"killed":       "RUNTIME_ERROR/worker-died", // small as it was
		"half a frame": "1111111111",
	}
	for name := range misbehave {
		switch name {
		case "no hello", "other build":
			continue
		}
		t.Run(name, func(t *testing.T) {
			r := openWith(t, Options{Workers: 1}, "do:"+name)
			rep, err := r.Run(context.Background(), tinyCall(), noBroker{})
			if err != nil {
				t.Fatal(err)
			}
			got := string(rep.Result)
			if rep.Failure != nil {
				got = rep.Failure.Code + "/" + rep.Failure.Reason
			}
			w := want[name]
			if w == "" {
				w = "RUNTIME_ERROR/worker-protocol"
			}
			if got != w {
				t.Errorf("%s, want %s", got, w)
			}
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// noBroker refuses every effect.
type noBroker struct{}

func (noBroker) Do(context.Context, worker.BrokerRequest) worker.BrokerReply {
	return worker.BrokerReply{Failure: &worker.Failure{Code: "SECURITY", Reason: "not-granted"}}
}

func TestOtherBuild(t *testing.T) {
	r := openWith(t, Options{}, "do:other build")
	err := r.Ready(context.Background())
	if err == nil || !strings.Contains(err.Error(), "another build") {
		t.Errorf("%v", err)
	}
	if _, err := r.Run(context.Background(), tinyCall(), noBroker{}); err == nil {
		t.Error("a call ran")
	}
}

func TestNoHello(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	r := openWith(t, Options{}, "do:no hello")
	if err := r.Ready(ctx); err == nil {
		t.Error("ready without a hello")
	}
}

// TestNothingIsLeft: after many calls, kills and a Close there is no process,
// no descriptor and no goroutine more than before.
func TestNothingIsLeft(t *testing.T) {
	// What a process opens once and keeps is there before the count.
	first := New(Options{Workers: 1})
	_ = first.Ready(context.Background())
	_ = first.Close()
	before, files := runtime.NumGoroutine(), descriptors(t)
	r := New(Options{Workers: 4})
	if err := r.Ready(context.Background()); err != nil {
		t.Fatal(err)
	}
	for i := range 30 {
		c := tinyCall()
		switch i % 3 {
		case 1:
			c.Program.Source, c.Program.ID = "let s='x'; while(true) s+=s", "mem"
		case 2:
			c.Program.Source, c.Program.ID = "for(;;);", "loop"
		}
		if _, err := r.Run(context.Background(), c, noBroker{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	for range 100 {
		if runtime.NumGoroutine() <= before && descriptors(t) <= files {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Errorf("goroutines %d, were %d; descriptors %d, were %d", runtime.NumGoroutine(), before, descriptors(t), files)
}

func descriptors(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(entries)
}

// TestParentGone: a worker ends when its parent is gone, here when the stream
// is closed.
func TestParentGone(t *testing.T) {
	r := New(Options{Workers: 1})
	if err := r.Ready(context.Background()); err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	p, err := r.take(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	_ = p.near.Close()
	select {
	case <-p.gone:
	case <-time.After(10 * time.Second):
		t.Error("the worker lives on")
	}
	r.give(p, false)
}
