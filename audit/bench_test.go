package audit

import (
	"context"
	"fmt"
	"strconv"
	"sync/atomic"
	"testing"
)

// BenchmarkEncodeChain is the CPU of one close: mask, encode, sum, chain.
func BenchmarkEncodeChain(b *testing.B) {
	c := &chain{hash: newHasher(), now: clock()}
	in := sampleCall("call-1")
	b.ReportAllocs()
	size := 0
	for b.Loop() {
		p := prepare(in, nil)
		body, err := encodeCall("0e8e2f9c-6f2c-4d59-9d2a-9a2b51b4b6d8", &p)
		if err != nil {
			b.Fatal(err)
		}
		c.buf = c.buf[:0]
		c.layOut(&entry{body: body})
		size = len(c.buf)
	}
	b.ReportMetric(float64(size), "bytes/record")
}

// BenchmarkClose compares group commit with a sync for each record.
func BenchmarkClose(b *testing.B) {
	for _, mode := range []struct {
		name  string
		batch int
	}{{"group", 0}, {"each", 1}} {
		for _, writers := range []int{1, 8, 64} {
			b.Run(fmt.Sprintf("%s/writers=%d", mode.name, writers), func(b *testing.B) {
				f := &faults{}
				w := mustOpen(b, b.TempDir(), Options{open: f.open, batch: mode.batch})
				var n atomic.Int64
				b.SetParallelism(writers / 2) // times GOMAXPROCS
				b.ReportAllocs()
				b.RunParallel(func(p *testing.PB) {
					c := sampleCall("")
					for p.Next() {
						c.CallID = "call-" + strconv.FormatInt(n.Add(1), 10)
						if err := w.Close(context.Background(), c, nil); err != nil {
							b.Error(err)
							return
						}
					}
				})
				b.ReportMetric(float64(n.Load())/float64(f.syncs.Load()), "records/sync")
				b.ReportMetric(float64(n.Load())/b.Elapsed().Seconds(), "records/s")
			})
		}
	}
}

// BenchmarkVerify is one record of a log at the real size.
func BenchmarkVerify(b *testing.B) {
	c := &chain{hash: newHasher(), now: clock()}
	for i := range 1000 {
		p := prepare(sampleCall(fmt.Sprint("call-", i)), nil)
		body, err := encodeCall("w1", &p)
		must(b, err)
		c.layOut(&entry{body: body})
	}
	b.SetBytes(int64(len(c.buf) / 1000))
	records := 0
	for b.Loop() {
		if records++; records%1000 == 1 {
			if r := inspect(b, c.buf); !r.OK {
				b.Fatal(r.Findings[0])
			}
		}
	}
}
