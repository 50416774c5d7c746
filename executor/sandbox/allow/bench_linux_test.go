package allow

import (
	"io"
	"net"
	"strconv"
	"testing"
)

// BenchmarkConnection is a name, a connection, and a byte there and back; the
// last beside it is without a list, on plain loopback.
func BenchmarkConnection(b *testing.B) {
	o := newOutside(b)
	j := newJail(b, o.list(b, nil))
	echo := strconv.Itoa(o.echo)
	if r := j.try("say", "db.test:"+echo, "x"); r.Out != "x" {
		b.Fatal(r)
	}
	for name, at := range map[string]string{"by name": "db.test:" + echo, "by issued address": "198.18.0.1:" + echo} {
		b.Run(name, func(b *testing.B) {
			r := j.try("time", at, strconv.Itoa(b.N))
			each, err := strconv.ParseFloat(r.Out, 64)
			if err != nil {
				b.Fatal(r)
			}
			b.ReportMetric(each*1000, "ns/op")
		})
	}
	b.Run("plain loopback", func(b *testing.B) {
		out, err := probes["time"]([]string{"127.0.0.1:" + echo, strconv.Itoa(b.N)})
		if err != nil {
			b.Fatal(err)
		}
		each, _ := strconv.ParseFloat(out, 64)
		b.ReportMetric(each*1000, "ns/op")
	})
}

// BenchmarkStream pours 1 GiB out of the jail, and through plain loopback.
func BenchmarkStream(b *testing.B) {
	o := newOutside(b)
	sink, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer sink.Close()
	go func() {
		for {
			c, err := sink.Accept()
			if err != nil {
				return
			}
			go func() { _, _ = io.Copy(io.Discard, c); c.Close() }()
		}
	}()
	o.echo = portOf(sink.Addr())
	j := newJail(b, o.list(b, nil))
	port := strconv.Itoa(o.echo)
	for name, pour := range map[string]func() (string, error){
		"list":  func() (string, error) { r := j.try("pour", "db.test:"+port, "1073741824"); return r.Out, nil },
		"plain": func() (string, error) { return probes["pour"]([]string{"127.0.0.1:" + port, "1073741824"}) },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				out, err := pour()
				rate, bad := strconv.ParseFloat(out, 64)
				if err != nil || bad != nil {
					b.Fatal(out, err)
				}
				b.ReportMetric(rate, "MB/s")
			}
		})
	}
}

// BenchmarkCreate is all that a list adds to a new sandbox but its namespace:
// compiling it and serving it.
func BenchmarkCreate(b *testing.B) {
	o := newOutside(b)
	for b.Loop() {
		o.list(b, nil).Serve(nil, nil, nil).Close()
	}
}
