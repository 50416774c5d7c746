package runner

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolwarrant/toolwarrant/executor/sandbox/wasm/frame"
)

const (
	head = "\x00asm\x01\x00\x00\x00"
	// A module that ends with a trap of its own kind: it divides 1 by 0.
	divides = head + "\x01\x04\x01\x60\x00\x00\x03\x02\x01\x00\x07\x0a\x01\x06_start\x00\x00" + "\x0a\x0a\x01\x08\x00\x41\x01\x41\x00\x6d\x1a\x0b"
)

func TestSkeleton(t *testing.T) {
	for _, c := range []struct {
		in, out string
		ok      bool
	}{
		{"", "", false},
		{head, head, true},
		{head + "\x00\x02\x01x", head + "\x00\x02\x01x", true},
		{divides, divides[:len(divides)-12] + "\x0a\x05\x01\x03\x00\x00\x0b", true},
		{head + "\x0a\x83\x80\x00\x01\x01\x0b", head + "\x0a\x05\x01\x03\x00\x00\x0b", true}, // a long number
		{head + "\x0a", "", false},
		{head + "\x0a\x00", "", false},
		{head + "\x0a\x02\x01", "", false},
		{head + "\x0a\x01\x7f", "", false}, // more functions than bytes
		{head + "\x00\xff\xff\xff\xff\x0f", "", false},
		{head + "\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "", false},
	} {
		out, ok := skeleton([]byte(c.in))
		if ok != c.ok || ok && string(out) != c.out {
			t.Errorf("%q: %q, %v", c.in, out, ok)
		}
	}
}

// TestSkeletonRuns: what is found under the name of a skeleton is the code of
// the whole module, and a cache that has something else is refused.
func TestSkeletonRuns(t *testing.T) {
	dir := t.TempDir()
	c := Config{Version: Version, Module: filepath.Join(dir, "m.wasm"), Cache: filepath.Join(dir, "build"), MemoryBytes: 1 << 20}
	if err := os.WriteFile(c.Module, []byte(divides), 0o600); err != nil {
		t.Fatal(err)
	}
	var code bytes.Buffer
	name, err := compileTo(c, frame.NewWriter(&code))
	if err != nil {
		t.Fatal(err)
	}
	_, body, err := frame.NewReader(&code, frame.MaxBody).Read()
	if err != nil {
		t.Fatal(err)
	}
	c.Cache = filepath.Join(dir, "cache")
	if err := os.MkdirAll(filepath.Join(c.Cache, filepath.Dir(name)), 0o700); err != nil {
		t.Fatal(err)
	}
	place := filepath.Join(c.Cache, name)
	if err := os.WriteFile(place, body, 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := ready(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	report := m.run(t.Context(), Request{Argv: []string{"m"}}, streams{})
	if !strings.Contains(report.Error, "divide by zero") {
		t.Errorf("the module ended otherwise than by its own code: %+v", report)
	}
	m.close(t.Context())
	if err := os.Rename(place, filepath.Join(filepath.Dir(place), strings.Repeat("0", 64))); err != nil {
		t.Fatal(err)
	}
	if _, err := ready(t.Context(), c); err == nil || !strings.Contains(err.Error(), "not that of this module") {
		t.Errorf("with the code of another module: %v", err)
	}
}

func FuzzSkeleton(f *testing.F) {
	f.Add([]byte(divides))
	f.Add([]byte(head + "\x0a\x83\x80\x00\x01\x01\x0b"))
	f.Fuzz(func(t *testing.T, in []byte) {
		out, ok := skeleton(in)
		if !ok {
			return
		}
		if again, ok := skeleton(out); !ok || !bytes.Equal(again, out) {
			t.Errorf("%q: %q, and of that %q, %v", in, out, again, ok)
		}
		if len(out) > 4*len(in)+16 {
			t.Errorf("%d bytes of %d", len(out), len(in))
		}
	})
}
