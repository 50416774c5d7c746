//go:build unix

package js

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/executor/broker"
	"github.com/toolwarrant/toolwarrant/executor/worker"
	"github.com/toolwarrant/toolwarrant/internal/figures"
)

var ratios = flag.Bool("ratios", false, "measure what counting statements costs, and fail beyond the limits")

// computing are programs that do nothing but compute, where counting shows
// most.
var computing = []struct{ name, code string }{
	{"fib", `const fib = n => n < 2 ? n : fib(n - 1) + fib(n - 2); return fib(22)`},
	{"empty loop", `for (let i = 0; i < 400000; i++) { }; return 1`},
	{"sieve", `const n = 60000, s = new Uint8Array(n); let c = 0; for (let i = 2; i < n; i++) { if (s[i]) continue; c++; for (let j = i * 2; j < n; j += i) { s[j] = 1 } } return c`},
	{"map filter reduce", `let t = 0; const a = Array.from({ length: 1000 }, (_, i) => i); for (let k = 0; k < 30; k++) t += a.map(x => x * 2).filter(x => x % 3).reduce((x, y) => x + y, 0); return t`},
	{"objects", `const o = []; for (let i = 0; i < 40000; i++) { o.push({ id: i, name: "n" + i, next: o[i - 1] }) } let t = 0; for (const x of o) { t += x.id } return t`},
	{"strings and maps", `const m = new Map(); for (let i = 0; i < 40000; i++) { const k = "key" + (i % 1000); m.set(k, (m.get(k) || 0) + 1) } let s = ""; for (const [k, v] of m) { s += k.toUpperCase() + v } return s.length`},
}

const (
	worstRatio = 1.7  // of the programs above
	meanRatio  = 1.25 // over the tools of the catalog
	rounds     = 7
)

func cpu() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// ratio is the processor time of n calls of counted code over that of bare
// code: the median of some rounds, each of which runs both, in turn first.
func ratio(t *testing.T, call worker.Call, b worker.Broker, n int) float64 {
	t.Helper()
	measure := func(r *Runtime) float64 {
		began := cpu()
		for range n {
			if _, err := r.Run(context.Background(), call, b); err != nil {
				t.Fatal(err)
			}
		}
		return float64(cpu() - began)
	}
	measure(bareRuntime) // both compile
	measure(shared)
	var all []float64
	for i := range rounds {
		var counted, bare float64
		if i%2 == 0 {
			counted, bare = measure(shared), measure(bareRuntime)
		} else {
			bare, counted = measure(bareRuntime), measure(shared)
		}
		all = append(all, counted/bare)
	}
	slices.Sort(all)
	return all[rounds/2]
}

// A catalogTool is a tool of the catalog with its own test values, and what
// answers it: its recorded exchanges, a workspace with its files, the real
// parsers.
type catalogTool struct {
	call   worker.Call
	broker worker.Broker
}

func catalogTools(t *testing.T) map[string]catalogTool {
	t.Helper()
	out := map[string]catalogTool{}
	specs, _ := filepath.Glob(filepath.Join("..", "..", "catalog", "tools", "*", "spec.json"))
	for _, path := range specs {
		dir := filepath.Dir(path)
		var doc struct {
			Params          []struct{ Name, Type, TestValue string }
			StaticVariables []map[string]string
		}
		readJSON(t, path, &doc)
		code, err := os.ReadFile(filepath.Join(dir, "action.js"))
		if err != nil {
			t.Fatal(err)
		}
		call := generous(string(code))
		args := map[string]json.RawMessage{}
		for _, p := range doc.Params {
			call.Program.Params = append(call.Program.Params, p.Name)
			switch {
			case p.TestValue == "":
			case p.Type != "STRING" && json.Valid([]byte(p.TestValue)):
				args[p.Name] = json.RawMessage(p.TestValue)
			default:
				args[p.Name] = json.RawMessage(mustJSON(p.TestValue))
			}
		}
		call.Args = json.RawMessage(mustJSON(args))
		call.Globals = worker.Globals{Fetch: true, FSRead: true, FSWrite: true}

		tape := recorded(t, dir)
		for _, v := range doc.StaticVariables {
			for name, value := range v {
				call.Statics = append(call.Statics, worker.Static{Name: name, Value: os.Expand(value, func(n string) string { return tape.Env[n] })})
			}
		}
		workspace := t.TempDir()
		if err := os.CopyFS(workspace, os.DirFS(filepath.Join(dir, "fixtures"))); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		policy := decision.EffectivePolicy{FS: decision.FS{Read: true, Write: true, BasePath: workspace}}
		serving, err := broker.New(policy, broker.Options{Workspace: workspace})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = serving.Close() })
		tape.others = unlimited{serving, policy, workspace}
		out[filepath.Base(dir)] = catalogTool{call, tape}
	}
	return out
}

func readJSON(t *testing.T, path string, into any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		t.Fatal(path, err)
	}
}

// A tape answers what is fetched from recorded exchanges.
type tape struct {
	Env      map[string]string
	Fixtures []struct {
		Request  struct{ Method, URL string }
		Response struct {
			Status  int
			Headers map[string]string
			Body    json.RawMessage
		}
	}
	others worker.Broker
}

func recorded(t *testing.T, dir string) *tape {
	t.Helper()
	out := &tape{}
	if path := filepath.Join(dir, "fixtures.json"); exists(path) {
		readJSON(t, path, out)
	}
	return out
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func (f *tape) Do(ctx context.Context, req worker.BrokerRequest) worker.BrokerReply {
	if req.Op != worker.OpFetch {
		return f.others.Do(ctx, req)
	}
	var args [2]json.RawMessage
	var target string
	var init fetchInit
	if json.Unmarshal(req.Args, &args) != nil || json.Unmarshal(args[0], &target) != nil || json.Unmarshal(args[1], &init) != nil {
		return worker.BrokerReply{Failure: &worker.Failure{Code: "INTERNAL"}}
	}
	for _, e := range f.Fixtures {
		if strings.EqualFold(cmp.Or(e.Request.Method, "GET"), cmp.Or(init.Method, "GET")) && sameButTimes(e.Request.URL, target) {
			body := []byte(e.Response.Body)
			var text string
			if json.Unmarshal(body, &text) == nil {
				body = []byte(text)
			}
			kind := e.Response.Headers["content-type"]
			return worker.BrokerReply{Result: json.RawMessage(mustJSON(fetched{Status: e.Response.Status, URL: target, ContentType: &kind, Headers: [][2]string{{"content-type", kind}}, Body: bytesJSON{body}}))}
		}
	}
	return worker.BrokerReply{Failure: &worker.Failure{Code: "INTERNAL", Message: "nothing is recorded for " + target}}
}

// sameButTimes compares a recorded address, in which {time} stands for any.
func sameButTimes(want, sent string) bool {
	before, after, marked := strings.Cut(want, "{time}")
	if !marked {
		return want == sent
	}
	first, _, _ := strings.Cut(after, "{time}")
	return strings.HasPrefix(sent, before) && strings.Contains(sent[len(before):], first)
}

// unlimited serves more operations than one call may ask for.
type unlimited struct {
	*broker.Broker
	policy    decision.EffectivePolicy
	workspace string
}

func (u unlimited) Do(ctx context.Context, req worker.BrokerRequest) worker.BrokerReply {
	rep := u.Broker.Do(ctx, req)
	if rep.Failure == nil || rep.Failure.Reason != "operations" {
		return rep
	}
	again, err := broker.New(u.policy, broker.Options{Workspace: u.workspace})
	if err != nil {
		return rep
	}
	defer again.Close()
	return again.Do(ctx, req)
}

// TestRatios prints what counting costs. It asserts only where it is asked to,
// on a machine that has nothing else to do.
func TestRatios(t *testing.T) {
	if !*ratios {
		t.Skip("go test ./executor/js -run TestRatios -v -ratios")
	}
	worst := 0.0
	for _, c := range computing {
		call := generous(c.code)
		if rep := probeCall(bareRuntime, c.code); rep.Failure != nil {
			t.Fatal(c.name, outcome(rep))
		}
		got := ratio(t, call, nil, 4)
		worst = max(worst, got)
		t.Logf("ratio %-20s %.2f", c.name, got)
		figures.Say(t, "counting", c.name, figures.Ratio(got))
	}
	t.Logf("ratio %-20s %.2f (limit %.2f)", "worst", worst, worstRatio)
	if worst > worstRatio {
		t.Errorf("counting costs a factor of %.2f at worst, more than %.2f", worst, worstRatio)
	}
	sum, done, tools := 0.0, 0, catalogTools(t)
	for name, tool := range tools {
		rep, err := shared.Run(context.Background(), tool.call, tool.broker)
		if err != nil {
			t.Fatal(err)
		}
		ended := "done"
		if rep.Failure == nil {
			done++
		} else {
			ended = rep.Failure.Code + ": " + rep.Failure.Message
		}
		got := ratio(t, tool.call, tool.broker, 50)
		sum += got
		t.Logf("ratio %-28s %.2f  %.100s", name, got, ended)
	}
	mean := sum / float64(len(tools))
	figures.Say(t, "counting", "mean over the bundled tools", figures.Ratio(mean))
	t.Logf("ratio %-28s %.2f (limit %.2f), %d of %d tools did their work", "mean of the catalog", mean, meanRatio, done, len(tools))
	if mean > meanRatio {
		t.Errorf("counting costs the tools of the catalog a factor of %.2f, more than %.2f", mean, meanRatio)
	}
}

// TestCatalogBare holds that the tools of the catalog do the same with and
// without the instruments, and that what is measured is their work.
func TestCatalogBare(t *testing.T) {
	done, tools := 0, catalogTools(t)
	for name, tool := range tools {
		counted, err := shared.Run(context.Background(), tool.call, tool.broker)
		if err != nil {
			t.Fatal(err)
		}
		bare, err := bareRuntime.Run(context.Background(), tool.call, tool.broker)
		if err != nil {
			t.Fatal(err)
		}
		if counted.Failure == nil {
			done++
		}
		if a, b := outcome(counted), outcome(bare); a != b && !slices.Contains([]string{"uuid", "secureRandom", "passwordGenerate", "getCurrentTime"}, name) {
			t.Errorf("%s: counted %s, bare %s", name, a, b)
		} else {
			t.Logf("%s %.200s", name, a)
		}
	}
	if done < len(tools)*9/10 {
		t.Errorf("%d of %d tools did their work", done, len(tools))
	}
}

func BenchmarkComputing(b *testing.B) {
	for _, c := range computing {
		for form, r := range map[string]*Runtime{"counted": shared, "bare": bareRuntime} {
			b.Run(c.name+"/"+form, func(b *testing.B) {
				call := generous(c.code)
				for b.Loop() {
					if _, err := r.Run(context.Background(), call, nil); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
