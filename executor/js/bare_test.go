//go:build unix

package js

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dop251/goja"

	"github.com/toolwarrant/toolwarrant/executor/worker"
	"github.com/toolwarrant/toolwarrant/internal/figures"
)

// What a whole call may cost above the engine alone.
const (
	overEngine = 1.15
	overFixed  = 100 * time.Microsecond
)

// orders is a call of a tool of 60 lines, with n lines of input.
func orders(t *testing.T, n int) worker.Call {
	t.Helper()
	code, err := os.ReadFile(filepath.Join("testdata", "tools", "orders.js"))
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	text.WriteString("Id;Day;Customer;Item;Quantity;Price\n")
	for i := range n {
		fmt.Fprintf(&text, "o%d;2026-%02d-%02d;Customer %d;item %d;%d;%d.%02d\n", i-i%20/19, 1+i%12, 1+i%28, i%17, i%9, i%5, i%100, i%97)
	}
	call := generous(string(code))
	call.Program.Params = []string{"text", "top"}
	call.Args = []byte(mustJSON(map[string]any{"text": text.String()}))
	return call
}

// engine runs the call with nothing around it but a compiled program and a
// new virtual machine.
func engine(t *testing.T, code *goja.Program, call worker.Call) string {
	t.Helper()
	vm := goja.New()
	body, err := vm.RunProgram(code)
	if err != nil {
		t.Fatal(err)
	}
	parse, _ := goja.AssertFunction(vm.GlobalObject().Get("JSON").ToObject(vm).Get("parse"))
	args, err := parse(goja.Undefined(), vm.ToValue(string(call.Args)))
	if err != nil {
		t.Fatal(err)
	}
	fn, _ := goja.AssertFunction(body)
	v, err := fn(goja.Undefined(), args.ToObject(vm).Get("text"), goja.Undefined())
	if err != nil {
		t.Fatal(err)
	}
	text, err := v.Export().(*goja.Promise).Result().ToObject(vm).MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestEngineRatio prints what the runtime costs above the engine, at the
// settings of the collector and the scheduler that a worker has.
func TestEngineRatio(t *testing.T) {
	old := debug.SetGCPercent(400)
	defer debug.SetGCPercent(old)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for _, n := range []int{20, 200, 2000} {
		call := orders(t, n)
		code, err := goja.Compile("tool.js", "(async function (text, top) {"+call.Program.Source+"\n})", false)
		if err != nil {
			t.Fatal(err)
		}
		rep, err := shared.Run(context.Background(), call, nil)
		if err != nil {
			t.Fatal(err)
		}
		if want, got := engine(t, code, call), outcome(rep); got != want {
			t.Fatalf("the runtime gives %s, the engine %s", got, want)
		}
		if !*ratios {
			continue
		}
		calls := 40000 / n
		var bare, whole []time.Duration
		for range rounds {
			began := cpu()
			for range calls {
				engine(t, code, call)
			}
			between := cpu()
			for range calls {
				_, _ = shared.Run(context.Background(), call, nil)
			}
			bare, whole = append(bare, (between-began)/time.Duration(calls)), append(whole, (cpu()-between)/time.Duration(calls))
		}
		slices.Sort(bare)
		slices.Sort(whole)
		b, w := bare[rounds/2], whole[rounds/2]
		limit := time.Duration(float64(b)*overEngine) + overFixed
		figures.Say(t, "engine", fmt.Sprintf("%d lines", n), figures.Millis(b), figures.Millis(w), figures.Times(w, b))
		t.Logf("%d lines of input: the engine %v, the runtime %v (x%.2f; limit %v)", n, b, w, float64(w)/float64(b), limit)
		if w > limit {
			t.Errorf("a call of a tool of 60 lines costs %v, above the limit of %v", w, limit)
		}
	}
}
