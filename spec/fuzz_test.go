package spec

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/toolwarrant/toolwarrant/fault"
)

func FuzzParse(f *testing.F) {
	for _, dir := range []string{"bad", "samples"} {
		files, _ := filepath.Glob(filepath.Join("testdata", dir, "*.json"))
		for _, name := range files {
			data, err := os.ReadFile(name)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data)
		}
	}
	f.Add([]byte(odd))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, d := range LoadBytes("f", data) {
			if (d.Spec == nil) == (len(d.Errors) == 0) {
				t.Fatalf("a Spec and errors, or neither: %+v", d)
			}
			for _, e := range d.Errors {
				if e.Code != fault.SpecParse && e.Code != fault.SpecInvariant || e.Reason == "" || e.Message == "" || e.Line < 1 || e.Column < 1 {
					t.Fatalf("incomplete finding: %+v", e)
				}
			}
			if d.Spec == nil {
				continue
			}
			if d.Spec.Digest() == "" || !json.Valid(d.Spec.InputSchema()) || !bytes.Contains(data, d.Spec.Bytes()) {
				t.Fatalf("broken Spec of %q", data)
			}
			d.Spec.Placeholders()
			d.Spec.Profile()
			// An edit and its reverse, on the same member, change nothing else.
			e, fe := d.Spec.Edit(Patch{Draft: ptr(!d.Spec.Draft)})
			if fe != nil {
				if len(data) < MaxDocumentBytes-100 {
					t.Fatalf("the edit failed: %v", fe)
				}
				continue
			}
			if e.Draft == d.Spec.Draft || e.Digest() != d.Spec.Digest() {
				t.Fatalf("the edit changed more than draft: %q -> %q", data, e.Bytes())
			}
		}
	})
}

func FuzzArgs(f *testing.F) {
	f.Add(`{"s":"a","i":"5","n":1e2,"b":true,"o":{"k":[1]},"x-y":"[]"}`)
	f.Add(`{"s":"\ud83d\ude00","i":-0}`)
	f.Add(`null`)
	s := argsSpec(f)
	f.Fuzz(func(t *testing.T, raw string) {
		out, err := s.Args(json.RawMessage(raw))
		if err != nil {
			if err.Code != fault.InvalidArguments || err.Reason == "" {
				t.Fatalf("Args(%q): %+v", raw, err)
			}
			return
		}
		// What was validated is a fixed point: deciding again sees the same.
		again, err := s.Args(out)
		if err != nil || !bytes.Equal(out, again) {
			t.Fatalf("Args(%q) = %s, then %s, %v", raw, out, again, err)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	data, err := os.ReadFile("testdata/samples/17.1-base64.json")
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, errs := Parse("f", data); errs != nil {
			b.Fatal(errs)
		}
	}
}

func BenchmarkArgs(b *testing.B) {
	s := argsSpec(b)
	raw := json.RawMessage(`{"s":"hello","i":5,"o":{"a":[1,2,3]}}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Args(raw); err != nil {
			b.Fatal(err)
		}
	}
}
