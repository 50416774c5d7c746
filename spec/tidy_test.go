package spec

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTidy(t *testing.T) {
	const text = `{
  "code": "return 1",
  "x-mine": {"b": 1, "a": 2},
  "draft": null,
  "name" : "t",
  "codeType": "Javascript"
}
`
	const want = `{
  "toolId": "d2e7eb8e-cd6c-5eb2-b2a3-2ea4a6c9e5a0",
  "name" : "t",
  "tags": [],
  "params": [],
  "staticVariables": [],
  "code": "return 1",
  "codeType": "Javascript",
  "draft": true,
  "x-mine": {"b": 1, "a": 2}
}
`
	s, errs := Parse("t.json", []byte(text))
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	tidy, e := s.Tidy(nil)
	if e != nil {
		t.Fatal(e)
	}
	if diff := cmp.Diff(strings.Replace(want, "d2e7eb8e-cd6c-5eb2-b2a3-2ea4a6c9e5a0", DeriveToolID("t"), 1), string(tidy.Bytes())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if string(s.Bytes()) != text {
		t.Error("the document itself changed")
	}
}

// TestTidyKeepsTheTool: on every sample, tidying is idempotent and changes
// nothing that the digest covers.
func TestTidyKeepsTheTool(t *testing.T) {
	files, err := filepath.Glob("testdata/samples/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		s := sample(t, filepath.Base(f))
		posture := &ToolSafety{
			Version: "1.0", Category: ToolSafetyCategory{Source: "user", ID: "MATH"},
			Capabilities: Capabilities{Network: CapabilityNetwork{Mode: "blocked"}},
		}
		for _, safety := range []*ToolSafety{nil, posture} {
			once, e := s.Tidy(safety)
			if e != nil {
				t.Fatal(f, e)
			}
			twice, e := once.Tidy(safety)
			if e != nil {
				t.Fatal(f, e)
			}
			if !bytes.Equal(once.Bytes(), twice.Bytes()) {
				t.Errorf("%s: a second run changes it again:\n%s", f, cmp.Diff(string(once.Bytes()), string(twice.Bytes())))
			}
			if once.Digest() != s.Digest() || once.Draft != s.Draft || once.ToolID != s.ToolID {
				t.Errorf("%s: the tool changed", f)
			}
		}
	}
}

// TestTidyBundle: every member of a bundle can be saved after the others.
func TestTidyBundle(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bundle.json")
	text := `[{"code":"return 1","name":"a","codeType":"Javascript"}, {"code":"return 2","name":"b","codeType":"Javascript"}]`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	docs, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range docs {
		tidy, e := d.Spec.Tidy(nil)
		if e != nil {
			t.Fatal(e)
		}
		if err := tidy.Save(path); err != nil {
			t.Fatal(err)
		}
	}
	again, err := Load(path)
	if err != nil || len(again) != 2 {
		t.Fatal(again, err)
	}
	for i, d := range again {
		tidy, e := d.Spec.Tidy(nil)
		if e != nil || !bytes.Equal(tidy.Bytes(), d.Spec.Bytes()) || d.Spec.Name != docs[i].Spec.Name {
			t.Errorf("member %d: %s, %v", i, d.Spec.Bytes(), e)
		}
	}
}
