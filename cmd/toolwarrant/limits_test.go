package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// tool writes a spec folder; extra are members of its spec.json.
func tool(t *testing.T, dir, name, code string, extra map[string]any) {
	t.Helper()
	spec := map[string]any{
		"name": name, "description": "A tool of a test. Returns what the test needs.", "codeType": "Javascript", "draft": false,
		"humanInTheLoop": map[string]any{"mode": "DISABLED"},
	}
	for k, v := range extra {
		spec[k] = v
	}
	data, err := json.Marshal(spec)
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(dir, name)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	for file, content := range map[string]string{"spec.json": string(data), "action.js": code} {
		if err := os.WriteFile(filepath.Join(folder, file), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func overrides(kv ...any) map[string]any {
	o := map[string]any{}
	for i := 0; i < len(kv); i += 2 {
		o[kv[i].(string)] = kv[i+1]
	}
	return map[string]any{"sandboxOverrides": o}
}

// ended checks the one record of a call that failed.
func ended(t *testing.T, home string, result map[string]any, code, reason string) {
	t.Helper()
	f := failure(result)
	if f.str("code") != code || reason != "" && f.str("reason") != reason {
		t.Errorf("answered %v, want %s/%s", result, code, reason)
		return
	}
	if got := closes(records(t, home), f.str("callId")); len(got) != 1 || got[0].str("error", "code") != code || got[0].str("outcome") == "OK" {
		t.Errorf("records of the call that ended %s: %v", code, got)
	}
}

func TestLimits(t *testing.T) {
	home, dir := t.TempDir(), t.TempDir()
	secretServer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "INTERNAL-DATA") }))
	defer secretServer.Close()
	public := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/redirect":
			http.Redirect(w, r, secretServer.URL, http.StatusFound)
		case "/metadata":
			http.Redirect(w, r, "http://169.254.169.254/latest/", http.StatusFound)
		default:
			fmt.Fprint(w, "fine")
		}
	}))
	defer public.Close()
	publicHost := strings.TrimPrefix(public.URL, "http://")

	fetchURL := map[string]any{"params": []any{map[string]any{"name": "url", "type": "STRING", "required": true, "testValue": "http://example.com/"}}}
	for mode, o := range map[string]map[string]any{
		"strictFetch": overrides("networkMode", "strict"),
		"listFetch":   overrides("networkMode", "allowlist", "hostsAllow", []string{"127.0.0.1", "localhost", "169.254.169.254", "*"}),
	} {
		o["params"] = fetchURL["params"]
		tool(t, dir, mode, "const r = await fetch(url); return r.text();", o)
	}
	readPath := map[string]any{"params": []any{map[string]any{"name": "path", "type": "STRING", "required": true, "testValue": "a"}}}
	read := overrides("fileRead", true)
	read["params"] = readPath["params"]
	tool(t, dir, "reader", "return safety.fs.readText(path);", read)
	tool(t, dir, "forever", "while (true) {}", nil)
	tool(t, dir, "foreverAsync", "async function f() { for (;;) { await null; } } await f();", nil)
	tool(t, dir, "deep", "function f() { return f() + 1; } return f();", nil)
	tool(t, dir, "noFetch", "return typeof fetch + typeof safety.fs;", nil)
	tool(t, dir, "className", `return Java.type("java.lang.Runtime").getRuntime();`, nil)
	tool(t, dir, "ungranted", "return leak;", map[string]any{"staticVariables": []any{map[string]any{"leak": "${NOT_YOURS}"}}})

	config := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(config, []byte("egress:\n  private-hosts: [\""+publicHost+"\"]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	workspace := filepath.Join(home, "workspace")
	outside := filepath.Join(t.TempDir(), "outside.txt")
	for _, err := range []error{
		os.MkdirAll(workspace, 0o700), os.WriteFile(outside, []byte("OUTSIDE-DATA"), 0o600),
		os.Symlink(outside, filepath.Join(workspace, "link")), os.Symlink("/etc", filepath.Join(workspace, "etc")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	p := serve(t, home, []string{"NOT_YOURS=do-not-leak-me"}, "--config", config, "--catalog", dir)
	w := stateless(t, p.url)
	alive := func() {
		t.Helper()
		res := w.callTool("base64", map[string]any{"text": "hello world"}, nil, cannot, nil)
		if raw, _ := json.Marshal(res); !strings.Contains(string(raw), "aGVsbG8gd29ybGQ=") {
			t.Errorf("the next call was answered %s", raw)
		}
	}

	for name, want := range map[string][2]string{
		"forever": {"RESOURCE_LIMIT", "statements"},
		"deep":    {"RESOURCE_LIMIT", "stack"}, "className": {"SECURITY", "class-denied"},
	} {
		began := time.Now()
		ended(t, home, w.callTool(name, nil, nil, cannot, nil), want[0], want[1])
		if took := time.Since(began); took > 30*time.Second+500*time.Millisecond {
			t.Errorf("%s took %s", name, took)
		}
		alive()
	}
	// A turn of the microtask queue costs more than a statement: on a slow
	// machine the wall clock is first.
	res := w.callTool("foreverAsync", nil, nil, cannot, nil)
	if code := failure(res).str("code"); code == "TIMEOUT" {
		ended(t, home, res, "TIMEOUT", "deadline")
	} else {
		ended(t, home, res, "RESOURCE_LIMIT", "statements")
	}
	alive()
	for _, toolName := range []string{"strictFetch", "listFetch"} {
		for url, reason := range map[string]string{
			"http://169.254.169.254/":     "literal-private-ip",
			"http://localhost/":           "resolved-private-ip",
			"http://127.0.0.1:1/":         "literal-private-ip",
			"http://0x7f.1/":              "literal-private-ip",
			"http://[::ffff:127.0.0.1]/":  "literal-private-ip",
			public.URL + "/redirect":      "literal-private-ip",
			public.URL + "/metadata":      "literal-private-ip",
			"file:///etc/passwd":          "unsupported-scheme",
			"http://user:pw@example.com/": "invalid-url",
		} {
			res := w.callTool(toolName, map[string]any{"url": url}, nil, cannot, nil)
			code := "SECURITY"
			if reason == "invalid-url" {
				code = "INVALID_INPUT"
			}
			ended(t, home, res, code, reason)
			if raw, _ := json.Marshal(res); strings.Contains(string(raw), "INTERNAL-DATA") {
				t.Errorf("%s reached what is private through %s", url, toolName)
			}
		}
		// The operator opened one address, to tools that name it.
		res := w.callTool(toolName, map[string]any{"url": public.URL + "/"}, nil, cannot, nil)
		if refused := res["isError"] == true; refused != (toolName == "strictFetch") {
			t.Errorf("%s of the address that the operator opened was answered %v", toolName, res)
		}
	}
	for path, reason := range map[string]string{
		"../../etc/passwd": "path-escapes-base", "/etc/passwd": "path-escapes-base", "link": "path-escapes-base", "etc/passwd": "path-escapes-base",
		"a/../../../etc/passwd": "path-escapes-base",
	} {
		res := w.callTool("reader", map[string]any{"path": path}, nil, cannot, nil)
		ended(t, home, res, "SECURITY", reason)
		if raw, _ := json.Marshal(res); strings.Contains(string(raw), "OUTSIDE-DATA") || strings.Contains(string(raw), "root:") {
			t.Errorf("%s was read", path)
		}
	}
	if res := w.callTool("noFetch", nil, nil, cannot, nil); !strings.Contains(fmt.Sprint(res["content"]), "undefinedundefined") {
		t.Errorf("a tool without network and files sees %v", res["content"])
	}
	ended(t, home, w.callTool("ungranted", nil, nil, cannot, nil), "NOT_FOUND", "unknown-tool")
	p.stop()
	verifyWhole(t, home)
	nowhere(t, home, p.log.String(), "do-not-leak-me", "OUTSIDE-DATA", "INTERNAL-DATA")
}

// TestWallClock ends code that computes without executing statements.
func TestWallClock(t *testing.T) {
	home, dir := t.TempDir(), t.TempDir()
	tool(t, dir, "sleeper", "await new Promise((done) => setTimeout(done, 3600000));", nil)
	policy := filepath.Join(t.TempDir(), "policy")
	if _, errs, status := toolwarrant(t, home, "policy", "init", policy); status != 0 {
		t.Fatal(errs)
	}
	edit(t, filepath.Join(policy, "cue", "baseline.cue"), "timeoutSeconds: 30", "timeoutSeconds: 1")
	p := serve(t, home, nil, "--catalog", dir, "--policy", policy)
	w := stateless(t, p.url)
	began := time.Now()
	ended(t, home, w.callTool("sleeper", nil, nil, cannot, nil), "TIMEOUT", "")
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("a second took %s", took)
	}
	p.stop()
}

// nowhere checks that no file of the home and no log line holds a value.
func nowhere(t *testing.T, home, log string, values ...string) {
	t.Helper()
	texts := map[string]string{"the server's log": log}
	err := filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		texts[path] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for where, text := range texts {
		for _, v := range values {
			if strings.Contains(text, v) {
				t.Errorf("%s holds %q", where, v)
			}
		}
	}
}

func TestSecrets(t *testing.T) {
	home, dir := t.TempDir(), t.TempDir()
	const value = "s3cr3t-value-\"quoted\"-123"
	statics := map[string]any{
		"staticVariables": []any{
			map[string]any{"token": "${DEMO_TOKEN}"}, map[string]any{"flag": "${DEMO_FLAG}"}, map[string]any{"year": "${DEMO_YEAR}"},
			map[string]any{"both": "Bearer ${DEMO_TOKEN}"},
		},
		"params": []any{map[string]any{"name": "text", "type": "STRING", "required": false}},
	}
	tool(t, dir, "returns", "console.log('the token is ' + both); return {token, flag, year, both, [token]: 1, escaped: JSON.stringify(token), text};", statics)
	tool(t, dir, "throws", "throw new Error('failed with ' + token);", statics)
	tool(t, dir, "asks", `const said = [];
for (const url of ["https://" + name + ".example/" + name, "https://ok.example/?q=" + encodeURIComponent(name), "https://u:" + name + "@ok.example/"]) {
  try { await fetch(url, {headers: {"x-name": name}}); } catch (e) { said.push(e.message, String(e.stack)); }
}
said.push(new URL("https://" + name + ".example/").host, name.toLowerCase(), escape(name), btoa(name));
console.log(said.join(" "));
return said;`, map[string]any{
		"staticVariables":  []any{map[string]any{"name": "${DEMO_HOST}"}},
		"sandboxOverrides": map[string]any{"networkMode": "allowlist", "hostsAllow": []any{"ok.example"}},
	})
	const host = "Xq7Secret9Host"
	config := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(config, []byte("secrets:\n  grants:\n    - names: [\"DEMO_*\"]\n      tools: [returns, throws, asks]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	env := []string{"DEMO_TOKEN=" + value, "DEMO_HOST=" + host, "DEMO_FLAG=true", "DEMO_YEAR=2026"}
	p := serve(t, home, env, "--config", config, "--catalog", dir)
	w := stateless(t, p.url)
	res := w.callTool("returns", map[string]any{"text": "${DEMO_TOKEN} and " + value}, nil, cannot, nil)
	raw, _ := json.Marshal(res)
	if res["isError"] == true || strings.Contains(string(raw), "s3cr3t") || !strings.Contains(string(raw), "***") {
		t.Errorf("answered %s", raw)
	}
	if !strings.Contains(string(raw), "${DEMO_TOKEN} and ***") {
		t.Errorf("a placeholder in an argument was touched: %s", raw)
	}
	res = w.callTool("throws", nil, nil, cannot, nil)
	if raw, _ = json.Marshal(res); strings.Contains(string(raw), "s3cr3t") || !strings.Contains(string(raw), "***") {
		t.Errorf("answered %s", raw)
	}
	ended(t, home, res, "JS_ERROR", "Error")
	res = w.callTool("asks", nil, nil, cannot, nil)
	raw, _ = json.Marshal(res)
	if text := strings.ToLower(string(raw)); res["isError"] == true || !strings.Contains(text, "***") || strings.Contains(text, "secret9") || strings.Contains(string(raw), base64.StdEncoding.EncodeToString([]byte(host))) {
		t.Errorf("answered %s", raw)
	}
	p.stop()
	verifyWhole(t, home) // secrets that read true and 2026 broke no line
	nowhere(t, home, p.log.String(), "s3cr3t", "Secret9", "secret9", base64.StdEncoding.EncodeToString([]byte(host)))
	for _, r := range records(t, home) {
		if r.str("phase") == "close" && !strings.HasPrefix(r.str("time"), "20") {
			t.Errorf("a structural field was masked: %v", r["time"])
		}
	}
}
