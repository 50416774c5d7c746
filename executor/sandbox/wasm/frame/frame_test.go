package frame_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/toolwarrant/toolwarrant/executor/sandbox/wasm/frame"
)

func TestRoundTrip(t *testing.T) {
	var stream bytes.Buffer
	w := frame.NewWriter(&stream)
	long := strings.Repeat("x", 3*frame.MaxBody+7)
	for _, err := range []error{
		w.Write(frame.Hello, nil), w.Write(frame.Out, []byte(long)), w.Write(frame.In, nil),
		w.WriteJSON(frame.Done, frame.Report{Code: 3}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	r := frame.NewReader(&stream, frame.MaxBody)
	kinds, out := "", ""
	for {
		k, body, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		kinds += string(rune(k))
		if k == frame.Out {
			out += string(body)
		}
	}
	if kinds != "HOOOOID" || out != long {
		t.Errorf("read %s with %d bytes of output", kinds, len(out))
	}
}

// TestBadStreams: what the other end may send in place of frames.
func TestBadStreams(t *testing.T) {
	for what, stream := range map[string]string{
		"too long":        "O\xff\xff\xff\xff",
		"one too long":    "O\x00\x00\x00\x09123456789",
		"cut in the head": "O\x00\x00",
		"cut in the body": "O\x00\x00\x00\x04ab",
		"no body":         "O\x00\x00\x00\x04",
	} {
		if k, body, err := frame.NewReader(strings.NewReader(stream), 8).Read(); err == nil || errors.Is(err, io.EOF) {
			t.Errorf("%s: %c %q, %v", what, k, body, err)
		}
	}
}

// FuzzReader: no stream makes it panic, or give more than the bound.
func FuzzReader(f *testing.F) {
	f.Add([]byte("H\x00\x00\x00\x00O\x00\x00\x00\x02ab"))
	f.Add([]byte("O\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, stream []byte) {
		r := frame.NewReader(bytes.NewReader(stream), 16)
		total := 0
		for {
			_, body, err := r.Read()
			if err != nil {
				return
			}
			if total += 5 + len(body); len(body) > 16 || total > len(stream) {
				t.Fatalf("a body of %d, %d bytes of %d", len(body), total, len(stream))
			}
		}
	})
}
