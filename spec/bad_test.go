package spec

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolwarrant/toolwarrant/fault"
)

// found is what a finding must keep: its message may change, these may not.
type found struct {
	Code      fault.Code
	Reason    string
	Pointer   string
	Line, Col int
}

func summary(errs []*fault.Error) []found {
	var out []found
	for _, e := range errs {
		out = append(out, found{e.Code, e.Reason, e.Pointer, e.Line, e.Column})
	}
	return out
}

var badFiles = map[string]found{
	"01-not-json.json":                    {fault.SpecParse, "syntax", "/code", 3, 11},
	"02-truncated.json":                   {fault.SpecParse, "syntax", "", 3, 21},
	"03-trailing-data.json":               {fault.SpecParse, "trailing-data", "", 6, 2},
	"04-duplicate-member.json":            {fault.SpecParse, "duplicate-member", "/draft", 6, 3},
	"05-invalid-utf8.json":                {fault.SpecParse, "invalid-utf8", "/description", 3, 19},
	"06-too-deep.json":                    {fault.SpecParse, "too-deep", "*", 5, 76},
	"07-not-an-object.json":               {fault.SpecParse, "type", "", 2, 1},
	"08-missing-name.json":                {fault.SpecParse, "required", "/name", 1, 1},
	"09-empty-name.json":                  {fault.SpecParse, "min-length", "/name", 2, 11},
	"10-wrong-type.json":                  {fault.SpecParse, "type", "/draft", 5, 12},
	"11-code-type.json":                   {fault.SpecParse, "enum", "/codeType", 4, 15},
	"12-unknown-override.json":            {fault.SpecParse, "additional-property", "/sandboxOverrides/hostAllow", 7, 5},
	"13-network-mode.json":                {fault.SpecParse, "enum", "/sandboxOverrides/networkMode", 6, 20},
	"14-param-type.json":                  {fault.SpecParse, "enum", "/params/0/type", 6, 46},
	"15-param-without-required.json":      {fault.SpecParse, "required", "/params/0/required", 6, 5},
	"16-tags.json":                        {fault.SpecParse, "type", "/tags/1", 5, 20},
	"17-static-two-keys.json":             {fault.SpecParse, "max-properties", "/staticVariables/0", 6, 5},
	"18-required-without-test-value.json": {fault.SpecInvariant, "missing-test-value", "/params/0/testValue", 6, 5},
	"19-duplicate-param.json":             {fault.SpecInvariant, "duplicate-param", "/params/1/name", 7, 14},
	"20-bad-placeholder.json":             {fault.SpecInvariant, "bad-placeholder", "/staticVariables/0/key", 6, 13},
	"21-unclosed-placeholder.json":        {fault.SpecInvariant, "bad-placeholder", "/staticVariables/0/key", 6, 13},
	"22-reserved-param.json":              {fault.SpecInvariant, "reserved-name", "/params/0/name", 6, 14},
	"23-collision.json":                   {fault.SpecInvariant, "name-collision", "/staticVariables/0/token", 9, 15},
	"24-class-pattern.json":               {fault.SpecInvariant, "class-pattern", "/sandboxOverrides/addAllowClasses/1", 8, 7},
	"25-test-value-type.json":             {fault.SpecInvariant, "bad-test-value", "/params/0/testValue", 6, 69},
	"26-version.json":                     {fault.SpecInvariant, "unsupported-version", "/toolSafety/version", 5, 29},
	"27-empty-code.json":                  {fault.SpecInvariant, "empty-code", "/code", 3, 11},
	"28-number-range.json":                {fault.SpecParse, "number-range", "/x-cost", 5, 13},
	"29-static-name.json":                 {fault.SpecInvariant, "bad-static-name", "/staticVariables/0/api-key", 6, 17},
	"30-timestamp.json":                   {fault.SpecParse, "type", "/createTimestamp", 5, 22},
	"31-empty.json":                       {fault.SpecParse, "syntax", "", 1, 1},
	"32-safety-member.json":               {fault.SpecParse, "additional-property", "/toolSafety/riskLevel", 5, 18},
}

// Every bad file is refused with exactly one finding at exactly one place.
func TestBadFiles(t *testing.T) {
	files, err := filepath.Glob("testdata/bad/*.json")
	if err != nil || len(files) != len(badFiles) {
		t.Fatalf("%d files, %d expectations: %v", len(files), len(badFiles), err)
	}
	for _, f := range files {
		t.Run(filepath.Base(f), func(t *testing.T) {
			docs, err := Load(f)
			if err != nil || len(docs) != 1 {
				t.Fatalf("Load = %d documents, %v", len(docs), err)
			}
			if docs[0].Spec != nil {
				t.Error("a bad document gave a Spec")
			}
			want := badFiles[filepath.Base(f)]
			got := summary(docs[0].Errors)
			if want.Pointer == "*" && len(got) == 1 {
				want.Pointer = got[0].Pointer
			}
			if diff := cmp.Diff([]found{want}, got); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
			for _, e := range docs[0].Errors {
				if e.Message == "" || e.File != f {
					t.Errorf("finding without message or file: %+v", e)
				}
			}
		})
	}
}

// The documents here are one line each, so that columns are easy to check.
func TestBadDocuments(t *testing.T) {
	const head = `{"name":"t","code":"1","codeType":"Javascript",`
	at := len(head) + 1 // column of the first byte after head
	tests := map[string]struct {
		doc  string
		want []found
	}{
		"two findings, in text order": {
			head + `"tags":1,"draft":2}`,
			[]found{{fault.SpecParse, "type", "/tags", 1, at + 7}, {fault.SpecParse, "type", "/draft", 1, at + 17}},
		},
		"lone surrogate": {head + `"x":"\ud800"}`, []found{{fault.SpecParse, "invalid-utf8", "/x", 1, at + 5}}},
		"unknown param member": {
			head + `"params":[{"name":"a","required":false,"type":"STRING","default":"x"}]}`,
			[]found{{fault.SpecParse, "additional-property", "/params/0/default", 1, at + 55}},
		},
		"nested closed block": {
			head + `"toolSafety":{"capabilities":{"network":{"mod":"open"}}}}`,
			[]found{{fault.SpecParse, "additional-property", "/toolSafety/capabilities/network/mod", 1, at + 41}},
		},
		"overrides of the wrong type": {
			head + `"sandboxOverrides":[]}`,
			[]found{{fault.SpecParse, "type", "/sandboxOverrides", 1, at + 19}},
		},
		"null where a value is a must": {
			`{"name":null,"code":"1","codeType":"Javascript"}`,
			[]found{{fault.SpecParse, "type", "/name", 1, 9}},
		},
		"static variable without member": {
			head + `"staticVariables":[{}]}`,
			[]found{{fault.SpecParse, "min-properties", "/staticVariables/0", 1, at + 19}},
		},
		"static variable that is a number": {
			head + `"staticVariables":[{"a":1}]}`,
			[]found{{fault.SpecParse, "type", "/staticVariables/0/a", 1, at + 24}},
		},
		"static variable that hides a helper": {
			head + `"staticVariables":[{"safety":"x"}]}`,
			[]found{{fault.SpecInvariant, "reserved-name", "/staticVariables/0/safety", 1, at + 29}},
		},
		"placeholder with default": {
			head + `"staticVariables":[{"a":"${A:-x}"}]}`,
			[]found{{fault.SpecInvariant, "bad-placeholder", "/staticVariables/0/a", 1, at + 24}},
		},
		"placeholder that starts with a digit": {
			head + `"staticVariables":[{"a":"${1A}"}]}`,
			[]found{{fault.SpecInvariant, "bad-placeholder", "/staticVariables/0/a", 1, at + 24}},
		},
		"bare wildcard": {
			head + `"sandboxOverrides":{"removeDenyClasses":["*"]}}`,
			[]found{{fault.SpecInvariant, "class-pattern", "/sandboxOverrides/removeDenyClasses/0", 1, at + 41}},
		},
		"wildcard inside": {
			head + `"sandboxOverrides":{"addDenyClasses":["java.*.File"]}}`,
			[]found{{fault.SpecInvariant, "class-pattern", "/sandboxOverrides/addDenyClasses/0", 1, at + 38}},
		},
		"empty toolId": {head + `"toolId":""}`, []found{{fault.SpecInvariant, "empty-tool-id", "/toolId", 1, at + 9}}},
		"null testValue of a required param": {
			head + `"params":[{"name":"a","required":true,"type":"STRING","testValue":null}]}`,
			[]found{{fault.SpecInvariant, "missing-test-value", "/params/0/testValue", 1, at + 66}},
		},
		"empty testValue of a required number": {
			head + `"params":[{"name":"a","required":true,"type":"NUMBER","testValue":""}]}`,
			[]found{{fault.SpecInvariant, "bad-test-value", "/params/0/testValue", 1, at + 66}},
		},
		"testValue is a list, not an object": {
			head + `"params":[{"name":"a","required":true,"type":"OBJECT","testValue":"[1]"}]}`,
			[]found{{fault.SpecInvariant, "bad-test-value", "/params/0/testValue", 1, at + 66}},
		},
		"timestamp beyond 2^53": {head + `"updateTimestamp":1e300}`, []found{{fault.SpecInvariant, "timestamp-range", "/updateTimestamp", 1, at + 18}}},
		"version without minor": {head + `"toolSafety":{"version":"1"}}`, []found{{fault.SpecInvariant, "unsupported-version", "/toolSafety/version", 1, at + 24}}},
		"pointer with escapes": {
			head + `"sandboxOverrides":{"a/b~c":1}}`,
			[]found{{fault.SpecParse, "additional-property", "/sandboxOverrides/a~1b~0c", 1, at + 20}},
		},
		"profile that is a number": {head + `"x-toolwarrant-profile":7}`, []found{{fault.SpecParse, "type", "/x-toolwarrant-profile", 1, at + 24}}},
		"byte order mark":          {"\ufeff" + head + `"draft":true}`, []found{{fault.SpecParse, "syntax", "", 1, 1}}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s, errs := Parse("f.json", []byte(tt.doc))
			if s != nil {
				t.Error("a bad document gave a Spec")
			}
			if diff := cmp.Diff(tt.want, summary(errs)); diff != "" {
				t.Errorf("findings (-want +got):\n%s\n%v", diff, errs)
			}
		})
	}
}

func TestSizeCap(t *testing.T) {
	big := append([]byte(`{"name":"`), make([]byte, MaxDocumentBytes)...)
	_, errs := Parse("f", big)
	if len(errs) != 1 || errs[0].Reason != "too-large" || errs[0].Line != 1 {
		t.Errorf("errors = %v", errs)
	}
}

func TestFindingsAreBounded(t *testing.T) {
	doc := []byte(`{"sandboxOverrides":{`)
	for i := range 500 {
		if i > 0 {
			doc = append(doc, ',')
		}
		doc = append(doc, `"a":1`...)
	}
	_, errs := Parse("f", append(doc, "}}"...))
	if len(errs) == 0 || len(errs) > maxFindings {
		t.Errorf("%d findings", len(errs))
	}
}

func TestUnreadable(t *testing.T) {
	for name, path := range map[string]string{
		"no such file":             filepath.Join(t.TempDir(), "none.json"),
		"folder without spec.json": t.TempDir(),
	} {
		_, err := Load(path)
		e := fault.From(err)
		if e == nil || e.Code != fault.Usage || e.Code.Exit() != fault.ExitUsage {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := os.Stat("testdata/bad"); err != nil {
		t.Fatal(err)
	}
}
