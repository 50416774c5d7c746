//go:build unix

package js

import (
	"context"
	"encoding/json"
	"flag"
	"math"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/toolwarrant/toolwarrant/executor/worker"
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

// catalogCalls are the tools of the catalog with their own test values. What
// they ask of the host is answered in a general way; a tool that fails by that
// fails in both forms at the same place.
func catalogCalls(t *testing.T) map[string]worker.Call {
	t.Helper()
	out := map[string]worker.Call{}
	specs, _ := filepath.Glob(filepath.Join("..", "..", "catalog", "tools", "*", "spec.json"))
	for _, path := range specs {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		code, err := os.ReadFile(filepath.Join(filepath.Dir(path), "action.js"))
		if err != nil {
			t.Fatal(err)
		}
		var doc struct {
			Params []struct{ Name, Type, TestValue string }
		}
		if err := json.Unmarshal(text, &doc); err != nil {
			t.Fatal(path, err)
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
		out[filepath.Base(filepath.Dir(path))] = call
	}
	return out
}

func catalogBroker() *fakeBroker {
	return &fakeBroker{serve: map[worker.Op]func([]json.RawMessage) worker.BrokerReply{
		worker.OpFetch:       answer(`{"status":200,"statusText":"OK","url":"https://a/","contentType":"application/json","headers":[],"body":{"$bytes":"e30="},"truncated":false,"nextStartIndex":null}`),
		worker.OpParserCSV:   answer(`[["a","b"],["1","2"]]`),
		worker.OpFSReadText:  answer(`"text"`),
		worker.OpFSWriteText: answer(`"/w/a.txt"`),
	}}
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
	}
	t.Logf("ratio %-20s %.2f (limit %.2f)", "worst", worst, worstRatio)
	if worst > worstRatio {
		t.Errorf("counting costs a factor of %.2f at worst, more than %.2f", worst, worstRatio)
	}
	sum, tools := 0.0, catalogCalls(t)
	for name, call := range tools {
		got := ratio(t, call, catalogBroker(), 200)
		sum += math.Log(got)
		t.Logf("ratio %-20s %.2f", name, got)
	}
	mean := math.Exp(sum / float64(len(tools)))
	t.Logf("ratio %-20s %.2f (limit %.2f)", "mean of the catalog", mean, meanRatio)
	if mean > meanRatio {
		t.Errorf("counting costs the tools of the catalog a factor of %.2f, more than %.2f", mean, meanRatio)
	}
}

// TestCatalogBare holds that the tools of the catalog do the same with and
// without the instruments.
func TestCatalogBare(t *testing.T) {
	for name, call := range catalogCalls(t) {
		counted, err := shared.Run(context.Background(), call, catalogBroker())
		if err != nil {
			t.Fatal(err)
		}
		bare, err := bareRuntime.Run(context.Background(), call, catalogBroker())
		if err != nil {
			t.Fatal(err)
		}
		if a, b := outcome(counted), outcome(bare); a != b && !slices.Contains([]string{"uuid", "secureRandom", "passwordGenerate", "getCurrentTime"}, name) {
			t.Errorf("%s: counted %s, bare %s", name, a, b)
		} else {
			t.Log(name, a)
		}
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
