package catalog_test

import (
	"strings"
	"testing"

	"github.com/toolwarrant/toolwarrant/catalog"
	"github.com/toolwarrant/toolwarrant/fault"
)

func TestParseCases(t *testing.T) {
	for _, tc := range []struct{ text, says string }{
		{`{"version":1,"cases":[]}`, ""},
		{`{"version":1,"cases":[{"want":null},{"like":"a"},{"fail":"b","code":"SECURITY","files":{"a/b.txt":""}}]}`, ""},
		{``, "not a file of cases"},
		{`{"version":2,"cases":[]}`, "version 1"},
		{`{"version":1,"cases":[{"want":1}],"more":1}`, "more"},
		{`{"version":1,"cases":[{"want":1,"wnat":1}]}`, "wnat"},
		{`{"version":1,"cases":[{}]}`, "one of want, like and fail"},
		{`{"version":1,"cases":[{"want":1,"like":"a"}]}`, "one of want, like and fail"},
		{`{"version":1,"cases":[{"want":1,"code":"SECURITY"}]}`, "goes with fail"},
		{`{"version":1,"cases":[{"like":"("}]}`, "pattern"},
		{`{"version":1,"cases":[{"want":1,"files":{"../a":""}}]}`, "not below the workspace"},
		{`{"version":1,"cases":[{"want":1,"files":{"/etc/a":""}}]}`, "not below the workspace"},
		{`{"version":1,"cases":[` + strings.Repeat(`{"want":1},`, 1000) + `{"want":1}]}`, "at most 1000"},
	} {
		_, err := catalog.ParseCases("cases.json", []byte(tc.text))
		if tc.says == "" {
			if err != nil {
				t.Errorf("%s: %v", tc.text, err)
			}
			continue
		}
		if f := fault.From(err); err == nil || f.Code != fault.Usage || f.Reason != "bad-cases" || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%.80s: %v, want %q", tc.text, err, tc.says)
		}
	}
}

func TestCaseMismatch(t *testing.T) {
	one := func(text string) catalog.Case {
		cases, err := catalog.ParseCases("cases.json", []byte(`{"version":1,"cases":[`+text+`]}`))
		if err != nil {
			t.Fatal(err)
		}
		return cases[0]
	}
	for _, tc := range []struct {
		state, result, code, message string // a code = it failed
		says                         string
	}{
		{`{"want":{"a":1.0,"b":[null]}}`, `{"b":[null],"a":1}`, "", "", ""},
		{`{"want":{"a":1}}`, `{"a":1,"b":2}`, "", "", `it gave {"a":1,"b":2}; wanted {"a":1}`},
		{`{"want":null}`, `null`, "", "", ""},
		{`{"want":"a"}`, ``, "JS_ERROR", "no", "it failed with JS_ERROR: no; wanted \"a\""},
		{`{"like":"^\\{\"a\":[0-9]+\\}$"}`, `{"a":12}`, "", "", ""},
		{`{"like":"^x"}`, `"y"`, "", "", "wanted what ^x matches"},
		{`{"fail":"not"}`, ``, "JS_ERROR", "it is not", ""},
		{`{"fail":"not"}`, ``, "JS_ERROR", "it is", `wanted a message with "not"`},
		{`{"fail":"not","code":"SECURITY"}`, ``, "JS_ERROR", "not", "it failed with JS_ERROR; wanted SECURITY"},
		{`{"fail":"not"}`, `1`, "", "", `it gave 1; wanted a failure with "not"`},
	} {
		got := one(tc.state).Mismatch([]byte(tc.result), tc.code != "", tc.code, tc.message)
		if tc.says == "" && got != "" || !strings.Contains(got, tc.says) {
			t.Errorf("%s: %q, want %q", tc.state, got, tc.says)
		}
	}
}

func FuzzParseCases(f *testing.F) {
	f.Add([]byte(`{"version":1,"cases":[{"args":{"a":1},"want":{"b":[1,"x"]}},{"like":"^a"},{"fail":"x","code":"SECURITY"}]}`))
	f.Add([]byte(`{"version":1,"cases":[{"files":{"a/b":"c"},"want":"\ud800"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		cases, err := catalog.ParseCases("cases.json", data)
		if err != nil {
			return
		}
		for _, c := range cases {
			_ = c.Name()
			// A case that states a result is met by that result.
			if c.Want != nil && c.Mismatch(c.Want, false, "", "") != "" {
				t.Errorf("%s is not what it wants", c.Want)
			}
			if c.Fail != "" && c.Mismatch(nil, true, c.Code, c.Fail) != "" {
				t.Errorf("%q is not how it wants to fail", c.Fail)
			}
		}
	})
}
