package authoring

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolwarrant/toolwarrant/catalog"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/spec"
)

// Each template is a whole tool: document, code, cases and declarations.
func TestNew(t *testing.T) {
	for _, tmpl := range Templates {
		t.Run(tmpl.Name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "tools")
			folder, err := New(dir, "myTool", tmpl.Name)
			if err != nil {
				t.Fatal(err)
			}
			docs, err := spec.Load(folder)
			if err != nil || len(docs) != 1 || len(docs[0].Errors) > 0 {
				t.Fatal(err, docs)
			}
			s := docs[0].Spec
			if s.Name != "myTool" || !s.Draft || s.HumanInTheLoop == nil || len(s.CheckCode()) > 0 {
				t.Errorf("%+v %v", s, s.CheckCode())
			}
			if _, ferr := s.Args([]byte(tmpl.Args)); ferr != nil {
				t.Errorf("the call of its README: %v", ferr)
			}
			if cases, err := catalog.Cases(&catalog.Tool{Path: folder}); err != nil || len(cases) < 3 {
				t.Errorf("%d cases, %v", len(cases), err)
			}
			readme, err := os.ReadFile(filepath.Join(folder, "README.md"))
			if err != nil || !strings.HasPrefix(string(readme), "# myTool\n") || strings.Contains(string(readme), "NAME") || strings.Contains(string(readme), "FILES") || strings.Contains(string(readme), "ARGS") {
				t.Errorf("%s %v", readme, err)
			}
			for _, f := range []string{"jsconfig.json", "types/globals.d.ts", "types/tool.d.ts"} {
				if st, err := os.Stat(filepath.Join(folder, f)); err != nil || st.Size() == 0 {
					t.Errorf("%s: %v", f, err)
				}
			}
			if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

func TestNewRefuses(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "taken"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ dir, name, template, reason, says string }{
		{dir, "", "pure", "bad-name", `"" cannot`},
		{dir, "../up", "pure", "bad-name", `"up" can`},
		{dir, "a/b", "pure", "bad-name", `"aB" can`},
		{dir, "1", "pure", "bad-name", "a letter first"},
		{dir, "day of the week", "pure", "bad-name", `"dayOfTheWeek" can`},
		{dir, "été", "pure", "bad-name", `"t" can`},
		{dir, strings.Repeat("a", 65), "pure", "bad-name", `"` + strings.Repeat("a", 64) + `" can`},
		{dir, "ok", "soap", "unknown-template", "there are pure, http, file"},
		{dir, "ok", "", "unknown-template", `no template ""`},
		{dir, "taken", "pure", "exists", "nothing is written over"},
		{filepath.Join(dir, "file"), "ok", "pure", "path-unwritable", "file"},
	} {
		_, err := New(tc.dir, tc.name, tc.template)
		f := fault.From(err)
		if err == nil || f.Code != fault.Usage || f.Reason != tc.reason || !strings.Contains(f.Message, tc.says) {
			t.Errorf("%q %q: %v", tc.name, tc.template, err)
		}
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 2 {
		t.Errorf("left behind: %v", entries)
	}
}

func TestDeclare(t *testing.T) {
	s, errs := spec.Parse("a.json", []byte(`{"name":"x*/y","description":"d","codeType":"Javascript","code":"return 1","params":[
		{"name":"text","type":"STRING","required":true,"testValue":"t","description":"ends */ here\n and\u2028there"},
		{"name":"n","type":"INTEGER","required":false},{"name":"f","type":"NUMBER","required":false},{"name":"b","type":"BOOLEAN","required":false},{"name":"o","type":"OBJECT","required":false},
		{"name":"l","type":"ARRAY","required":false},{"name":"a-b\"","type":"STRING","required":false},{"name":"class","type":"STRING","required":false}],
		"staticVariables":[{"token":"t"}]}`))
	if len(errs) > 0 {
		t.Fatal(errs[0])
	}
	want := `// The names of x* /y, from its spec.json. Written by "toolwarrant types".

interface Args {
  /** ends * / here and there */
  text: string;
  n?: number;
  f?: number;
  b?: boolean;
  o?: Record<string, any>;
  l?: any[];
  "a-b\""?: string;
  "class"?: string;
}

/** ends * / here and there */
declare var text: string;

declare var n: number | undefined;

declare var f: number | undefined;

declare var b: boolean | undefined;

declare var o: Record<string, any> | undefined;

declare var l: any[] | undefined;

/** A static variable. */
declare var token: string;
`
	if got := string(Declare(s)); got != want {
		t.Errorf("got\n%s", got)
	}
}
