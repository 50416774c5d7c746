package wasm_test

import (
	"os"
	"testing"
	"time"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/wasm"
)

// image is the module to measure: that of the tests, or the one that
// WASM_BENCH names, run with no arguments.
func image(b *testing.B) string {
	if p := os.Getenv("WASM_BENCH"); p != "" {
		return p
	}
	return guest(b)
}

func run(b *testing.B, sb sandbox.Sandbox) {
	b.Helper()
	c := sandbox.Command{Argv: []string{"guest", "hello"}}
	if r, err := sb.Exec(b.Context(), c); err != nil || r.ExitCode != 0 {
		b.Fatalf("%v %+v %s", err, r, r.Stderr)
	}
}

// under is the back end that is measured, with the runner that WASM_RUNNER
// names.
func under(b *testing.B) *wasm.Factory {
	return wasm.New(inner(b), wasm.Options{Cache: shared.dir + "/cache", Runner: os.Getenv("WASM_RUNNER")})
}

// BenchmarkCold makes a sandbox for each command; the code is in the cache.
func BenchmarkCold(b *testing.B) {
	f, spec := under(b), sandbox.Spec{Image: image(b), Limits: limits(), AllowPartial: true}
	one := func() {
		sb, err := f.Create(b.Context(), spec)
		if err != nil {
			b.Fatal(err)
		}
		run(b, sb)
		if err := sb.Close(); err != nil {
			b.Fatal(err)
		}
	}
	one()
	least(b, one)
}

// BenchmarkInstance runs all commands in one sandbox.
func BenchmarkInstance(b *testing.B) {
	sb, err := under(b).Create(b.Context(), sandbox.Spec{Image: image(b), Limits: limits(), AllowPartial: true})
	if err != nil {
		b.Fatal(err)
	}
	defer sb.Close()
	run(b, sb)
	least(b, func() { run(b, sb) })
}

// least measures do and reports the shortest time too: on a busy machine the
// mean says how busy it is.
func least(b *testing.B, do func()) {
	shortest := time.Duration(1<<63 - 1)
	for b.Loop() {
		began := time.Now()
		do()
		shortest = min(shortest, time.Since(began))
	}
	b.ReportMetric(float64(shortest)/1e6, "least-ms/op")
}

// BenchmarkCompile compiles a module that was never seen.
func BenchmarkCompile(b *testing.B) {
	path, in := image(b), inner(b)
	for b.Loop() {
		sb, err := wasm.New(in, wasm.Options{Cache: b.TempDir(), Runner: os.Getenv("WASM_RUNNER")}).Create(b.Context(), sandbox.Spec{Image: path, Limits: limits(), AllowPartial: true})
		if err != nil {
			b.Fatal(err)
		}
		if err := sb.Start(b.Context()); err != nil {
			b.Fatal(err)
		}
		sb.Close()
	}
}
