package broker

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/executor/egress"
	"github.com/toolwarrant/toolwarrant/executor/filesystem"
	"github.com/toolwarrant/toolwarrant/executor/worker"
)

func newBroker(t *testing.T, p decision.EffectivePolicy, o Options) *Broker {
	t.Helper()
	b, err := New(p, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

func do(b *Broker, op worker.Op, args string) worker.BrokerReply {
	return b.Do(context.Background(), worker.BrokerRequest{Op: op, Args: json.RawMessage(args)})
}

func TestOperations(t *testing.T) {
	base := t.TempDir()
	for name, content := range map[string]string{"a.txt": "one\ntwo TODO\n", "n.csv": "b,2\na,1\n"} {
		if err := os.WriteFile(filepath.Join(base, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b := newBroker(t, decision.EffectivePolicy{
		AllowClasses: []string{"java.lang.*"}, DenyClasses: []string{"java.lang.System"},
		FS: decision.FS{Read: true, Write: true, BasePath: base},
	}, Options{})
	tests := []struct {
		op         worker.Op
		args, want string // want is the result, or the reason after "!"
	}{
		{worker.OpClassLookup, `["java.lang.Math"]`, `{"name":"java.lang.Math"}`},
		{worker.OpClassLookup, `["java.lang.System"]`, `!class-denied`},
		{worker.OpClassLookup, `["java.io.File"]`, `!class-not-allowed`},
		{worker.OpClassLookup, `[]`, `!invalid-class-name`},
		{worker.OpClassLookup, `[["java.lang.Math"]]`, `!invalid-arguments`},
		{worker.OpParserCSV, `["z,a\n1,2\n",{"header":true}]`, `[{"z":"1","a":"2"}]`},
		{worker.OpParserCSV, `["a;b",{"delimiter":";","header":null,"other":1}]`, `[["a","b"]]`},
		{worker.OpParserCSV, `[null]`, `!missing-input`},
		{worker.OpParserCSV, `["a",{"header":"yes"}]`, `!invalid-arguments`},
		{worker.OpParserXML, `["<r/>"]`, `{"tag":"r","attrs":{},"text":"","children":[]}`},
		{worker.OpParserYAML, `["b: 1\na: 2"]`, `{"b":1,"a":2}`},
		{worker.OpParserYAML, `["!!x.Y [1]"]`, `!parse-failed`},
		{"parser.html", `["<p>"]`, `!unknown-operation`},
		{worker.OpFSReadText, `["a.txt"]`, `"one\ntwo TODO\n"`},
		{worker.OpFSReadText, `["../../etc/passwd"]`, `!path-escapes-base`},
		{worker.OpFSReadText, `["a\u0000"]`, `!invalid-path`},
		{worker.OpFSReadText, `[]`, `!path-required`},
		{worker.OpFSReadText, `[42]`, `!invalid-arguments`},
		{worker.OpFSWriteText, `["d/w.txt","x\ud800"]`, `"d/w.txt"`},
		{worker.OpFSReadText, `["d/w.txt"]`, "\"x\ufffd\""},
		{worker.OpFSWriteText, `["d/w.txt"]`, `!invalid-arguments`},
		{worker.OpFSList, `[]`, `["a.txt","d","n.csv"]`},
		{worker.OpFSList, `["d"]`, `["d/w.txt"]`},
		{worker.OpFSExists, `["a.txt"]`, `true`},
		{worker.OpFSExists, `["../x"]`, `false`},
		{worker.OpFSGrep, `["todo","a.txt",{"caseInsensitive":true,"numbered":true,"limit":5.0}]`, `["2:two TODO"]`},
		{worker.OpFSGrep, `["(","a.txt"]`, `!grep-invalid-pattern`},
		{worker.OpFSLineCount, `["a.txt"]`, `2`},
		{worker.OpFSSlice, `["a.txt",null,1]`, `["one"]`},
		{worker.OpFSSlice, `["a.txt",-1]`, `["two TODO"]`},
		{worker.OpFSSlice, `["a.txt","x"]`, `!invalid-arguments`},
		{worker.OpFSSlice, `["a.txt",1e300,-1e300]`, `[]`},
		{worker.OpFSCut, `["n.csv",{"fields":[2,1],"delimiter":","}]`, `["2,b","1,a"]`},
		{worker.OpFSCut, `["n.csv"]`, `!cut-fields-required`},
		{worker.OpFSSort, `["n.csv",{}]`, `["a,1","b,2"]`},
		{worker.OpFSFind, `[".","*.csv",{"maxDepth":1,"type":"file"}]`, `["n.csv"]`},
		{worker.OpFSFind, `[null,null,null]`, `["a.txt","d","d/w.txt","n.csv"]`},
		{worker.OpFSWorkspace, `[]`, `"."`},
		{worker.OpFSReadRoots, ``, `["."]`},
		{worker.OpFetch, `["https://example.com"]`, `!unknown-egress-level`},
		{worker.OpFSAppendText, `["l.txt","a"]`, `"l.txt"`},
		{worker.OpFSAppendText, `["l.txt"]`, `!invalid-arguments`},
		{worker.OpFSEditText, `["l.txt","a","b"]`, `{"path":"l.txt","replacements":1}`},
		{worker.OpFSEditText, `["l.txt","b","bb",true]`, `{"path":"l.txt","replacements":1}`},
		{worker.OpFSEditText, `["l.txt","b","",false]`, `!edit-ambiguous`},
		{worker.OpFSEditText, `["l.txt","b"]`, `!invalid-arguments`},
		{worker.OpFSEditText, `["l.txt","b","",1]`, `!invalid-arguments`},
		{worker.OpFSWriteBytes, `["b.bin",{"$bytes":"AP8="}]`, `"b.bin"`},
		{worker.OpFSWriteBytes, `["b.bin",5]`, `!invalid-arguments`},
		{worker.OpFSWriteBytes, `["b.bin"]`, `!invalid-arguments`},
		{worker.OpFSReadBytes, `["b.bin"]`, `{"$bytes":"AP8="}`},
		{worker.OpFSReadBytes, `["../b.bin"]`, `!path-escapes-base`},
		{worker.OpFSCopy, `["l.txt","m.txt"]`, `"m.txt"`},
		{worker.OpFSCopy, `["l.txt","m.txt",{}]`, `!target-exists`},
		{worker.OpFSCopy, `["l.txt","m.txt",{"overwrite":true}]`, `"m.txt"`},
		{worker.OpFSMove, `["m.txt","z/m.txt",null]`, `"z/m.txt"`},
		{worker.OpFSMove, `["m.txt","../m.txt"]`, `!path-escapes-base`},
		{worker.OpFSSearchInFiles, `[".","*.txt","bb",{"limit":3}]`, `[{"file":"l.txt","line":1,"text":"bb"},{"file":"z/m.txt","line":1,"text":"bb"}]`},
		{worker.OpFSSearchInFiles, `[".","*.txt"]`, `!grep-pattern-required`},
		{worker.OpFSDelete, `["l.txt"]`, `true`},
		{worker.OpFSDelete, `["l.txt"]`, `false`},
		{worker.OpFSDeleteDir, `["z"]`, `2`},
		{worker.OpFSDeleteDir, `["."]`, `!delete-base`},
		{"fs.chmod", `["a.txt"]`, `!unknown-operation`},
		{"", `[]`, `!unknown-operation`},
		{worker.OpFSList, `{"path":"."}`, `!invalid-arguments`},
		{worker.OpFSList, `[".",`, `!invalid-arguments`},
		{worker.OpFSList, `[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17]`, `!invalid-arguments`},
		{worker.OpFSSort, `["n.csv",{"reverse":true,"reverse":false}]`, `!invalid-arguments`},
	}
	for _, tt := range tests {
		rep := do(b, tt.op, tt.args)
		got := string(rep.Result)
		if rep.Failure != nil {
			got = "!" + rep.Failure.Reason
			if rep.Result != nil || rep.Failure.Code == "" || rep.Failure.Message == "" {
				t.Errorf("%s %s: %+v", tt.op, tt.args, rep)
			}
			if strings.Contains(rep.Failure.Message, base) {
				t.Errorf("%s %s shows the base: %s", tt.op, tt.args, rep.Failure.Message)
			}
		}
		if got != tt.want {
			t.Errorf("%s %s = %s, want %s", tt.op, tt.args, got, tt.want)
		}
	}
	rep := do(b, worker.OpFSStat, `["a.txt"]`)
	var st map[string]any
	if err := json.Unmarshal(rep.Result, &st); err != nil || st["size"] != 13.0 || st["directory"] != false || st["mtime"].(float64) < 1e12 {
		t.Errorf("stat: %s %v", rep.Result, rep.Failure)
	}
	if l := b.Ledger(); l.FS[0] != (filesystem.Entry{Op: "readText", Path: "a.txt", Bytes: 13}) || l.FS[1].Path != "../../etc/passwd" || len(l.Egress) != 1 {
		t.Errorf("ledger %+v", l)
	}
}

func TestNothingGranted(t *testing.T) {
	b := newBroker(t, decision.EffectivePolicy{Network: decision.Network{Mode: "blocked"}, FS: decision.FS{BasePath: t.TempDir()}}, Options{})
	for op := range operations {
		want := "not-granted"
		switch {
		case strings.HasPrefix(string(op), "parser."):
			continue
		case op == worker.OpClassLookup || op == worker.OpProcessRun:
			want = "class-not-allowed"
		}
		rep := do(b, op, `["a.b","c",{"fields":[1]}]`)
		if op == worker.OpFetch || op == worker.OpFSCut || op == worker.OpFSSort {
			rep = do(b, op, `["https://example.com/",{"fields":[1]}]`)
		}
		if op == worker.OpFSSlice {
			rep = do(b, op, `["a"]`)
		}
		if op == worker.OpFSEditText || op == worker.OpFSSearchInFiles {
			rep = do(b, op, `["a","b","c"]`)
		}
		if rep.Failure == nil || rep.Failure.Reason != want || rep.Failure.Code != "SECURITY" {
			t.Errorf("%s: %s %+v", op, rep.Result, rep.Failure)
		}
	}
}

func TestFetch(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "text/plain")
		w.Header().Del("Date")
		fmt.Fprintf(w, "%s %s %s %s", r.Method, r.Header.Get("X-A"), r.Header.Get("X-N"), body)
	}))
	defer srv.Close()
	u, _ := url.Parse(srv.URL)
	b := newBroker(t, decision.EffectivePolicy{Network: decision.Network{Mode: "allowlist", Hosts: []string{"127.0.0.1"}, PrivateHosts: []string{u.Host}}}, Options{})
	tests := []struct{ init, want string }{
		{`{}`, "GET   "},
		{`null`, "GET   "},
		{`{"method":"post","headers":{"X-A":"1","X-N":5,"X-Null":null},"body":"text"}`, "POST 1 5 text"},
		{`{"method":"PUT","headers":[["X-A","1"]],"body":{"$bytes":"` + base64.StdEncoding.EncodeToString([]byte("bytes")) + `"}}`, "PUT 1  bytes"},
		{`{"body":"dropped","signal":{"aborted":false}}`, "GET   "},
	}
	for _, tt := range tests {
		rep := do(b, worker.OpFetch, `["`+srv.URL+`/p",`+tt.init+`]`)
		if rep.Failure != nil {
			t.Fatalf("%s: %+v", tt.init, rep.Failure)
		}
		var got struct {
			Status      int
			StatusText  string
			URL         string
			ContentType string
			Headers     [][2]string
			Body        struct {
				Bytes []byte `json:"$bytes"`
			}
			Truncated      *bool
			NextStartIndex *int64
		}
		if err := json.Unmarshal(rep.Result, &got); err != nil {
			t.Fatal(err)
		}
		if got.Status != 200 || got.StatusText != "OK" || got.URL != srv.URL+"/p" || got.ContentType != "text/plain" || string(got.Body.Bytes) != tt.want || got.Truncated == nil || len(got.Headers) == 0 {
			t.Errorf("%s: %s", tt.init, rep.Result)
		}
	}
	for _, bad := range []string{`5`, `"x"`, `{"headers":5}`, `{"headers":{"a":{}}}`, `{"headers":[["a"]]}`, `{"body":{"x":1}}`, `{"body":{"$bytes":"?"}}`, `{"body":5}`, `{"maxLength":"5"}`, `{"method":5}`} {
		if rep := do(b, worker.OpFetch, `["`+srv.URL+`",`+bad+`]`); rep.Failure == nil || rep.Failure.Reason != "invalid-arguments" {
			t.Errorf("%s: %s %+v", bad, rep.Result, rep.Failure)
		}
	}
	rep := do(b, worker.OpFetch, `["http://evil.test/"]`)
	if rep.Failure == nil || rep.Failure.Message != "[fetch] denied: host not in allowlist: evil.test" {
		t.Errorf("%+v", rep.Failure)
	}
	want := egress.Entry{Host: u.Host, IP: "127.0.0.1", Status: 200, Bytes: int64(len(tests[0].want))}
	if diff := cmp.Diff(want, b.Ledger().Egress[0]); diff != "" {
		t.Error(diff)
	}
}

type recorded struct{ asked []string }

func (r *recorded) Fetch(_ context.Context, req egress.Request) (*egress.Response, *worker.Failure) {
	r.asked = append(r.asked, req.URL)
	return &egress.Response{Status: 200, URL: req.URL, Body: []byte("0123456789")}, nil
}

func TestFetcher(t *testing.T) {
	rec := &recorded{}
	b := newBroker(t, decision.EffectivePolicy{Network: decision.Network{Mode: "allowlist", Hosts: []string{"api.test"}}}, Options{Fetcher: rec})
	rep := do(b, worker.OpFetch, `["https://api.test/x",{"startIndex":2,"maxLength":3}]`)
	want := `{"status":200,"statusText":"","url":"https://api.test/x","contentType":null,"headers":[],"body":{"$bytes":"MjM0"},"truncated":true,"nextStartIndex":5}`
	if string(rep.Result) != want {
		t.Errorf("%s %+v", rep.Result, rep.Failure)
	}
	for _, u := range []string{"https://evil.test/", "http://169.254.169.254/"} {
		if rep := do(b, worker.OpFetch, `["`+u+`"]`); rep.Failure == nil || rep.Failure.Code != "SECURITY" {
			t.Errorf("%s: %s", u, rep.Result)
		}
	}
	if len(rec.asked) != 1 {
		t.Errorf("a refused request was answered: %v", rec.asked)
	}
}

func TestLimits(t *testing.T) {
	b := newBroker(t, decision.EffectivePolicy{FS: decision.FS{Read: true, BasePath: t.TempDir()}}, Options{})
	large := `["` + strings.Repeat("a", MaxRequest) + `"]`
	if rep := do(b, worker.OpFSExists, large); rep.Failure == nil || rep.Failure.Reason != "request-too-large" {
		t.Errorf("%+v", rep.Failure)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if rep := b.Do(ctx, worker.BrokerRequest{Op: worker.OpFSList}); rep.Failure == nil || rep.Failure.Reason != "interrupted" {
		t.Errorf("%+v", rep.Failure)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range MaxOps / 4 {
				do(b, worker.OpFSWorkspace, `[]`)
			}
		})
	}
	wg.Wait()
	if rep := do(b, worker.OpFSWorkspace, `[]`); rep.Failure == nil || rep.Failure.Code != "RESOURCE_LIMIT" {
		t.Errorf("%+v", rep.Failure)
	}
}

func TestWorkspaceIsMade(t *testing.T) {
	base := filepath.Join(t.TempDir(), "workspace")
	policy := decision.EffectivePolicy{FS: decision.FS{Read: true, Write: true, BasePath: base}}
	if rep := do(newBroker(t, policy, Options{}), worker.OpFSWriteText, `["a","x"]`); rep.Failure == nil {
		t.Error("a base that nobody made was made")
	}
	if rep := do(newBroker(t, policy, Options{Workspace: base}), worker.OpFSWriteText, `["a","x"]`); rep.Failure != nil {
		t.Errorf("%+v", rep.Failure)
	}
}

type panicking struct{}

func (panicking) Fetch(context.Context, egress.Request) (*egress.Response, *worker.Failure) {
	panic("s3cr3t")
}

func TestPanicEndsOneOperation(t *testing.T) {
	b := newBroker(t, decision.EffectivePolicy{Network: decision.Network{Mode: "strict"}}, Options{Fetcher: panicking{}})
	for range maxAtOnce + 1 {
		rep := do(b, worker.OpFetch, `["https://a.test"]`)
		if rep.Failure == nil || rep.Failure.Reason != "internal" || strings.Contains(rep.Failure.Message, "s3cr3t") {
			t.Errorf("%+v", rep)
		}
	}
}

func FuzzBroker(f *testing.F) {
	base := f.TempDir()
	_ = os.WriteFile(filepath.Join(base, "a.txt"), []byte("a b\nc\n"), 0o600)
	ops := make([]worker.Op, 0, len(operations))
	for op := range operations {
		if op != worker.OpFetch {
			ops = append(ops, op)
		}
	}
	slices.Sort(ops)
	for i := range ops {
		f.Add(uint8(i), []byte(`["a.txt",{"fields":[1]},{"limit":1}]`))
		f.Add(uint8(i), []byte(`["a","a.txt",null]`))
	}
	f.Fuzz(func(t *testing.T, i uint8, args []byte) {
		b, _ := New(decision.EffectivePolicy{AllowClasses: []string{"a.*"}, FS: decision.FS{Read: true, BasePath: base}}, Options{})
		defer b.Close()
		rep := b.Do(context.Background(), worker.BrokerRequest{Op: ops[int(i)%len(ops)], Args: args})
		if (rep.Failure == nil) == (rep.Result == nil) {
			t.Fatalf("%+v", rep)
		}
		if rep.Failure == nil && !json.Valid(rep.Result) {
			t.Fatalf("invalid JSON: %q", rep.Result)
		}
		if rep.Failure != nil && rep.Failure.Reason == "internal" {
			t.Fatal("panic")
		}
	})
}
