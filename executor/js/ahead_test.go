package js

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/toolwarrant/toolwarrant/executor/worker"
)

// TestPrepared holds that a program finds the same world, and costs the same
// statements, in a virtual machine that was made before its call.
func TestPrepared(t *testing.T) {
	r := New(Options{})
	for _, p := range probes(t) {
		call := generous(p.code)
		call.Limits.MaxStatements = 500000
		plain, err := r.Run(context.Background(), call, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Prepare(call)
		if r.ahead.Load() == nil {
			if plain.Failure == nil {
				t.Errorf("%s: it runs and cannot be prepared", p.name)
			}
			continue
		}
		prepared, err := r.Run(context.Background(), call, nil)
		if err != nil {
			t.Fatal(err)
		}
		if a, b := outcome(plain), outcome(prepared); a != b || *plain.Usage.Statements != *prepared.Usage.Statements {
			t.Errorf("%s: %s after %d statements, prepared %s after %d", p.name, a, *plain.Usage.Statements, b, *prepared.Usage.Statements)
		}
	}
}

// TestPreparedServesOne holds that nothing goes from one call to another: a
// prepared machine is used once, only for what it was made for, and knows
// nothing of the call after which it was made.
func TestPreparedServesOne(t *testing.T) {
	base := generous(`globalThis.n = (globalThis.n || 0) + 1; Array.prototype.x = n; console.log(secret);
		return [n, p, secret, typeof fetch, [].x, Object.keys(args)]`)
	base.Program.ID = "one"
	base.Program.Params = []string{"p"}
	base.Args = json.RawMessage(`{"p":1}`)
	base.Statics = []worker.Static{{Name: "secret", Value: "old"}}
	with := func(change func(*worker.Call)) worker.Call {
		c := base
		change(&c)
		return c
	}
	for name, tc := range map[string]struct {
		next worker.Call
		want string
	}{
		"the same":          {base, `[1,1,"old","undefined",1,["p"]]`},
		"other arguments":   {with(func(c *worker.Call) { c.Args = json.RawMessage(`{"q":2}`) }), `[1,null,"old","undefined",1,["q"]]`},
		"another secret":    {with(func(c *worker.Call) { c.Statics = []worker.Static{{Name: "secret", Value: "new"}} }), `[1,1,"new","undefined",1,["p"]]`},
		"fetch was granted": {with(func(c *worker.Call) { c.Globals.Fetch = true }), `[1,1,"old","function",1,["p"]]`},
		"fewer statements":  {with(func(c *worker.Call) { c.Limits.MaxStatements = 1 }), `RESOURCE_LIMIT/statements: the code executed more than 1 statements`},
		"no log":            {with(func(c *worker.Call) { c.Limits.MaxLogBytes = 2 }), `[1,1,"old","undefined",1,["p"]]`},
		"another program":   {with(func(c *worker.Call) { c.Program.Source = "return typeof n" }), `"undefined"`},
	} {
		r := New(Options{})
		for _, c := range []worker.Call{base, base} {
			if _, err := r.Run(context.Background(), c, nil); err != nil {
				t.Fatal(err)
			}
			r.Prepare(c)
		}
		for range 2 { // prepared, and then not
			rep, err := r.Run(context.Background(), tc.next, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := outcome(rep); got != tc.want {
				t.Errorf("%s: got %s, want %s", name, got, tc.want)
			}
			if r.ahead.Load() != nil {
				t.Errorf("%s: the machine is kept", name)
			}
			if b := tc.next.Limits.MaxLogBytes; b > 0 && (len(rep.Logs) != 1 || rep.Logs[0].Text == "old") {
				t.Errorf("%s: %v", name, rep.Logs)
			}
		}
	}
}

// generous is a call that no limit ends.
func generous(code string) worker.Call {
	return worker.Call{Program: worker.Program{ID: code, Name: "tool.js", Source: code}, Args: json.RawMessage("{}"),
		Limits: worker.Limits{MaxStatements: 1 << 40, TimeoutMillis: 60000, MaxOutputBytes: 1 << 20, MaxLogLines: 100}}
}
