package runner

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolwarrant/toolwarrant/executor/sandbox/wasm/frame"
)

// FuzzServe: whatever comes in place of requests, the runner neither panics
// nor says anything but frames, and ends with its input.
func FuzzServe(f *testing.F) {
	module := filepath.Join(f.TempDir(), "m.wasm")
	if err := os.WriteFile(module, []byte("\x00asm\x01\x00\x00\x00\x01\x04\x01\x60\x00\x00\x03\x02\x01\x00\x07\x0a\x01\x06_start\x00\x00\x0a\x04\x01\x02\x00\x0b"), 0o600); err != nil {
		f.Fatal(err)
	}
	stream := func(kinds string, bodies ...string) []byte {
		var b bytes.Buffer
		w := frame.NewWriter(&b)
		for i, k := range kinds {
			if err := w.Write(frame.Kind(k), []byte(bodies[i])); err != nil {
				f.Fatal(err)
			}
		}
		return b.Bytes()
	}
	run := `{"argv":["m"],"env":["A=b"],"maxOutput":10,"timeoutNs":1}`
	f.Add(stream("RR", run, run))
	f.Add(stream("RIR", run, "input", `{}`))
	f.Add(stream("R", `{"argv":null,"env":["=","\u0000"],"maxOutput":-1}`))
	f.Add(stream("R", `{"argv":["a\u0000b"]}`))
	f.Add([]byte("R\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, in []byte) {
		var out bytes.Buffer
		code, err := serve(Config{Version: Version, Module: module, MemoryBytes: 1 << 20}, bytes.NewReader(in), &out)
		if (code == 0) != (err == nil) {
			t.Errorf("code %d, %v", code, err)
		}
		r, kinds := frame.NewReader(&out, frame.MaxBody), ""
		for {
			kind, _, err := r.Read()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			kinds += string(rune(kind))
		}
		if !strings.HasPrefix(kinds, "H") || strings.Trim(kinds, "HD") != "" || strings.Count(kinds, "H") != 1 {
			t.Errorf("it said %q", kinds)
		}
	})
}
