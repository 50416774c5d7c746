//go:build unix

package server

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/toolwarrant/toolwarrant/config"
	"github.com/toolwarrant/toolwarrant/service"
)

var ratios = flag.Bool("ratios", false, "measure what a list costs beside its bytes")

const (
	ratioTools   = 10_000
	ratioCallers = 100
	// ratioHome names the home of the child that serves for TestListRatio.
	ratioHome = "TOOLWARRANT_LIST_SERVER"
)

// ratioCatalog writes tools of the 88 known shapes in turns, of which every
// fiftieth asks for a host of its own.
func ratioCatalog(t *testing.T, file string) {
	t.Helper()
	raw, err := os.ReadFile("../policy_test/testdata/facts.ndjson")
	if err != nil {
		t.Fatal(err)
	}
	var shapes []map[string]any
	for line := range bytes.Lines(raw) {
		var fields map[string]any
		if err := json.Unmarshal(line, &fields); err != nil {
			t.Fatal(err)
		}
		delete(fields, "derivedRiskLevel")
		shapes = append(shapes, fields)
	}
	docs := make([]map[string]any, ratioTools)
	for i := range docs {
		d := map[string]any{}
		for k, v := range shapes[i%len(shapes)] {
			d[k] = v
		}
		d["name"] = fmt.Sprintf("tool%05d_%s", i, d["name"])
		d["toolId"] = fmt.Sprintf("ratio.tool.%d", i)
		d["draft"], d["code"], d["codeType"] = false, "return params.text", "Javascript"
		d["description"] = fmt.Sprintf("Tool %d of a large catalog. It takes a text and options, works on it as its category %v says, and returns what came out of it as text.", i, d["category"])
		d["params"] = []map[string]any{
			{"name": "text", "type": "STRING", "description": "The text to work on, as UTF-8.", "required": true, "testValue": "a"},
			{"name": "limit", "type": "NUMBER", "description": "How many results are wanted at most.", "required": false},
			{"name": "strict", "type": "BOOLEAN", "description": "Whether a part that cannot be understood is an error.", "required": false},
		}
		if i%50 == 0 {
			d["sandboxOverrides"] = map[string]any{"networkMode": "allowlist", "hostsAllow": []string{fmt.Sprintf("h%d.example", i)}}
		}
		docs[i] = d
	}
	out, err := json.Marshal(docs)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, out, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestListServer is the other process of TestListRatio: the real server, and
// beside it a handler that writes the same bytes from memory.
func TestListServer(t *testing.T) {
	home := os.Getenv(ratioHome)
	if home == "" {
		t.Skip("it serves TestListRatio")
	}
	ctx := context.Background()
	cfg, err := config.Load("", nil, map[string]any{"log.level": "error", "runtime.isolation": "in-process", "catalog.dirs": []string{filepath.Join(home, "tools")}})
	if err != nil {
		t.Fatal(err)
	}
	s, err := service.Open(ctx, service.Options{Home: home, Config: cfg, Logger: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(ctx)
	var kept sync.Map // page -> bytes
	mux := http.NewServeMux()
	mux.Handle("/mcp", New(Options{Caller: Governed(s)}).Handler())
	mux.HandleFunc("/keep", func(_ http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		kept.Store(r.Header.Get("Page"), b)
	})
	mux.HandleFunc("/same", func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		b, _ := kept.Load(r.Header.Get("Page"))
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(b.([]byte))
	})
	mux.HandleFunc("/cpu", func(w http.ResponseWriter, _ *http.Request) {
		var u syscall.Rusage
		_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
		fmt.Fprint(w, u.Utime.Nano()+u.Stime.Nano(), " ", u.Maxrss)
	})
	web := httptest.NewServer(mux)
	defer web.Close()
	fmt.Println("url " + web.URL)
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// ratioServer is that process, as its client sees it.
type ratioServer struct {
	t   *testing.T
	url string
}

func startRatioServer(t *testing.T) ratioServer {
	t.Helper()
	home := t.TempDir()
	if err := os.MkdirAll(filepath.Join(home, "tools"), 0o700); err != nil {
		t.Fatal(err)
	}
	ratioCatalog(t, filepath.Join(home, "tools", "all.json"))
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "-test.run=^TestListServer$", "-test.v", "-test.timeout=30m")
	cmd.Env = append(os.Environ(), ratioHome+"="+home)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); _ = cmd.Wait() })
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if _, url, ok := strings.Cut(lines.Text(), "url "); ok {
			go func() { _, _ = io.Copy(io.Discard, out) }()
			return ratioServer{t: t, url: url}
		}
	}
	t.Fatal("the server did not start")
	return ratioServer{}
}

func (r ratioServer) post(path, page, body string) []byte {
	r.t.Helper()
	req, err := http.NewRequest(http.MethodPost, r.url+path, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	for k, v := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"MCP-Protocol-Version": modernVersion, "Mcp-Method": methodList, "Page": page,
	} {
		req.Header.Set(k, v)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		r.t.Fatalf("%s: %d %.300s %v", path, res.StatusCode, b, err)
	}
	return b
}

// cpu is the CPU time of the server so far, and its memory at its highest.
func (r ratioServer) cpu() (time.Duration, int) {
	used, rss, _ := strings.Cut(string(r.post("/cpu", "", "")), " ")
	ns, err := strconv.ParseInt(used, 10, 64)
	kib, err2 := strconv.Atoi(rss)
	if err != nil || err2 != nil {
		r.t.Fatal(err, err2)
	}
	return time.Duration(ns), kib
}

// costs is the CPU time of the server for do.
func (r ratioServer) costs(do func()) time.Duration {
	before, _ := r.cpu()
	do()
	after, _ := r.cpu()
	return after - before
}

func listRequest(caller int, cursor string) string {
	if cursor != "" {
		cursor = `"cursor":"` + cursor + `",`
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{%s"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",`+
		`"io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"caller%d","version":"1"}}}}`, cursor, caller)
}

// TestListRatio lists a catalog of 10,000 tools for 100 callers over HTTP: the
// first time, and again beside a handler of the same server that writes the
// same bytes from memory.
func TestListRatio(t *testing.T) {
	if !*ratios {
		t.Skip("go test ./server -run TestListRatio -v -ratios")
	}
	r := startRatioServer(t)
	cursors, pages, bytes := []string{""}, [][]byte{}, 0
	seen := 0
	first := r.costs(func() {
		for i := 0; i < len(cursors); i++ {
			page := r.post("/mcp", "", listRequest(0, cursors[i]))
			pages, bytes = append(pages, page), bytes+len(page)
			var res struct {
				Result struct {
					Tools      []json.RawMessage
					NextCursor string
				}
			}
			if err := json.Unmarshal(page, &res); err != nil {
				t.Fatal(err)
			}
			seen += len(res.Result.Tools)
			if next := res.Result.NextCursor; next != "" {
				cursors = append(cursors, next)
			}
		}
	})
	if seen < ratioTools {
		t.Fatalf("%d tools are listed", seen)
	}
	for i, page := range pages {
		r.post("/keep", strconv.Itoa(i), string(page))
	}
	list := func(caller int) func() {
		return func() {
			for i, c := range cursors {
				if got := r.post("/mcp", "", listRequest(caller, c)); len(got) != len(pages[i]) {
					t.Fatalf("caller %d, page %d: %d bytes, then %d", caller, i, len(pages[i]), len(got))
				}
			}
		}
	}
	same := func() {
		for i, c := range cursors {
			r.post("/same", strconv.Itoa(i), listRequest(0, c))
		}
	}
	next := r.costs(list(1))
	others := r.costs(func() {
		for caller := 2; caller < ratioCallers; caller++ {
			list(caller)()
		}
	})
	const rounds = 5
	var again, cached []time.Duration
	for range rounds {
		again = append(again, r.costs(func() {
			for caller := range ratioCallers {
				list(caller)()
			}
		})/ratioCallers)
		cached = append(cached, r.costs(func() {
			for range ratioCallers {
				same()
			}
		})/ratioCallers)
	}
	slices.Sort(again)
	slices.Sort(cached)
	a, c := again[rounds/2], cached[rounds/2]
	_, rss := r.cpu()
	t.Logf("%d tools in %d pages of %.2f MiB together: first list %v, of the next caller %v, of %d more %v each",
		seen, len(pages), float64(bytes)/(1<<20), first, next, ratioCallers-2, others/(ratioCallers-2))
	t.Logf("ratio of a repeated list over its cached bytes: %.2f (%v, %v); memory at its highest %d MiB", float64(a)/float64(c), a, c, rss>>10)
}
