package spec

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/toolwarrant/toolwarrant/fault"
)

func resultDoc(schema string) []byte {
	return []byte(`{"name":"t","code":"1","codeType":"Javascript","x-toolwarrant-resultSchema":` + schema + `}`)
}

func TestCheckResult(t *testing.T) {
	const people = `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","$defs":{"person":{"type":"object",
		"properties":{"name":{"type":"string","pattern":"^[a-z]+$"},"age":{"type":"integer","minimum":0}},"required":["name"],"additionalProperties":false}},
		"properties":{"people":{"type":"array","items":{"$ref":"#/$defs/person"}},"n":{"type":"integer"}},"required":["n"]}`
	for _, tc := range []struct{ schema, result, want string }{
		{`null`, `[1,"x"]`, ""},
		{people, `{"n":1}`, ""},
		{people, `{"n":1,"people":[{"name":"a","age":3},{"name":"b"}],"more":true}`, ""},
		{people, `{"n":1.0}`, ""},
		{people, `{"n":"1"}`, `the value at /n breaks the rule "type"`},
		{people, `{}`, `the result breaks the rule "required"`},
		{people, `[]`, `the result breaks the rule "type"`},
		{people, `null`, `the result breaks the rule "type"`},
		{people, `{"n":1,"people":[{"name":"a"},{"name":"hunter2"}]}`, `the value at /people/1/name breaks the rule "pattern"`},
		{people, `{"n":1,"people":[{"name":"a","hunter2":1}]}`, `the value at /people/0 breaks the rule "additionalProperties"`},
	} {
		s, faults := Parse("t.json", resultDoc(tc.schema))
		if len(faults) > 0 {
			t.Fatalf("%s: %v", tc.schema, faults[0])
		}
		err := s.CheckResult(json.RawMessage(tc.result))
		if (err == nil) != (tc.want == "") {
			t.Errorf("%s: %v, want %q", tc.result, err, tc.want)
			continue
		}
		if err != nil && (err.Code != fault.RuntimeError || err.Reason != "result-schema" || !strings.HasSuffix(err.Message, tc.want) || strings.Contains(err.Message, "hunter2")) {
			t.Errorf("%s: %v, want %q", tc.result, err, tc.want)
		}
	}
	s, _ := Parse("t.json", resultDoc(`{"type":"object","properties":{"a":{"type":"array","items":{"anyOf":[`+strings.Repeat(`{"type":"string"},`, 999)+`{"type":"integer"}]}}}}`))
	if err := s.CheckResult(json.RawMessage(`{"a":[1` + strings.Repeat(",1", 30_000) + `]}`)); err == nil || !strings.Contains(err.Message, "too large") {
		t.Errorf("too much work: %v", err)
	}
}

func TestOutputSchema(t *testing.T) {
	s, faults := Parse("t.json", resultDoc(`{"$schema":"https://json-schema.org/draft/2020-12/schema", "type":"object","$defs":{"x":{"type":"string"}},"properties":{"z":{"$ref":"#/$defs/x"},"a":true}}`))
	if len(faults) > 0 {
		t.Fatal(faults[0])
	}
	const want = `{"type":"object","anyOf":[{"type":"object","properties":{"z":{"$ref":"#/$defs/x"},"a":true}},` + errorForm + `],"$defs":{"x":{"type":"string"}}}`
	if got := string(s.OutputSchema()); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	none, _ := Parse("t.json", resultDoc(`null`))
	if got := none.OutputSchema(); got != nil {
		t.Errorf("of none: %s", got)
	}
}

func TestBadResultSchemas(t *testing.T) {
	// Each definition refers to the next one twice: written out it has 2^30 parts.
	var bomb strings.Builder
	for i := range 30 {
		fmt.Fprintf(&bomb, `"d%d":{"allOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]},`, i, i+1, i+1)
	}
	for schema, want := range map[string]string{
		`{}`:                         "/type",
		`{"type":"string"}`:          "/type",
		`{"type":["object","null"]}`: "/type",
		`{"type":"object","properties":{"a":{"type":"text"}}}`:                                                                  "",
		`{"type":"object","properties":{"a":{"pattern":"(?=x)"}}}`:                                                              "/properties/a/pattern",
		`{"type":"object","$id":"https://example.com/x"}`:                                                                       "/$id",
		`{"type":"object","properties":{"a":{"$anchor":"x"}}}`:                                                                  "/properties/a/$anchor",
		`{"type":"object","properties":{"a":{"$dynamicRef":"#x"}}}`:                                                             "/properties/a/$dynamicRef",
		`{"type":"object","properties":{"a":{"$ref":"https://example.com/x"}}}`:                                                 "/properties/a/$ref",
		`{"type":"object","properties":{"a":{"$ref":"file:///etc/passwd"}}}`:                                                    "/properties/a/$ref",
		`{"type":"object","properties":{"a":{"$ref":"#"}}}`:                                                                     "/properties/a/$ref",
		`{"type":"object","properties":{"a":{"$ref":"#/properties/a"}}}`:                                                        "/properties/a/$ref",
		`{"type":"object","properties":{"a":{"$ref":"#/$defs/none"}}}`:                                                          "/properties/a/$ref",
		`{"type":"object","$defs":{"x":{"properties":{"a":{"$ref":"#/$defs/x"}}}}}`:                                             "/$defs/x/properties/a/$ref",
		`{"type":"object","$defs":{"x":{"$ref":"#/$defs/y"},"y":{"$ref":"#/$defs/x"}},"properties":{"a":{"$ref":"#/$defs/x"}}}`: "*",
		`{"type":"object","properties":{"a":{"$defs":{}}}}`:                                                                     "/properties/a/$defs",
		`{"type":"object","$schema":"http://json-schema.org/draft-07/schema#"}`:                                                 "/$schema",
		`{"type":"object","$defs":{` + bomb.String() + `"d30":{}},"$ref":"#/$defs/d0"}`:                                         "",
		`{"type":"object","anyOf":[` + strings.Repeat(`{},`, 2100) + `{}]}`:                                                     "",
	} {
		s, faults := Parse("t.json", resultDoc(schema))
		if s != nil || len(faults) != 1 || faults[0].Code != fault.SpecInvariant || faults[0].Reason != "result-schema" || faults[0].Line != 1 {
			t.Errorf("%.120s: %v", schema, faults)
			continue
		}
		if got := strings.TrimPrefix(faults[0].Pointer, ResultSchemaPointer); want != "*" && got != want && want != "" {
			t.Errorf("%.120s: at %q, want %q: %v", schema, got, want, faults[0])
		}
	}
	for _, schema := range []string{`"x"`, `true`, `[]`, `7`} {
		if s, faults := Parse("t.json", resultDoc(schema)); s != nil || faults[0].Code != fault.SpecParse {
			t.Errorf("%s: %v", schema, faults)
		}
	}
	// A name of a member that looks like a keyword is none.
	if s, faults := Parse("t.json", resultDoc(`{"type":"object","properties":{"$id":{"type":"string"},"$ref":{}},"enum":[{"$ref":"x"}]}`)); s == nil {
		t.Error(faults)
	}
}

func FuzzResultSchema(f *testing.F) {
	for _, seed := range []string{
		`{"type":"object"}`, `{"type":"object","properties":{"a":{"$ref":"#/$defs/x"}},"$defs":{"x":{"pattern":"a+"}}}`,
		`{"type":"object","if":{"required":["a"]},"then":{"not":{}},"unevaluatedProperties":false}`, `{"type":"object","$defs":{"x":{"$ref":"#/$defs/x"}}}`,
	} {
		f.Add(seed, `{"a":1}`)
		f.Add(seed, `[null,{}]`)
	}
	f.Fuzz(func(t *testing.T, schema, result string) {
		s, faults := Parse("t.json", resultDoc(schema))
		if s == nil {
			if len(faults) == 0 {
				t.Fatal("refused without a finding")
			}
			return
		}
		if raw := s.OutputSchema(); raw != nil && !json.Valid(raw) {
			t.Errorf("not JSON: %s", raw)
		}
		if json.Valid([]byte(result)) {
			_ = s.CheckResult(json.RawMessage(result))
		}
	})
}
