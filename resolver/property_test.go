package resolver

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/fault"
)

// inputs is how many documents each property is tried on.
var inputs = flag.Int("inputs", 1000, "generated documents for each property")

// The pieces that generated documents are put together from.
var (
	somePatterns = []string{
		"java.lang.System", "java.lang.Runtime", "java.lang.ProcessBuilder", "java.lang.Thread", "java.lang.ThreadGroup",
		"java.lang.reflect.*", "java.lang.reflect.Method", "java.lang.Class", "java.io.*", "java.io.File", "java.io.FileWriter",
		"java.net.URL", "java.net.*", "java.nio.*", "com.example.Thing", "com.example.*", "java.lang.*", "java.util.*", "java.*",
		"java.util.ServiceLoader", "java.util.spi.*", "org.jsoup.Jsoup",
	}
	someHosts = []string{"a.example", "*.b.example", "*", "db.internal", "c.example"}
	someModes = []any{nil, "blocked", "allowlist", "strict", "open"}
	someBools = []any{nil, true, false}
)

func generated(r *rand.Rand) map[string]any {
	pick := func(from []string, most int) []string {
		out := []string{}
		for range r.IntN(most + 1) {
			if v := from[r.IntN(len(from))]; !slices.Contains(out, v) {
				out = append(out, v)
			}
		}
		return out
	}
	return map[string]any{
		"addAllowClasses": pick(somePatterns, 4), "removeAllowClasses": pick(somePatterns, 2),
		"addDenyClasses": pick(somePatterns, 2), "removeDenyClasses": pick(somePatterns, 4),
		"networkMode": someModes[r.IntN(len(someModes))], "hostsAllow": pick(someHosts, 3),
		"fileRead": someBools[r.IntN(3)], "fileWrite": someBools[r.IntN(3)],
		"fsBasePath": []any{nil, "/base/x", "sub"}[r.IntN(3)],
	}
}

func generousResolver(t *testing.T) *Resolver {
	return newResolver(t, Options{Operator: Operator{BasePath: "/base", AllowOpenMode: true, PrivateHosts: []string{"db.internal:80"}}})
}

// Every document is decided or rejected, twice the same, and whatever is in
// force is within the layers and free of overlap.
func TestTotalAndDeterministic(t *testing.T) {
	r, rnd := generousResolver(t), rand.New(rand.NewPCG(1, 2))
	other := generousResolver(t)
	decided := 0
	for i := range shortened(*inputs) {
		set := generated(rnd)
		req := request(doc(t, map[string]any{"name": fmt.Sprintf("tool%d", i), "sandboxOverrides": set}))
		d, err := r.Resolve(context.Background(), req)
		if err != nil {
			if f := fault.From(err); f.Code != fault.ResolverReject || f.Pointer == "" || f.Line == 0 {
				t.Fatalf("%v: %v", set, err)
			}
			if _, again := other.Resolve(context.Background(), req); again == nil || again.Error() != err.Error() {
				t.Fatalf("%v: %v, then %v", set, err, again)
			}
			continue
		}
		decided++
		again, err := other.Resolve(context.Background(), req)
		if err != nil {
			t.Fatal(err)
		}
		again.DecisionID = d.DecisionID
		if diff := cmp.Diff(d, again); diff != "" {
			t.Fatalf("%v: two answers:\n%s", set, diff)
		}
		for _, c := range d.EffectivePolicy.AllowClasses {
			if slices.Contains(d.EffectivePolicy.DenyClasses, c) {
				t.Fatalf("%v: %s is allowed and denied", set, c)
			}
		}
		worst := "L0"
		for _, s := range d.RiskSignals {
			worst = max(worst, s.Level)
		}
		if worst != d.RiskLevel || (d.RiskLevel >= "L5" && !d.HumanInTheLoop.Required()) {
			t.Fatalf("%v: level %s, worst signal %s, approval %+v", set, d.RiskLevel, worst, d.HumanInTheLoop)
		}
	}
	if decided < shortened(*inputs)/10 {
		t.Errorf("only %d documents were decided", decided)
	}
}

// More never scores less: each step adds one grant.
func TestRiskIsMonotone(t *testing.T) {
	r, rnd := generousResolver(t), rand.New(rand.NewPCG(3, 4))
	steps := 0
	for range shortened(*inputs) {
		set := generated(rnd)
		set["addDenyClasses"], set["removeAllowClasses"] = []string{}, []string{}
		before, err := r.Resolve(context.Background(), request(doc(t, overrides(set))))
		if err != nil {
			continue
		}
		more := widen(rnd, set)
		after, err := r.Resolve(context.Background(), request(doc(t, overrides(more))))
		if err != nil {
			continue // what is refused grants nothing
		}
		steps++
		if after.RiskLevel < before.RiskLevel {
			t.Fatalf("%v is %s, the wider %v is %s", set, before.RiskLevel, more, after.RiskLevel)
		}
	}
	if steps < shortened(*inputs)/10 {
		t.Errorf("only %d steps were compared", steps)
	}
}

// A constraint never widens: under one, a document is refused or gets what it
// would get without.
func TestConstraintsOnlyRefuse(t *testing.T) {
	bound := func(constraints string) *Resolver {
		return newResolver(t, Options{
			Policy: policyFolder(t, map[string]string{
				"cue/profiles/bound.cue": "package toolwarrant\n\nprofiles: bound: {description: \"test\"\n" + constraints + "}\n",
				"cue/bindings.cue":       "package toolwarrant\n\nbindings: [{profile: \"bound\", name: \"probe\"}]\n",
			}),
			Operator: Operator{BasePath: "/base", AllowOpenMode: true, PrivateHosts: []string{"db.internal:80"}},
		})
	}
	free := bound("")
	tight := bound(`constraints: {network: {mode: "blocked" | "allowlist", hosts: [...!~"^[*]"]}, fileWrite: false, allowClasses: [...!~"^java[.]net"]}`)
	rnd := rand.New(rand.NewPCG(5, 6))
	same, refused := 0, 0
	for range shortened(*inputs) {
		req := request(doc(t, overrides(generated(rnd))))
		before, err := free.Resolve(context.Background(), req)
		if err != nil {
			if _, err := tight.Resolve(context.Background(), req); err == nil {
				t.Fatalf("%s is accepted under a constraint only", req.Tool.Spec.Canonical())
			}
			continue
		}
		after, err := tight.Resolve(context.Background(), req)
		if err != nil {
			refused++
			continue
		}
		same++
		if diff := cmp.Diff(before.EffectivePolicy, after.EffectivePolicy); diff != "" {
			t.Fatalf("a constraint changed the policy:\n%s", diff)
		}
	}
	if n := shortened(*inputs); same < n/20 || refused < n/20 {
		t.Errorf("%d the same, %d refused", same, refused)
	}
}

func widen(r *rand.Rand, set map[string]any) map[string]any {
	more := map[string]any{}
	for k, v := range set {
		more[k] = v
	}
	grow := func(key string, from []string) {
		more[key] = append(slices.Clone(set[key].([]string)), from[r.IntN(len(from))])
	}
	switch r.IntN(5) {
	case 0:
		grow("addAllowClasses", somePatterns)
	case 1:
		grow("removeDenyClasses", somePatterns)
	case 2:
		more["fileWrite"] = true
	case 3:
		if set["fileRead"] != true {
			more["fileRead"] = true
		}
	default:
		if set["networkMode"] == "allowlist" {
			grow("hostsAllow", someHosts)
		} else {
			more["networkMode"] = "open"
		}
	}
	for _, key := range []string{"addAllowClasses", "removeDenyClasses", "hostsAllow"} {
		list := more[key].([]string)
		slices.Sort(list)
		more[key] = slices.Compact(list)
	}
	return more
}

// One resolver serves many goroutines while it reloads.
func TestConcurrentUse(t *testing.T) {
	dir := policyFolder(t, nil)
	r := newResolver(t, Options{Policy: dir})
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 20 {
				fields := overrides(map[string]any{"networkMode": "allowlist", "hostsAllow": []string{fmt.Sprintf("h%d.example", i%5)}})
				fields["x-toolwarrant-profile"] = []any{"standard", "offline"}[(g+i)%2]
				_, err := r.Resolve(context.Background(), request(doc(t, fields)))
				var rejected *Rejection
				if err != nil && !errors.As(err, &rejected) {
					t.Errorf("%v", err)
				}
				if _, err := r.Visible(context.Background(), decision.Principal{Subject: "x"}, []Tool{{Spec: doc(t, fields), Source: "user"}}); err != nil {
					t.Errorf("%v", err)
				}
			}
		})
	}
	wg.Go(func() {
		change(t, dir, map[string]string{"rego/more.rego": "package more\n\nimport rego.v2\n"})
		if _, err := r.Reload(context.Background()); err != nil {
			t.Errorf("%v", err)
		}
	})
	wg.Wait()
}

// shortened is a tenth of n where the tests are to be short: the detector of
// races takes as long for the same answers.
func shortened(n int) int {
	if testing.Short() {
		return n / 10
	}
	return n
}
