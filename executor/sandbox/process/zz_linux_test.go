package process

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/host"
)

func TestPhases(t *testing.T) {
	for _, k := range []struct {
		name string
		o    Options
	}{{"small", Options{Agent: agentProgram(t)}}, {"program", Options{Stash: -1}}, {"stash", Options{}}} {
		f := factory(t, k.o)
		var spawn, prep, exec, cl, total []time.Duration
		for range 150 {
			f.stash.wait.Wait()
			l := &launch{f: f, spec: spec()}
			t0 := time.Now()
			s := f.stash.take()
			var err error
			if s == nil {
				s, err = f.spawn(context.Background(), true)
				if err != nil {
					t.Fatal(err)
				}
			}
			t1 := time.Now()
			var inst *host.Instance
			inst, err = l.prepare(context.Background(), s)
			if err != nil {
				t.Fatal(err)
			}
			t2 := time.Now()
			var t3 time.Time
			box := host.New(host.Options{ID: "x", Backend: ID, Spec: spec(), Start: func(context.Context) (*host.Instance, error) { return inst, nil }})
			if _, err := box.Exec(context.Background(), sandbox.Shell("true")); err != nil {
				t.Fatal(err)
			}
			t3 = time.Now()
			_ = box.Close()
			t4 := time.Now()
			spawn = append(spawn, t1.Sub(t0))
			prep = append(prep, t2.Sub(t1))
			exec = append(exec, t3.Sub(t2))
			cl = append(cl, t4.Sub(t3))
			total = append(total, t4.Sub(t0))
		}
		p := func(name string, d []time.Duration) {
			slices.Sort(d)
			t.Logf("%-8s %-6s least %v p25 %v p50 %v", k.name, name, d[0], d[len(d)/4], d[len(d)/2])
		}
		p("spawn", spawn)
		p("prep", prep)
		p("exec", exec)
		p("close", cl)
		p("total", total)
	}
}
