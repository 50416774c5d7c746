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
	"github.com/toolwarrant/toolwarrant/internal/figures"
	"github.com/toolwarrant/toolwarrant/service"
)

var ratios = flag.Bool("ratios", false, "measure what a list costs beside its bytes, and fail beyond the limits")

const (
	ratioTools   = 10_000
	ratioCallers = 100
	// ratioHome names the home of the child that serves for TestListRatio.
	ratioHome = "TOOLWARRANT_LIST_SERVER"
	// ratioPolicy tells it to tell callers apart.
	ratioPolicy = "TOOLWARRANT_LIST_POLICY"
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
		if i < 2*ratioCallers {
			d["tags"] = []string{fmt.Sprintf("not-caller%d", i%ratioCallers)}
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

// byTag hides from each caller the tools that say so.
const byTag = `package toolwarrant.access

import rego.v2

hidden contains {"id": "ratio-by-tag", "message": "no", "path": ""} if {
	some tag in input.tool.tags
	tag == concat("-", ["not", input.principal.clientId])
}
`

// TestListServer is the other process of TestListRatio: the real server, and
// beside it a handler that writes the same bytes from memory.
func TestListServer(t *testing.T) {
	home := os.Getenv(ratioHome)
	if home == "" {
		t.Skip("it serves TestListRatio")
	}
	ctx := context.Background()
	keys := map[string]any{"log.level": "error", "runtime.isolation": "in-process", "catalog.trust-folders": true, "catalog.dirs": []string{filepath.Join(home, "tools")}}
	if policy := filepath.Join(home, "policy"); os.Getenv(ratioPolicy) != "" {
		keys["policy.path"] = policy
	}
	cfg, err := config.Load("", nil, keys)
	if err != nil {
		t.Fatal(err)
	}
	s, err := service.Open(ctx, service.Options{Home: home, Config: cfg, Logger: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(ctx)
	// Now: with a policy of its own, a start decides about each tool first.
	if err := os.Rename(filepath.Join(home, "all.json"), filepath.Join(home, "tools", "all.json")); err != nil {
		t.Fatal(err)
	}
	if err := s.Catalog.Reload(ctx); err != nil {
		t.Fatal(err)
	}
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

func startRatioServer(t *testing.T, apart bool) ratioServer {
	t.Helper()
	home := t.TempDir()
	if err := os.MkdirAll(filepath.Join(home, "tools"), 0o700); err != nil {
		t.Fatal(err)
	}
	ratioCatalog(t, filepath.Join(home, "all.json"))
	var more []string
	if apart {
		more = append(more, ratioPolicy+"=1")
		plainPolicy(t, filepath.Join(home, "policy"), byTag)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "-test.run=^TestListServer$", "-test.v", "-test.timeout=30m")
	cmd.Env = append(append(os.Environ(), ratioHome+"="+home), more...)
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
// same bytes from memory. Once all see the same, once no two do.
func TestListRatio(t *testing.T) {
	if !*ratios {
		t.Skip("go test ./server -run TestListRatio -v -ratios")
	}
	for name, apart := range map[string]bool{"all see the same": false, "no two see the same": true} {
		t.Run(name, func(t *testing.T) { listRatio(t, startRatioServer(t, apart), apart) })
	}
}

func listRatio(t *testing.T, r ratioServer, apart bool) {
	var requests [ratioCallers][]string
	var sizes [ratioCallers][]int
	bytes, pages := 0, 0
	first := func(caller int) func() {
		return func() {
			seen := 0
			for cursor, begun := "", false; !begun || cursor != ""; begun = true {
				request := listRequest(caller, cursor)
				page := r.post("/mcp", "", request)
				requests[caller], sizes[caller] = append(requests[caller], request), append(sizes[caller], len(page))
				if caller == 0 {
					r.post("/keep", strconv.Itoa(pages), string(page))
					bytes, pages = bytes+len(page), pages+1
				}
				var res struct {
					Result struct {
						Tools      []struct{ Name string }
						NextCursor string
					}
				}
				if err := json.Unmarshal(page, &res); err != nil {
					t.Fatal(err)
				}
				seen += len(res.Result.Tools)
				cursor = res.Result.NextCursor
				hidden := fmt.Sprintf(`"tool%05d_`, caller)
				if apart && strings.Contains(string(page), hidden) {
					t.Fatalf("caller %d sees %s", caller, hidden)
				}
			}
			if seen < ratioTools-2 {
				t.Fatalf("caller %d sees %d tools", caller, seen)
			}
		}
	}
	again := func() {
		for caller := range ratioCallers {
			for i, request := range requests[caller] {
				if got := r.post("/mcp", "", request); len(got) != sizes[caller][i] {
					t.Fatalf("caller %d, page %d: %d bytes, then %d", caller, i, sizes[caller][i], len(got))
				}
			}
		}
	}
	same := func() {
		for range ratioCallers {
			for i := range pages {
				r.post("/same", strconv.Itoa(i), requests[0][i])
			}
		}
	}
	one, next := r.costs(first(0)), r.costs(first(1))
	others := r.costs(func() {
		for caller := 2; caller < ratioCallers; caller++ {
			first(caller)()
		}
	})
	const rounds = 3
	var repeated, cached []time.Duration
	for range rounds {
		repeated = append(repeated, r.costs(again)/ratioCallers)
		cached = append(cached, r.costs(same)/ratioCallers)
	}
	slices.Sort(repeated)
	slices.Sort(cached)
	a, c := repeated[rounds/2], cached[rounds/2]
	_, rss := r.cpu()
	t.Logf("%d tools in %d pages of %.2f MiB together: first list %v, of the next caller %v, of %d more %v each",
		ratioTools, pages, float64(bytes)/(1<<20), one, next, ratioCallers-2, others/(ratioCallers-2))
	if one > 1500*time.Millisecond {
		t.Errorf("the first list costs %v of CPU", one)
	}
	if ratio := float64(a) / float64(c); ratio > 3 {
		t.Errorf("a repeated list costs %.2f times its cached bytes", ratio)
	}
	row := "all see the same"
	if apart {
		row = "no two see the same"
	}
	figures.Say(t, "list", row, figures.Millis(one), figures.Millis(others/(ratioCallers-2)), figures.Times(a, c), fmt.Sprintf("%d MiB", rss>>10))
	t.Logf("ratio of a repeated list over its cached bytes: %.2f (%v, %v); memory at its highest %d MiB", float64(a)/float64(c), a, c, rss>>10)
}
