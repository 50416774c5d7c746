//go:build unix

package resolver

import (
	"context"
	"flag"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/internal/figures"
)

var (
	ratios    = flag.Bool("ratios", false, "measure ratios and growth, and fail beyond the limits")
	decisions = flag.Int("decisions", 100_000, "decisions of TestHeapIsFlat, with -ratios")
)

func cpu() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// costs measures functions in turns and gives the median CPU time of one call
// of each.
func costs(n int, fs ...func()) []time.Duration {
	all := make([][]time.Duration, len(fs))
	for range 7 {
		for i, f := range fs {
			began := cpu()
			for range n {
				f()
			}
			all[i] = append(all[i], (cpu()-began)/time.Duration(n))
		}
	}
	out := make([]time.Duration, len(fs))
	for i, a := range all {
		slices.Sort(a)
		out[i] = a[len(a)/2]
	}
	return out
}

// within prints a ratio and holds it to its limit.
func within(t *testing.T, limit float64, a, b time.Duration, format string, args ...any) {
	t.Helper()
	ratio := float64(a) / float64(b)
	t.Logf("ratio %s: %.2f (limit %.2f; %v, %v)", fmt.Sprintf(format, args...), ratio, limit, a, b)
	if ratio > limit {
		t.Errorf("%s costs %.2f times as much, not %.2f", fmt.Sprintf(format, args...), ratio, limit)
	}
}

// TestRatios holds what a decision costs beside the bare evaluation of the
// same query, and how it grows with classes and profiles, to its limits.
func TestRatios(t *testing.T) {
	if !*ratios {
		t.Skip("go test ./resolver -run TestRatios -v -ratios")
	}
	ctx := context.Background()
	resolve := func(r *Resolver, req Request) func() {
		return func() {
			if _, err := r.Resolve(ctx, req); err != nil {
				t.Fatal(err)
			}
		}
	}
	r := newResolver(t, Options{})
	e := r.active.Load()
	for _, level := range []string{"L0", "L3", "L5"} {
		req := request(doc(t, overrides(benchTools()[level])))
		pl, err := e.planFor(ctx, req.Tool, req.Principal)
		if err != nil {
			t.Fatal(err)
		}
		input, err := e.input(pl, req)
		if err != nil {
			t.Fatal(err)
		}
		key := planKey{digest: req.Tool.Spec.Digest(), source: "user", chain: e.keyFor(req.Tool.Spec, req.Principal)}
		got := costs(200, resolve(r, req), func() {
			// On an evaluator, as Resolve: a grown stack is half of the cost.
			_ = e.evaluators.do(ctx, func() { _, _ = e.program.decision.Eval(ctx, rego.EvalParsedInput(input)) })
		}, func() { _, _ = e.makePlan(ctx, req.Tool, key) })
		within(t, 1.15, got[0], got[1], "resolve %s over bare evaluation", level)
		t.Logf("a first sight of %s costs %v more", level, got[2])
		figures.Say(t, "decision", level, figures.Millis(got[0]), figures.Millis(got[1]), figures.Times(got[0], got[1]), figures.Millis(got[2]))
	}

	req := request(doc(t, overrides(benchTools()["L3"])))
	many := make([]string, 1000)
	for i := range many {
		many[i] = fmt.Sprintf("%q", fmt.Sprintf("com.example.deny.C%d", i))
	}
	folder := policyFolder(t, nil)
	baseline := read(t, folder, "cue/baseline.cue")
	const denies = "denyClasses: [\n"
	if strings.Count(baseline, denies) != 1 {
		t.Fatal("the baseline has no denyClasses of its own")
	}
	change(t, folder, map[string]string{"cue/baseline.cue": strings.Replace(baseline, denies, denies+strings.Join(many, ",\n")+",\n", 1)})
	wide := newResolver(t, Options{Policy: folder})
	got := costs(100, resolve(wide, req), resolve(r, req))
	within(t, 2.5, got[0], got[1], "1,000 more classes of the baseline over its %d", 17)
	figures.Say(t, "growth", "1,000 more classes in the layers", figures.Times(got[0], got[1]))

	chain := func(n int) *Resolver {
		var b strings.Builder
		b.WriteString("package toolwarrant\n\nprofiles: {\n")
		for i := 1; i <= n; i++ {
			parent := ""
			if i > 1 {
				parent = fmt.Sprintf(", extends: \"p%d\"", i-1)
			}
			fmt.Fprintf(&b, "\tp%d: {description: \"test\"%s, timeoutSeconds: %d}\n", i, parent, 30-i)
		}
		b.WriteString("}\n")
		return newResolver(t, Options{Policy: policyFolder(t, map[string]string{
			"cue/profiles/chain.cue": b.String(),
			"cue/bindings.cue":       fmt.Sprintf("package toolwarrant\n\nbindings: [{profile: \"p%d\", name: \"probe\"}]\n", n),
		})})
	}
	got = costs(200, resolve(chain(8), req), resolve(chain(1), req))
	within(t, 1.15, got[0], got[1], "8 profiles over 1")
	figures.Say(t, "growth", "8 profiles in place of 1", figures.Times(got[0], got[1]))
}

// TestHeapIsFlat decides about ever new documents and looks at the heap once
// the caches are full.
func TestHeapIsFlat(t *testing.T) {
	if !*ratios {
		t.Skip("go test ./resolver -run TestHeapIsFlat -v -ratios -timeout 30m")
	}
	r := newResolver(t, Options{})
	heap := func() int64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	base, n := int64(0), *decisions
	for i := range n {
		set := map[string]any{"networkMode": "allowlist", "hostsAllow": []string{fmt.Sprintf("h%d.example", i)}, "addAllowClasses": []string{fmt.Sprintf("com.example.C%d", i)}}
		if _, err := r.Resolve(context.Background(), request(doc(t, overrides(set)))); err != nil {
			t.Fatal(err)
		}
		if i == n/5 {
			base = heap()
		}
		if (i+1)%(n/5) == 0 {
			t.Logf("%d decisions: heap %.2f MiB", i+1, float64(heap())/(1<<20))
		}
	}
	if grown := heap() - base; grown > 1<<20 {
		t.Errorf("the heap grew by %d bytes after the first fifth", grown)
	}
}

// TestNaiveRatio holds what the policy costs, as the resolver asks it, to a
// part of what the plainly written one of bench/naive does, which decides the
// same. What the rules cost that have nothing to remember is printed beside it.
func TestNaiveRatio(t *testing.T) {
	if !*ratios {
		t.Skip("go test ./resolver -run TestNaiveRatio -v -ratios")
	}
	ctx := context.Background()
	e := newResolver(t, Options{}).active.Load()
	plain := naive(t, e)
	type planned struct {
		input ast.Value
		memo  *memo
	}
	asked := map[string][]planned{}
	add := func(name string, req Request) {
		asked[name] = append(asked[name], planned{question(t, e, req), &memo{of: e.program.steady}})
	}
	for level, set := range benchTools() {
		add(level, request(doc(t, overrides(set))))
	}
	for _, req := range knownTools(t) {
		add("88 tools", req)
	}
	for _, name := range sortedKeys(asked) {
		each := func(q rego.PreparedEvalQuery, remembered bool) func() {
			return func() {
				_ = e.evaluators.do(ctx, func() { // a grown stack is half of the cost
					for range max(2, 200/len(asked[name])) {
						for _, a := range asked[name] {
							options := []rego.EvalOption{rego.EvalParsedInput(a.input), rego.EvalGenerateJSON(asTerm)}
							if !remembered {
								_, _ = q.Eval(ctx, options...)
								continue
							}
							c := a.memo.cache()
							_, _ = q.Eval(ctx, append(options, rego.EvalVirtualCache(c))...)
							a.memo.keep(c)
						}
					}
				})
			}
		}
		got := costs(1, each(e.program.decision, true), each(plain, false), each(e.program.decision, false))
		within(t, 0.45, got[0], got[1], "shipped over naive, %s", name)
		t.Logf("%.2f for a tool that was never decided about", float64(got[2])/float64(got[1]))
		figures.Say(t, "naive", name, figures.Times(got[0], got[1]), figures.Times(got[2], got[1]))
	}
}

// TestListRatio lists 10,000 tools for 100 callers: tools that ask for nothing,
// tools of which no two ask for the same, and the latter under rules that read
// who asks and for what.
func TestListRatio(t *testing.T) {
	if !*ratios {
		t.Skip("go test ./resolver -run TestListRatio -v -ratios")
	}
	rules := Options{Policy: policyFolder(t, map[string]string{"rego/data.json": settings(t, map[[2]string]any{
		{"access", "rules"}: []map[string]any{
			{"id": "guests", "effect": "hide", "categories": []string{"WEB"}, "groups": []string{"guests"}},
			{"id": "one", "effect": "hide", "tools": []string{"tool7"}, "subjects": []string{"caller3"}},
		},
	})})}
	plain := func(int) map[string]any { return map[string]any{} }
	own := func(i int) map[string]any {
		return overrides(map[string]any{"networkMode": "allowlist", "hostsAllow": []string{fmt.Sprintf("h%d.example", i)}})
	}
	for _, c := range []struct {
		name   string
		o      Options
		fields func(int) map[string]any
	}{{"alike", Options{}, plain}, {"each its own", Options{}, own}, {"alike, with rules", rules, plain}, {"each its own, with rules", rules, own}} {
		r := newResolver(t, c.o)
		tools := make([]Tool, 10_000)
		for i := range tools {
			fields := c.fields(i)
			fields["name"] = fmt.Sprintf("tool%d", i)
			tools[i] = Tool{Spec: doc(t, fields), Source: "user"}
			tools[i].Spec.Digest() // a catalog has it
		}
		list := func(n int) time.Duration {
			began := cpu()
			p := decision.Principal{Subject: fmt.Sprintf("caller%d", n), Groups: []string{"staff", "guests"}[n%2 : n%2+1]}
			if _, err := r.Visible(context.Background(), p, tools); err != nil {
				t.Fatal(err)
			}
			return cpu() - began
		}
		first, next := list(0), list(1)
		var others, again time.Duration
		for n := 2; n < 100; n++ {
			others += list(n)
		}
		for n := range 100 {
			again += list(n)
		}
		figures.Say(t, "visible", c.name, figures.Millis(first), figures.Millis(others/98), figures.Millis(again/100))
		t.Logf("10,000 tools, %s: the first list %v, of the next caller %v, of 98 more %v each, again %v each", c.name, first, next, others/98, again/100)
	}
}
