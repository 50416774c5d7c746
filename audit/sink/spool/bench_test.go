package spool

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/fault"
)

// BenchmarkLog is what a sink costs a log with 64 writers: none, one of best
// effort, one that is dead, one that is required and answers at once.
func BenchmarkLog(b *testing.B) {
	for _, c := range []struct {
		name     string
		sink     bool
		required bool
		fail     func([][]byte) error
	}{{"none", false, false, nil}, {"best-effort", true, false, nil}, {"dead", true, false, dead}, {"required", true, true, nil}} {
		b.Run(c.name, func(b *testing.B) {
			var options audit.Options
			if c.sink {
				s, err := Open(b.TempDir(), sinkhole{&place{fail: c.fail}}, Options{Required: c.required, MaxBytes: 4 << 30})
				if err != nil {
					b.Fatal(err)
				}
				options.Sinks = []audit.SinkOption{{Name: "s", Sink: s, Required: c.required}}
			}
			w, err := audit.Open(b.TempDir(), options)
			if err != nil {
				b.Fatal(err)
			}
			defer w.Shutdown(context.Background())
			ok := fault.OK
			var n atomic.Int64
			b.ResetTimer()
			var wg sync.WaitGroup
			for range 64 {
				wg.Go(func() {
					for i := n.Add(1); i <= int64(b.N); i = n.Add(1) {
						if err := w.Close(context.Background(), audit.Call{CallID: fmt.Sprint("c", i), Origin: decision.OriginCLIRun, Outcome: &ok}, nil); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			wg.Wait()
		})
	}
}

// sinkhole keeps nothing.
type sinkhole struct{ *place }

func (s sinkhole) Write(_ context.Context, lines [][]byte, _ bool) error {
	if s.fail != nil {
		return s.fail(lines)
	}
	return nil
}
