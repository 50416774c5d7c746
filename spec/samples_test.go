package spec

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolwarrant/toolwarrant/spec/script"
)

// sample reads a canonical example of section 17. The abbreviated ones have no
// code; the folder form supplies it, so that their text stays as published.
func sample(t testing.TB, name string) *Spec {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata/samples", name))
	if err != nil {
		t.Fatal(err)
	}
	src := &source{file: name, data: data, line: 1, column: 1}
	root, _ := readTree(data)
	if root.get("codeType") == nil {
		src.data = setMember(src.data, "codeType", func(string) []byte { return []byte(`"Javascript"`) })
	}
	var act *action
	if root.get("code") == nil {
		act = &action{file: "action.js", code: "return 1"}
	}
	parsed := parseSource(src, act)
	s, errs := parsed.Spec, parsed.Errors
	if len(errs) > 0 {
		t.Fatalf("%s: %v", name, errs)
	}
	return s
}

func TestCanonicalSamples(t *testing.T) {
	files, err := filepath.Glob("testdata/samples/*.json")
	if err != nil || len(files) != 8 {
		t.Fatalf("%d samples, %v", len(files), err)
	}
	for _, f := range files {
		s := sample(t, filepath.Base(f))
		if s.Name == "" || s.ToolID == "" || s.Digest() == "" {
			t.Errorf("%s: incomplete: %+v", f, s.Name)
		}
		if errs := s.CheckRuntime(ThisRuntime()); len(errs) > 0 {
			t.Errorf("%s: %v", f, errs)
		}
		if _, e := s.TestArgs(); e != nil {
			t.Errorf("%s: %v", f, e)
		}
		if errs := s.CheckCode(); len(errs) > 0 {
			t.Errorf("%s: %v", f, errs)
		}
	}
}

func TestSampleValues(t *testing.T) {
	b := sample(t, "17.1-base64.json")
	if b.ToolID != "e30d037d-20cf-55f2-b43a-1b89560417da" || b.Draft || b.Overrides != nil ||
		b.ToolSafety.Runtime.MinVersion != "" || !b.ToolSafety.Runtime.Console || b.ToolSafety.Capabilities.Network.Mode != "blocked" {
		t.Errorf("base64 = %+v", b)
	}
	u := sample(t, "17.2-getUpbitTicker.json")
	if !u.Draft || *u.Overrides.NetworkMode != "allowlist" || u.Overrides.FileRead != nil || u.ToolID != DeriveToolID("getUpbitTicker") {
		t.Errorf("getUpbitTicker = %+v", u)
	}
	n := sample(t, "17.3-searchNaver.json")
	if got := n.Placeholders(); !slices.Equal(got, []string{"NAVER_CLIENT_ID", "NAVER_CLIENT_SECRET"}) {
		t.Errorf("placeholders = %v", got)
	}
	e := sample(t, "17.7-evalExpression.json")
	args, fe := e.TestArgs()
	if fe != nil || string(args) != `{"expr":"x + 2 * y","variables":{"x":3,"y":4}}` {
		t.Errorf("test args = %s, %v", args, fe)
	}
}

// An explicit value, null, and an absent member are three different things in
// a file, and two in the block.
func TestTristate(t *testing.T) {
	parse := func(overrides string) *Overrides {
		t.Helper()
		s, errs := Parse("f", []byte(`{"name":"t","code":"1","codeType":"Javascript"`+overrides+`}`))
		if errs != nil {
			t.Fatal(errs)
		}
		return s.Overrides
	}
	no := false
	for doc, want := range map[string]*Overrides{
		``:                         nil,
		`,"sandboxOverrides":null`: nil,
		`,"sandboxOverrides":{}`:   nil,
		`,"sandboxOverrides":{"fileRead":null,"hostsAllow":[],"addDenyClasses":null}`: nil,
		`,"sandboxOverrides":{"fileRead":false}`:                                      {FileRead: &no},
	} {
		if diff := cmp.Diff(want, parse(doc)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", doc, diff)
		}
	}
}

func TestNullIsAbsent(t *testing.T) {
	s, errs := Parse("f", []byte(`{"toolId":null,"name":"t","description":null,"category":null,"tags":null,"params":null,
		"staticVariables":null,"code":"1","codeType":"Javascript","sandboxOverrides":null,"toolSafety":null,
		"humanInTheLoop":{"mode":null,"promptTemplate":null},"draft":null,"createTimestamp":null,"updateTimestamp":null,
		"x-toolwarrant-profile":null}`))
	if errs != nil {
		t.Fatal(errs)
	}
	bare, _ := Parse("f", []byte(`{"name":"t","code":"1","codeType":"Javascript"}`))
	if !s.Draft || s.ToolID != DeriveToolID("t") || s.ToolSafety != nil || s.HumanInTheLoop != nil || s.Profile() != "" {
		t.Errorf("null was not read as absent: %+v", s)
	}
	if s.Digest() != bare.Digest() {
		t.Error("null members change the digest")
	}
}

func TestDeriveToolID(t *testing.T) {
	// Computed apart from this program: uuid5(uuid5(NAMESPACE_URL, "https://toolwarrant.dev/ns/tool"), "base64").
	const want = "bcb8a8ec-6929-57bb-9e51-c1006653f9a4"
	if got := DeriveToolID("base64"); got != want {
		t.Errorf("DeriveToolID = %s, want %s", got, want)
	}
	s, errs := Parse("f", []byte(`{"toolId":"not a uuid","name":"t","code":"1","codeType":"Javascript"}`))
	if errs != nil || s.ToolID != "not a uuid" {
		t.Errorf("opaque toolId: %v, %v", s, errs)
	}
}

// One bound for the code, stated in two packages that cannot share it.
func TestCodeBound(t *testing.T) {
	if MaxCodeBytes != script.MaxBytes {
		t.Errorf("MaxCodeBytes = %d, script.MaxBytes = %d", MaxCodeBytes, script.MaxBytes)
	}
}
