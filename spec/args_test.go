package spec

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolwarrant/toolwarrant/fault"
)

func argsSpec(t testing.TB) *Spec {
	return must(t, `{"name":"t","code":"1","codeType":"Javascript","params":[
		{"name":"s","required":true,"type":"STRING","testValue":"x","description":"a \"text\" <b>"},
		{"name":"i","required":false,"type":"INTEGER","testValue":" 7 "},
		{"name":"n","required":false,"type":"NUMBER","testValue":""},
		{"name":"b","required":false,"type":"BOOLEAN"},
		{"name":"o","required":false,"type":"OBJECT","testValue":"{\"z\":1,\"a\":2}"},
		{"name":"x-y","required":false,"type":"ARRAY"}]}`)
}

func TestArgs(t *testing.T) {
	s := argsSpec(t)
	for in, want := range map[string]string{
		`{"s":"a"}`:                                `{"s":"a"}`,
		`{"x-y":[1,{"b":1,"a":2}],"s":""}`:         `{"s":"","x-y":[1,{"b":1,"a":2}]}`,
		`{"b":true,"i":5.0,"s":"a"}`:               `{"s":"a","i":5,"b":true}`,
		`{"i":"5","n":"1e2","b":"TRUE","s":""}`:    `{"s":"","i":5,"n":100,"b":true}`,
		`{"o":"{\"b\":1, \"a\":[ ]}","s":"a"}`:     `{"s":"a","o":{"b":1,"a":[]}}`,
		`{"x-y":"[1.0]","s":"a"}`:                  `{"s":"a","x-y":[1]}`,
		`{"s":"a","i":null,"n":"","b":" ","o":""}`: `{"s":"a"}`,
		`{"s":"${HOME} \u003c"}`:                   `{"s":"${HOME} <"}`,
		`{"s":"a","i":9007199254740991}`:           `{"s":"a","i":9007199254740991}`,
		`{"s":"a","i":-0}`:                         `{"s":"a","i":0}`,
		`{"s":"a","n":9007199254740993}`:           `{"s":"a","n":9007199254740992}`,
	} {
		got, err := s.Args(json.RawMessage(in))
		if err != nil || string(got) != want {
			t.Errorf("Args(%s) = %s, %v; want %s", in, got, err, want)
		}
	}
}

func TestArgsRefused(t *testing.T) {
	s := argsSpec(t)
	for in, want := range map[string][2]string{
		``:                                  {"missing-argument", "/s"},
		`null`:                              {"missing-argument", "/s"},
		`{}`:                                {"missing-argument", "/s"},
		`{"s":null}`:                        {"missing-argument", "/s"},
		`[]`:                                {"not-an-object", ""},
		`"{}"`:                              {"not-an-object", ""},
		`{"s":5}`:                           {"wrong-type", "/s"},
		`{"s":true}`:                        {"wrong-type", "/s"},
		`{"s":{}}`:                          {"wrong-type", "/s"},
		`{"s":"a","i":5.5}`:                 {"wrong-type", "/i"},
		`{"s":"a","i":"5x"}`:                {"wrong-type", "/i"},
		`{"s":"a","i":"0x10"}`:              {"wrong-type", "/i"},
		`{"s":"a","i":true}`:                {"wrong-type", "/i"},
		`{"s":"a","i":"true"}`:              {"wrong-type", "/i"},
		`{"s":"a","i":9007199254740992}`:    {"wrong-type", "/i"},
		`{"s":"a","i":"-9007199254740992"}`: {"wrong-type", "/i"},
		`{"s":"a","i":1e999}`:               {"number-range", "/i"},
		`{"s":"a","n":"1e999"}`:             {"wrong-type", "/n"},
		`{"s":"a","n":"NaN"}`:               {"wrong-type", "/n"},
		`{"s":"a","n":"\"5\""}`:             {"wrong-type", "/n"},
		`{"s":"a","b":1}`:                   {"wrong-type", "/b"},
		`{"s":"a","b":"yes"}`:               {"wrong-type", "/b"},
		`{"s":"a","o":[]}`:                  {"wrong-type", "/o"},
		`{"s":"a","o":"[]"}`:                {"wrong-type", "/o"},
		`{"s":"a","o":"{\"a\":1,\"a\":2}"}`: {"wrong-type", "/o"},
		`{"s":"a","x-y":{}}`:                {"wrong-type", "/x-y"},
		`{"s":"a","t":1}`:                   {"unknown-argument", "/t"},
		`{"s":"a","s":"b"}`:                 {"duplicate-member", "/s"},
		`{"s":"a","o":{"k":1,"k":2}}`:       {"duplicate-member", "/o/k"},
		`{"s":"a"`:                          {"syntax", ""},
		`{"s":"a"} {}`:                      {"trailing-data", ""},
		`{"s":"\ud800"}`:                    {"invalid-utf8", "/s"},
		`{"s":"a","o":` + strings.Repeat(`{"a":`, 80) + `1` + strings.Repeat(`}`, 80) + `}`: {"too-deep", "*"},
		`{"s":"` + strings.Repeat("x", MaxArgsBytes) + `"}`:                                 {"too-large", ""},
	} {
		got, err := s.Args(json.RawMessage(in))
		if err == nil {
			t.Errorf("Args(%.80s) = %.80s, want %v", in, got, want)
			continue
		}
		if err.Code != fault.InvalidArguments || err.Reason != want[0] || want[1] != "*" && err.Pointer != want[1] {
			t.Errorf("Args(%.80s): %s at %q, want %v", in, err.Reason, err.Pointer, want)
		}
	}
}

func TestArgsMessagesRepeatNoValue(t *testing.T) {
	s := argsSpec(t)
	for _, in := range []string{`{"s":"a","i":"hunter2"}`, `{"s":"a","b":"hunter2"}`, `{"s":"a","o":"hunter2"}`, `{"s":hunter2}`} {
		_, err := s.Args(json.RawMessage(in))
		if err == nil || strings.Contains(err.Message, "hunter2") || strings.Contains(err.Message, "'h'") {
			t.Errorf("Args(%s): %v", in, err)
		}
	}
}

func TestTestArgs(t *testing.T) {
	got, err := argsSpec(t).TestArgs()
	if want := `{"s":"x","i":7,"o":{"z":1,"a":2}}`; err != nil || string(got) != want {
		t.Errorf("TestArgs = %s, %v; want %s", got, err, want)
	}
	s := must(t, `{"name":"t","code":"1","codeType":"Javascript","params":[{"name":"n","required":false,"type":"NUMBER","testValue":"x"}]}`)
	if _, err := s.TestArgs(); err == nil || err.Reason != "bad-test-value" || err.Pointer != "/params/0/testValue" || err.Line != 1 {
		t.Errorf("an optional testValue of the wrong type: %v", err)
	}
}

func TestInputSchema(t *testing.T) {
	const want = `{"type":"object","properties":{"s":{"type":"string","description":"a \"text\" <b>"},"i":{"type":"integer"},` +
		`"n":{"type":"number"},"b":{"type":"boolean"},"o":{"type":"object"},"x-y":{"type":"array"}},"required":["s"],"additionalProperties":false}`
	if got := string(argsSpec(t).InputSchema()); got != want {
		t.Errorf("InputSchema = %s\nwant %s", got, want)
	}
	const none = `{"type":"object","properties":{},"additionalProperties":false}`
	if got := string(must(t, doc("t")).InputSchema()); got != none {
		t.Errorf("InputSchema = %s", got)
	}
}

func TestCheckRuntime(t *testing.T) {
	for block, want := range map[string]string{
		`{}`: "",
		`{"runtime":{"helpers":["safety.http/v1","tool-safety-helpers/v1#crypto","tool-safety-helpers/v1#encoding"]}}`: "",
		`{"runtime":{"helpers":["safety.http/v1","safety.fs/v2"]}}`:                                                    "helper-unavailable /toolSafety/runtime/helpers/1",
		`{"runtime":{"helpers":["tool-safety-helpers/v2#crypto"]}}`:                                                    "helper-unavailable /toolSafety/runtime/helpers/0",
		`{"runtime":{"helpers":["acme.mail/v1"]}}`:                                                                     "helper-unavailable /toolSafety/runtime/helpers/0",
		`{"runtime":{"id":"toolwarrant/goja","minVersion":"0.1.0"}}`:                                                   "",
		`{"runtime":{"id":"toolwarrant/goja","minVersion":"0.10.0"}}`:                                                  "runtime-too-old /toolSafety/runtime/minVersion",
		`{"runtime":{"id":"toolwarrant/goja","minVersion":"soon"}}`:                                                    "runtime-too-old /toolSafety/runtime/minVersion",
		`{"runtime":{"id":"spring-ai-playground/polyglot-js","minVersion":"9.0.0"}}`:                                   "",
	} {
		s := must(t, `{"name":"t","code":"1","codeType":"Javascript","toolSafety":`+block+`}`)
		got := ""
		for _, e := range s.CheckRuntime(ThisRuntime()) {
			got += e.Reason + " " + e.Pointer
		}
		if got != want {
			t.Errorf("%s: %q, want %q", block, got, want)
		}
	}
}
