package resolver

import (
	"context"
	"testing"

	"github.com/open-policy-agent/opa/v1/rego"
)

// The three postures of the benchmarks.
func benchTools() map[string]map[string]any {
	return map[string]map[string]any{
		"L0": {},
		"L3": {"networkMode": "allowlist", "hostsAllow": []string{"api.upbit.com"}},
		"L5": {
			"addAllowClasses": []string{
				"java.io.FileWriter", "java.net.URL", "java.nio.file.Files", "com.example.A", "com.example.B", "java.lang.ProcessBuilder",
			},
			"removeDenyClasses": []string{"java.lang.ProcessBuilder", "java.lang.Thread", "java.lang.ThreadGroup"},
			"networkMode":       "allowlist", "fileRead": true, "fileWrite": true,
			"hostsAllow": []string{"a.example", "b.example", "c.example", "d.example", "e.example", "f.example", "g.example", "h.example", "i.example", "j.example"},
		},
	}
}

// BenchmarkResolve is a full decision: input, evaluation, checks, result.
func BenchmarkResolve(b *testing.B) {
	r := newResolver(b, Options{})
	for _, level := range []string{"L0", "L3", "L5"} {
		req := request(doc(b, overrides(benchTools()[level])))
		b.Run(level, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := r.Resolve(context.Background(), req); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkBareEval is OPA alone: the same prepared query on the same prebuilt
// input, with the result as OPA gives it.
func BenchmarkBareEval(b *testing.B) {
	e := newResolver(b, Options{}).active.Load()
	for _, level := range []string{"L0", "L3", "L5"} {
		req := request(doc(b, overrides(benchTools()[level])))
		pl, err := e.planFor(context.Background(), req.Tool, req.Principal)
		if err != nil {
			b.Fatal(err)
		}
		input, err := e.input(pl, req)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(level, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := e.program.decision.Eval(context.Background(), rego.EvalParsedInput(input)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkPlan is the first decision about new content: fold, constraints and
// the prebuilt input. It happens once per tool and policy.
func BenchmarkPlan(b *testing.B) {
	e := newResolver(b, Options{}).active.Load()
	fields := overrides(benchTools()["L3"])
	fields["x-toolwarrant-profile"] = "standard"
	req := request(doc(b, fields))
	key := planKey{digest: req.Tool.Spec.Digest(), source: "user", chain: e.keyFor(req.Tool.Spec, req.Principal)}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := e.makePlan(context.Background(), req.Tool, key); err != nil {
			b.Fatal(err)
		}
	}
}
