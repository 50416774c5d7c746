package main

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
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
