package main

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// adminConfig writes a configuration with the admin interface at addr.
func adminConfig(t *testing.T, addr, roles string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "c.yaml")
	text := "admin:\n  enabled: true\n  addr: \"" + addr + "\"\n  roles: " + roles + "\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestServeAdmin: the admin interface has a listener of its own, gives what the
// configuration gives, and what it does is on record.
func TestServeAdmin(t *testing.T) {
	home, addr := t.TempDir(), freeAddr(t)
	p := serve(t, home, nil, "--config", adminConfig(t, addr, "{author: {subjects: [local]}}"))
	ask := func(method, path, body string) (int, string) {
		t.Helper()
		req, err := http.NewRequest(method, "http://"+addr+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		if method == http.MethodPost {
			req.Header.Set("Content-Type", "application/json")
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		raw, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, string(raw)
	}
	if status, body := ask("GET", "/api/v1/me", ""); status != 200 || !strings.Contains(body, `"roles":["viewer","author"]`) {
		t.Errorf("me: %d %s", status, body)
	}
	status, body := ask("POST", "/api/v1/catalog/base64/run", `{"args":{"text":"hello world"}}`)
	var v struct{ CallID, Result string }
	if err := json.Unmarshal([]byte(body), &v); err != nil || status != 200 || v.Result != "aGVsbG8gd29ybGQ=" {
		t.Errorf("run: %d %s", status, body)
	}
	if got := closes(records(t, home), v.CallID); len(got) != 1 || got[0].str("origin") != "admin" || got[0].str("principal", "subject") != "local" {
		t.Errorf("recorded %v", got)
	}
	if status, body := ask("POST", "/api/v1/reload", ""); status != 403 || !strings.Contains(body, "admin.roles.admin") {
		t.Errorf("reload: %d %s", status, body)
	}
	for _, path := range []string{"/mcp", "/metrics", "/debug/pprof/"} {
		if status, _ := ask("GET", path, ""); status != 404 {
			t.Errorf("%s is served by the admin interface: %d", path, status)
		}
	}
	for _, path := range []string{"/api/v1/me", "/debug/pprof/", "/api/v1/debug/pprof/"} {
		if status, _ := p.get(path); status != 404 {
			t.Errorf("%s is served by the MCP endpoint: %d", path, status)
		}
	}
	p.stop()
	verifyWhole(t, home)
}

// TestAdminNeedsCredentials: what authenticates agents authenticates here too,
// beside stdio as well, and who is refused is on record.
func TestAdminNeedsCredentials(t *testing.T) {
	home, addr := t.TempDir(), freeAddr(t)
	config := adminConfig(t, addr, "{author: {subjects: [local, ci]}}\nauth: {api-keys: true}")
	made, errs, status := toolwarrant(t, home, "keys", "create", "ci", "--format", "json")
	var key struct{ Token string }
	if err := json.Unmarshal([]byte(made), &key); err != nil || status != 0 || key.Token == "" {
		t.Fatalf("keys create: %d, %v, %s", status, err, errs)
	}
	server := exec.Command("toolwarrant", "serve", "--stdio", "--home", home, "--config", config)
	in, err := server.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Process.Kill() })
	ask := func(token string) int {
		req, err := http.NewRequest("GET", "http://"+addr+"/api/v1/me", nil)
		if err != nil {
			t.Fatal(err)
		}
		if token != "" {
			req.Header.Set("Authorization", "Bearer "+token)
		}
		for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
			if res, err := http.DefaultClient.Do(req); err == nil {
				_ = res.Body.Close()
				return res.StatusCode
			} else if time.Now().After(end) {
				t.Fatal(err)
			}
		}
	}
	if got := ask(""); got != 401 {
		t.Errorf("without credentials: %d", got)
	}
	if got := ask(key.Token); got != 200 {
		t.Errorf("with an API key: %d", got)
	}
	_ = in.Close()
	if err := server.Wait(); err != nil {
		t.Error(err)
	}
	refused := 0
	for _, r := range records(t, home) {
		if r.str("phase") == "close" && r.str("origin") == "admin" && r.str("error", "code") == "UNAUTHENTICATED" {
			refused++
		}
	}
	if refused != 1 {
		t.Errorf("%d refusals on record", refused)
	}
}

// TestAdminIsNotServed: it is off by default, and what others could reach is
// refused without authentication.
func TestAdminIsNotServed(t *testing.T) {
	home := t.TempDir()
	for addr, says := range map[string]string{
		"0.0.0.0:8283": "authentication-required", ":8283": "authentication-required", "example.com:8283": "authentication-required", "192.0.2.1:8283": "authentication-required", "127.0.0.1:99999": "listen",
	} {
		_, errs, status := toolwarrant(t, home, "serve", "--addr", freeAddr(t), "--config", adminConfig(t, addr, "{}"))
		if status != 2 || !strings.Contains(errs, says) || !strings.Contains(errs, "admin.addr") {
			t.Errorf("%s: status %d, %s", addr, status, errs)
		}
	}
	p := serve(t, home, nil)
	if strings.Contains(p.log.String(), "admin interface") {
		t.Errorf("it is served by default:\n%s", p.log)
	}
	p.stop()
}
