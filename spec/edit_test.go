package spec

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolwarrant/toolwarrant/fault"
)

const odd = "{ \"x-acme\" : {\"b\":1, \"a\":[ 1.50,\t2e0 ]},\n\t\"codeType\":\"Javascript\",\n\t\"name\":\"t\\u0065st\",\n" +
	"\t\"draft\" :  true ,\n\t\"zeta\":null,\n\t\"code\":\"return \\\"\\u00e9<&>\\\"\" }\n\n"

func must(t testing.TB, doc string) *Spec {
	t.Helper()
	s, errs := Parse("f.json", []byte(doc))
	if errs != nil {
		t.Fatal(errs)
	}
	return s
}

func ptr[T any](v T) *T { return &v }

func TestRoundTrip(t *testing.T) {
	s := must(t, odd)
	if string(s.Bytes()) != odd {
		t.Errorf("an untouched document changed:\n%s", s.Bytes())
	}
	want := []Field{{"x-acme", json.RawMessage("{\"b\":1, \"a\":[ 1.50,\t2e0 ]}")}, {"zeta", json.RawMessage("null")}}
	if diff := cmp.Diff(want, s.Extra); diff != "" {
		t.Errorf("unknown members (-want +got):\n%s", diff)
	}
	if s.Name != "test" || s.Code != `return "é<&>"` {
		t.Errorf("name %q, code %q", s.Name, s.Code)
	}
}

func TestEditReplacesInPlace(t *testing.T) {
	s := must(t, odd)
	e, err := s.Edit(Patch{Draft: ptr(false)})
	if err != nil {
		t.Fatal(err)
	}
	if want := strings.Replace(odd, `"draft" :  true`, `"draft" :  false`, 1); string(e.Bytes()) != want {
		t.Errorf("edited:\n%s\nwant:\n%s", e.Bytes(), want)
	}
	if e.Draft || !s.Draft || string(s.Bytes()) != odd {
		t.Error("the edit is missing, or changed the original")
	}
	if e.Digest() != s.Digest() {
		t.Error("draft is part of the digest")
	}
	c, err := s.Edit(Patch{Code: ptr("return '</script>'")})
	if err != nil {
		t.Fatal(err)
	}
	if want := strings.Replace(odd, `"return \"\u00e9<&>\""`, `"return '</script>'"`, 1); string(c.Bytes()) != want {
		t.Errorf("edited:\n%s", c.Bytes())
	}
	if c.Digest() == s.Digest() {
		t.Error("the code is not part of the digest")
	}
}

func TestEditAddsInStyle(t *testing.T) {
	ts := &ToolSafety{Version: "1.0", Runtime: ToolSafetyRuntime{ID: "toolwarrant/goja", Helpers: []string{"safety.http/v1"}}}
	ts.Capabilities.Network.Mode = "blocked"
	s := must(t, "{\n  \"name\": \"t\",\n  \"code\": \"1\",\n  \"codeType\": \"Javascript\"\n}\n")
	e, err := s.Edit(Patch{Draft: ptr(false), ToolSafety: ts, UpdateTimestamp: ptr(int64(1700000000000))})
	if err != nil {
		t.Fatal(err)
	}
	want := `{
  "name": "t",
  "code": "1",
  "codeType": "Javascript",
  "toolSafety": {
    "version": "1.0",
    "runtime": {
      "id": "toolwarrant/goja",
      "minVersion": "",
      "ecmaVersion": "",
      "javaInterop": false,
      "helpers": [
        "safety.http/v1"
      ],
      "console": false
    },
    "category": {
      "source": "",
      "id": ""
    },
    "capabilities": {
      "network": {
        "mode": "blocked",
        "hosts": []
      },
      "fileRead": false,
      "fileWrite": false
    }
  },
  "draft": false,
  "updateTimestamp": 1700000000000
}
`
	if diff := cmp.Diff(want, string(e.Bytes())); diff != "" {
		t.Errorf("edited (-want +got):\n%s", diff)
	}
	line := must(t, `{"name":"t","code":"1","codeType":"Javascript"}`)
	if e, err = line.Edit(Patch{Draft: ptr(false), ToolID: ptr("id")}); err != nil {
		t.Fatal(err)
	}
	if got, want := string(e.Bytes()), `{"name":"t","code":"1","codeType":"Javascript","toolId":"id","draft":false}`; got != want {
		t.Errorf("edited %s, want %s", got, want)
	}
}

func TestEditIsValidated(t *testing.T) {
	s := must(t, odd)
	if _, err := s.Edit(Patch{Code: ptr("")}); err == nil || err.Reason != "empty-code" {
		t.Errorf("empty code: %v", err)
	}
	if _, err := (&Spec{}).Edit(Patch{}); err == nil {
		t.Error("a Spec without text was edited")
	}
}

func TestSaveFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.json")
	if err := os.WriteFile(path, []byte(odd), 0o640); err != nil {
		t.Fatal(err)
	}
	docs, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	e, fe := docs[0].Spec.Edit(Patch{Draft: ptr(false)})
	if fe != nil {
		t.Fatal(fe)
	}
	if err := e.Save(path); err != nil {
		t.Fatal(err)
	}
	got, _ := os.ReadFile(path)
	if !bytes.Equal(got, e.Bytes()) {
		t.Errorf("saved:\n%s", got)
	}
	if st, _ := os.Stat(path); runtime.GOOS != "windows" && st.Mode().Perm() != 0o640 {
		t.Errorf("permission = %v", st.Mode())
	}
	if err := e.Save(filepath.Join(path, "below-a-file")); fault.From(err).Code != fault.Usage {
		t.Errorf("an impossible path: %v", err)
	}
}

func TestSaveFolder(t *testing.T) {
	dir := folder(t, `{"name":"t","codeType":"Javascript"}`, "return 1")
	docs, err := Load(dir)
	if err != nil || docs[0].Errors != nil {
		t.Fatal(err, docs)
	}
	e, fe := docs[0].Spec.Edit(Patch{Draft: ptr(false), Code: ptr("return 2")})
	if fe != nil {
		t.Fatal(fe)
	}
	if err := e.Save(dir); err != nil {
		t.Fatal(err)
	}
	js, _ := os.ReadFile(filepath.Join(dir, "action.js"))
	doc, _ := os.ReadFile(filepath.Join(dir, "spec.json"))
	if string(js) != "return 2" || string(doc) != `{"name":"t","codeType":"Javascript","draft":false}` {
		t.Errorf("saved %s and %s", js, doc)
	}
	alone := filepath.Join(dir, "alone.json")
	if err := e.Save(alone); err != nil {
		t.Fatal(err)
	}
	again, err := Load(alone)
	if err != nil || again[0].Errors != nil || again[0].Spec.Digest() != e.Digest() {
		t.Errorf("the standalone form is another tool: %v %v", err, again)
	}
}

func TestSaveIntoBundle(t *testing.T) {
	const bundle = "{\n  \"toolSpecs\": [\n    {\"name\":\"a\",\"code\":\"1\",\"codeType\":\"Javascript\"},\n" +
		"    {\"name\":\"b\",\"code\":\"2\",\"codeType\":\"Javascript\"}\n  ],\n  \"toolMcpServerSetting\": {}\n}\n"
	path := filepath.Join(t.TempDir(), "bundle.json")
	if err := os.WriteFile(path, []byte(bundle), 0o600); err != nil {
		t.Fatal(err)
	}
	docs, err := Load(path)
	if err != nil || len(docs) != 2 {
		t.Fatal(err, docs)
	}
	for i := range docs {
		e, fe := docs[i].Spec.Edit(Patch{Draft: ptr(false)})
		if fe != nil {
			t.Fatal(fe)
		}
		if err := e.Save(path); err != nil {
			t.Fatal(err)
		}
	}
	got, _ := os.ReadFile(path)
	if want := strings.ReplaceAll(bundle, `"Javascript"}`, `"Javascript","draft":false}`); string(got) != want {
		t.Errorf("bundle:\n%s", got)
	}
	// The first documents no longer stand there as they were loaded.
	e, _ := docs[0].Spec.Edit(Patch{Code: ptr("3")})
	if err := e.Save(path); fault.From(err).Reason != "changed-on-disk" {
		t.Errorf("a stale save: %v", err)
	}
}

func folder(t testing.TB, doc, code string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"spec.json": doc, "action.js": code} {
		if text == "" {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
