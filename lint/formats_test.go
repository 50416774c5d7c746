package lint

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/internal/junit"
	"github.com/toolwarrant/toolwarrant/spec"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// formats is every printer by the name of its golden file.
var formats = map[string]func(io.Writer, Report) error{
	"text": Text, "json": JSON, "sarif": SARIF, "junit": JUnit, "github": GitHub,
}

// TestGolden compares what each format makes of testdata/tools with its golden
// file.
func TestGolden(t *testing.T) {
	t.Chdir("testdata")
	policy := func(_ context.Context, s *spec.Spec, _ []string) ([]*fault.Error, []Finding, error) {
		if s.Name != "clean" {
			return nil, nil, nil
		}
		return nil, []Finding{{RuleID: "own-rule", Severity: Info, Message: "50% of 1,000: nothing\nto do", Pointer: "/name"}}, nil
	}
	r, err := Run(context.Background(), []string{"tools"}, Options{Resolve: policy, Titles: map[string]string{"own-rule": "A rule of a team"}, Version: "1.2.3"})
	if err != nil {
		t.Fatal(err)
	}
	for name, print := range formats {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := print(&b, r); err != nil {
				t.Fatal(err)
			}
			golden := filepath.Join("golden", name+".golden")
			if *update {
				if err := os.WriteFile(golden, b.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.ReplaceAll(string(want), "\r\n", "\n"), b.String()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", golden, diff)
			}
		})
	}
}

// TestSARIFHasItsSchema: what code scanning would refuse fails here.
func TestSARIFHasItsSchema(t *testing.T) {
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	schema, err := c.Compile("testdata/sarif-schema-2.1.0.json")
	if err != nil {
		t.Fatal(err)
	}
	full, err := Run(context.Background(), []string{"testdata/tools"}, Options{})
	if err != nil || len(full.Findings) < 5 {
		t.Fatal(full.Findings, err)
	}
	absolute, err := filepath.Abs("testdata/tools/hosts.json")
	if err != nil {
		t.Fatal(err)
	}
	strange := Report{Findings: []Finding{
		{"TW108", Warning, "a\u202eb", absolute, "/tags/2", 1, 1},
		{"TW108", Info, "m", "a b/c:d%.json", "", 0, 0},
	}}
	for name, r := range map[string]Report{"full": full, "empty": {}, "strange": strange} {
		var b bytes.Buffer
		if err := SARIF(&b, r); err != nil {
			t.Fatal(err)
		}
		v, err := jsonschema.UnmarshalJSON(&b)
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(v); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := schema.Validate(map[string]any{"version": "2.1.0"}); err == nil {
		t.Error("the schema accepts a log without runs")
	}
}

// TestFormatsHoldHostileText: names and text of authors add no line, no
// command and no element of their own.
func TestFormatsHoldHostileText(t *testing.T) {
	const evil = "x\n::error::pwned\r\n]]></failure>\u202e\x1b[31m%0A"
	r := Report{Findings: []Finding{{"TW108", Error, evil, evil, "/" + evil, 1, 1}}, Summary: Summary{Errors: 1, Files: 1}}
	for name, print := range formats {
		var b bytes.Buffer
		if err := print(&b, r); err != nil {
			t.Fatal(err)
		}
		out := b.String()
		if name != "json" && strings.ContainsAny(out, "\r\x1b\u202e") {
			t.Errorf("%s lets control characters through: %q", name, out)
		}
		switch name {
		case "github":
			if strings.Count(out, "\n") != 1 {
				t.Errorf("more than one command: %q", out)
			}
		case "text":
			if strings.Count(out, "\n") != 2 {
				t.Errorf("more lines than findings: %q", out)
			}
		case "junit":
			if err := xml.Unmarshal(b.Bytes(), new(junit.Suite)); err != nil || strings.Count(out, "</failure>") != 1 {
				t.Errorf("%v: %s", err, out)
			}
		default:
			if !json.Valid(b.Bytes()) {
				t.Errorf("%s is no JSON", name)
			}
		}
	}
}

// TestSecretsAreNotShown: the frame of a line with a secret would put it into
// the log of a build.
func TestSecretsAreNotShown(t *testing.T) {
	path := filepath.Join(tree(t, map[string]string{"a.json": `{"x": "hunter2"}` + "\n" + `{"y": "shown"}`}), "a.json")
	r := Report{Findings: []Finding{
		{"secret-literal", Error, "m", path, "/x", 1, 7},
		{"TW109", Warning, "m", path, "/x", 1, 2},
		{"TW109", Warning, "m", path, "/y", 2, 2},
	}}
	var b bytes.Buffer
	if err := Text(&b, r); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), "hunter2") || !strings.Contains(b.String(), "shown") {
		t.Errorf("got %s", b.String())
	}
}
