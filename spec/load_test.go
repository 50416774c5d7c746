package spec

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolwarrant/toolwarrant/fault"
)

const minimal = `{"name":"%","code":"return 1","codeType":"Javascript"}`

func doc(name string) string { return strings.Replace(minimal, "%", name, 1) }

func TestLoadForms(t *testing.T) {
	for form, text := range map[string]string{
		"one":    doc("a"),
		"array":  "[" + doc("a") + ",\n " + doc("b") + "]",
		"bundle": `{"toolMcpServerSetting":{"autoAdd":true},"toolSpecs":[` + doc("a") + "]}",
		"empty":  "[]",
	} {
		docs, err := LoadReader("f", strings.NewReader(text))
		if err != nil {
			t.Fatal(form, err)
		}
		if want := strings.Count(text, "return"); len(docs) != want {
			t.Errorf("%s: %d documents, want %d", form, len(docs), want)
		}
		for _, d := range docs {
			if d.Errors != nil || d.Spec.File() != "f" {
				t.Errorf("%s: %+v", form, d)
			}
		}
	}
}

// A document may carry a member called toolSpecs; it is not a bundle then.
func TestDocumentWithToolSpecs(t *testing.T) {
	docs := LoadBytes("f", []byte(`{"name":"a","code":"1","codeType":"Javascript","toolSpecs":[1]}`))
	if len(docs) != 1 || docs[0].Errors != nil || len(docs[0].Spec.Extra) != 1 {
		t.Errorf("%+v", docs)
	}
}

func TestBundlePositions(t *testing.T) {
	text := "{\"toolSpecs\": [\n  " + doc("a") + ", {\"name\":7,\"code\":\"1\",\"codeType\":\"Javascript\"},\n" +
		"  {\n    \"name\": \"c\",\n    \"code\": \"1\",\n    \"codeType\": \"x\"\n  }, 5\n]}"
	docs := LoadBytes("b.json", []byte(text))
	if len(docs) != 4 {
		t.Fatalf("%d documents", len(docs))
	}
	var got []found
	for _, d := range docs {
		got = append(got, summary(d.Errors)...)
	}
	want := []found{
		{fault.SpecParse, "type", "/toolSpecs/1/name", 2, 2 + len(doc("a")) + 2 + 9},
		{fault.SpecParse, "enum", "/toolSpecs/2/codeType", 6, 17},
		{fault.SpecParse, "type", "/toolSpecs/3", 7, 6},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
	s := docs[0].Spec
	if p, ok := s.Position("/code"); !ok || p != (Position{2, 2 + 20}) {
		t.Errorf("position of /code = %v %v", p, ok)
	}
	if e := s.At(fault.New(fault.ResolverReject, "r", "m"), "/sandboxOverrides/networkMode"); e.Pointer != "/toolSpecs/0/sandboxOverrides/networkMode" || e.Line != 2 || e.Column != 3 {
		t.Errorf("At = %+v", e)
	}
	if _, ok := s.Position("/none/0"); ok {
		t.Error("a value that does not exist has a position")
	}
}

func TestBundleDuplicates(t *testing.T) {
	text := "[" + doc("a") + "," + doc("a") + `,{"toolId":"x","name":"c","code":"1","codeType":"Javascript"},` +
		`{"toolId":"x","name":"d","code":"1","codeType":"Javascript"}]`
	docs := LoadBytes("f", []byte(text))
	var got []string
	for _, d := range docs {
		for _, e := range d.Errors {
			got = append(got, string(e.Code)+" "+e.Reason+" "+e.Pointer)
		}
	}
	want := []string{"SPEC_INVARIANT duplicate-tool-name /1/name", "SPEC_INVARIANT duplicate-tool-id /3/toolId"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
	if docs[0].Spec == nil || docs[2].Spec == nil {
		t.Error("the first of two is refused as well")
	}
}

func TestLoadBrokenBundle(t *testing.T) {
	docs := LoadBytes("f", []byte("[{\"name\":\"a\"},\n{]"))
	if len(docs) != 1 || len(docs[0].Errors) != 1 || docs[0].Errors[0].Line != 2 {
		t.Errorf("%+v", docs)
	}
}

func TestLoadFolder(t *testing.T) {
	const head = "{\n  \"name\": \"t\",\n  \"codeType\": \"Javascript\""
	tests := map[string]struct {
		doc, code string
		want      []found
		file      string
	}{
		"code apart":     {head + "\n}", "return 1", nil, ""},
		"code inside":    {head + ",\n  \"code\": \"return 1\"\n}", "", nil, ""},
		"no code at all": {head + "\n}", "", []found{{fault.SpecParse, "required", "/code", 1, 1}}, "spec.json"},
		"code twice":     {head + ",\n  \"code\": \"return 1\"\n}", "return 1", []found{{fault.SpecInvariant, "code-twice", "/code", 4, 11}}, "spec.json"},
		"blank code":     {head + "\n}", " \n", []found{{fault.SpecInvariant, "empty-code", "/code", 1, 1}}, "action.js"},
		"not UTF-8":      {head + "\n}", "return '\xff'", []found{{fault.SpecParse, "invalid-utf8", "/code", 1, 1}}, "action.js"},
		"too large":      {head + "\n}", strings.Repeat(" ", MaxCodeBytes) + "1", []found{{fault.SpecInvariant, "code-too-large", "/code", 1, 1}}, "action.js"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			docs, err := Load(folder(t, tt.doc, tt.code))
			if err != nil || len(docs) != 1 {
				t.Fatal(err, docs)
			}
			if diff := cmp.Diff(tt.want, summary(docs[0].Errors)); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
			for _, e := range docs[0].Errors {
				if filepath.Base(e.File) != tt.file {
					t.Errorf("file = %s, want %s", e.File, tt.file)
				}
			}
			if tt.want == nil && docs[0].Spec.Code != "return 1" {
				t.Errorf("code = %q", docs[0].Spec.Code)
			}
		})
	}
}

// A link out of the folder must not make another file the code of a tool.
func TestFolderConfinesLinks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("symbolic links need a privilege here")
	}
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("return 'secret'"), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := folder(t, `{"name":"t","codeType":"Javascript"}`, "")
	if err := os.Symlink(secret, filepath.Join(dir, "action.js")); err != nil {
		t.Fatal(err)
	}
	docs, err := Load(dir)
	if err == nil || fault.From(err).Reason != "unreadable" {
		t.Errorf("the link was followed: %+v %v", docs, err)
	}
}

func TestCodeProblemPlace(t *testing.T) {
	s := must(t, "{\"name\":\"t\",\"codeType\":\"Javascript\",\n \"code\":\"let a = 1;\\nlet = ;\"}")
	errs := s.CheckCode()
	if len(errs) != 1 || errs[0].Code != fault.SpecInvariant || errs[0].Reason != "code-syntax" || errs[0].Pointer != "/code" || errs[0].Line != 2 ||
		!strings.Contains(errs[0].Message, "code line 2") {
		t.Errorf("inside the document: %v", errs)
	}
	docs, _ := Load(folder(t, `{"name":"t","codeType":"Javascript"}`, "let a = 1;\nlet = ;"))
	errs = docs[0].Spec.CheckCode()
	if len(errs) != 1 || filepath.Base(errs[0].File) != "action.js" || errs[0].Line != 2 || errs[0].Column < 5 {
		t.Errorf("in action.js: %v", errs)
	}
	if f := s.Facts(); len(f.Helpers) != 0 || f.JavaInterop {
		t.Errorf("facts of broken code: %+v", f)
	}
}
