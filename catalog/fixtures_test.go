package catalog

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolwarrant/toolwarrant/fault"
)

func TestFixtures(t *testing.T) {
	c := mustOpen(t, Options{})
	if got, ok, err := Fixtures(lookup(t, c, "hash")); ok || err != nil || got.Fixtures != nil {
		t.Errorf("a tool without fixtures: %v, %v, %v", got, ok, err)
	}
	got, ok, err := Fixtures(lookup(t, c, "getWeather"))
	if !ok || err != nil {
		t.Fatalf("%v, %v", ok, err)
	}
	if f, ok := got.Match(Sent{Method: "get", URL: "https://wttr.in/Seoul?format=j1"}); !ok || f.Response.Status != 200 || len(f.Response.Bytes()) == 0 {
		t.Errorf("got %+v, %v", f, ok)
	}
	if f, ok := got.Match(Sent{Method: "POST", URL: "https://wttr.in/Seoul?format=j1"}); ok {
		t.Errorf("another method is answered by %+v", f)
	}
}

func TestFixtureFiles(t *testing.T) {
	dir := t.TempDir()
	tool := &Tool{Source: SourceUser, Path: dir}
	for _, tc := range []struct {
		name, content string
		ok            bool
		body          string
	}{
		{"JSON body", `{"version":1,"source":"docs","fixtures":[{"request":{"url":"https://a.test/"},"response":{"status":200,"body":{"x":[1, 2]}}}]}`, true, `{"x":[1, 2]}`},
		{"text body", `{"version":1,"source":"docs","fixtures":[{"request":{"url":"https://a.test/"},"response":{"status":200,"body":"a\nb"}}]}`, true, "a\nb"},
		{"no body", `{"version":1,"source":"docs","fixtures":[{"request":{"url":"https://a.test/"},"response":{"status":204}}]}`, true, ""},
		{"a number is JSON", `{"version":1,"source":"docs","fixtures":[{"request":{"url":"https://a.test/"},"response":{"status":200,"body":7}}]}`, true, "7"},
		{"newer", `{"version":2,"source":"docs","fixtures":[]}`, false, ""},
		{"unknown member", `{"version":1,"source":"docs","fixtures":[{"request":{"url":"https://a.test/","when":1},"response":{"status":200}}]}`, false, ""},
		{"no url", `{"version":1,"source":"docs","fixtures":[{"request":{},"response":{"status":200}}]}`, false, ""},
		{"no status", `{"version":1,"source":"docs","fixtures":[{"request":{"url":"https://a.test/"},"response":{}}]}`, false, ""},
		{"no source", `{"version":1,"fixtures":[]}`, false, ""},
		{"not JSON", `[`, false, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			file := filepath.Join(dir, "fixtures.json")
			writeFile(t, file, tc.content)
			got, ok, err := Fixtures(tool)
			if !tc.ok {
				wantFault(t, err, fault.Usage, "bad-fixtures", file)
				return
			}
			if err != nil || !ok {
				t.Fatalf("%v, %v", ok, err)
			}
			f, _ := got.Match(Sent{Method: "GET", URL: "https://a.test/"})
			if string(f.Response.Bytes()) != tc.body {
				t.Errorf("body %q, want %q", f.Response.Bytes(), tc.body)
			}
		})
	}
	if err := os.Remove(filepath.Join(dir, "fixtures.json")); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := Fixtures(tool); ok || err != nil {
		t.Errorf("a folder without fixtures: %v, %v", ok, err)
	}
}

func TestFixtureMatches(t *testing.T) {
	header := func(name string) string { return map[string]string{"x-key": "dummy", "accept": "text/plain"}[name] }
	for _, tc := range []struct {
		name, request string
		sent          Sent
		want          bool
	}{
		{"a time", `{"url":"https://a.test/?from={time}&n=1"}`, Sent{URL: "https://a.test/?from=2026-01-15T10%3A30%3A00.000Z&n=1"}, true},
		{"two times", `{"url":"https://a.test/{time}/to/{time}"}`, Sent{URL: "https://a.test/20260115/to/2026-01-15T10:30Z"}, true},
		{"no time", `{"url":"https://a.test/?from={time}&n=1"}`, Sent{URL: "https://a.test/?from=&n=1"}, false},
		{"not a time", `{"url":"https://a.test/?from={time}&n=1"}`, Sent{URL: "https://a.test/?from=now&n=1"}, false},
		{"more than a time", `{"url":"https://a.test/?from={time}&n=1"}`, Sent{URL: "https://a.test/?from=2026&m=1&n=1"}, false},
		{"a time and another rest", `{"url":"https://a.test/?from={time}"}`, Sent{URL: "https://a.test/?from=2026&n=1"}, false},
		{"another url", `{"url":"https://a.test/"}`, Sent{URL: "https://a.test"}, false},
		{"no method is GET", `{"url":"https://a.test/"}`, Sent{Method: "get", URL: "https://a.test/"}, true},
		{"what is not stated may be anything", `{"url":"https://a.test/"}`, Sent{URL: "https://a.test/", Header: header, Body: []byte("x")}, true},
		{"header", `{"url":"https://a.test/","headers":{"x-key":"dummy"}}`, Sent{URL: "https://a.test/", Header: header}, true},
		{"another header", `{"url":"https://a.test/","headers":{"x-key":"other"}}`, Sent{URL: "https://a.test/", Header: header}, false},
		{"no headers", `{"url":"https://a.test/","headers":{"x-key":"dummy"}}`, Sent{URL: "https://a.test/"}, false},
		{"JSON in another order", `{"method":"POST","url":"https://a.test/","body":{"a":1,"b":[2]}}`, Sent{Method: "POST", URL: "https://a.test/", Body: []byte(`{"b":[2.0], "a":1}`)}, true},
		{"other JSON", `{"method":"POST","url":"https://a.test/","body":{"a":1}}`, Sent{Method: "POST", URL: "https://a.test/", Body: []byte(`{"a":1,"b":2}`)}, false},
		{"no body", `{"method":"POST","url":"https://a.test/","body":{"a":1}}`, Sent{Method: "POST", URL: "https://a.test/"}, false},
		{"text", `{"method":"POST","url":"https://a.test/","body":"a=1"}`, Sent{Method: "POST", URL: "https://a.test/", Body: []byte("a=1")}, true},
		{"other text", `{"method":"POST","url":"https://a.test/","body":"a=1"}`, Sent{Method: "POST", URL: "https://a.test/", Body: []byte("a=2")}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r, _, err := parseFixtures("f", []byte(`{"version":1,"source":"docs","fixtures":[{"request":`+tc.request+`,"response":{"status":200}}]}`))
			if err != nil {
				t.Fatal(err)
			}
			if _, ok := r.Match(tc.sent); ok != tc.want {
				t.Errorf("matches: %v, want %v", ok, tc.want)
			}
		})
	}
}

func FuzzFixtures(f *testing.F) {
	f.Add([]byte(`{"version":1,"source":"docs","fixtures":[{"request":{"url":"https://a.test/"},"response":{"status":200,"body":"x"}}]}`))
	f.Add([]byte(`{"version":1,"fixtures":null}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		fixtures, ok, err := parseFixtures("f", data)
		if err != nil && (ok || fixtures.Fixtures != nil) {
			t.Error("an error with fixtures")
		}
		for _, fx := range fixtures.Fixtures {
			_ = fx.Response.Bytes()
			_, _ = fixtures.Match(Sent{Method: fx.Request.Method, URL: fx.Request.URL, Body: data})
		}
	})
}

// FuzzState: whatever state.json holds, it is refused or read, and what is read
// is written and read again as the same.
func FuzzState(f *testing.F) {
	f.Add([]byte(`{"version":1,"tools":{"x":{"passedDigest":"sha256:0","at":"2026-01-01T00:00:00Z","mode":"live","runtime":"r","policyRevision":"p","exposure":"draft"}}}`))
	for _, s := range []string{
		`{"version":9}`, `{"version":1,"tools":{"a":{"exposure":"hidden"}}}`, `{"version":2,"tools":{},"preset":"x","autoExpose":true}`,
		`{"version":2,"choices":{"a":"hidden"},"approvals":{"a":{"mode":"DISABLED","at":"2026-01-02T03:04:05Z"}}}`,
		`{"version":-1}`, `{"version":1e0,"tools":null}`, `null`, `[]`, `{"version":2,"version":1}`, "\xff",
	} {
		f.Add([]byte(s))
	}
	file := filepath.Join(f.TempDir(), "state.json")
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
		st, err := readState(file)
		if err != nil {
			if f := fault.From(err); f.Code != fault.Usage {
				t.Errorf("%q: %v", data, err)
			}
			return
		}
		if err := st.write(file); err != nil {
			t.Fatal(err)
		}
		again, err := readState(file)
		st.migrated = false
		if diff := cmp.Diff(st, again, cmp.AllowUnexported(state{})); err != nil || diff != "" {
			t.Errorf("%q: %v %s", data, err, diff)
		}
	})
}
