package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// A policy that is published at a URL reaches a server that runs, and one
// that is broken does not.
func TestServeAPolicyOfAURL(t *testing.T) {
	dir, home := t.TempDir(), t.TempDir()
	if err := writeKeyPair(filepath.Join(dir, "release")); err != nil {
		t.Fatal(err)
	}
	policy := filepath.Join(dir, "policy")
	if _, errs, status := toolwarrant(t, home, "policy", "init", policy); status != 0 {
		t.Fatal(errs)
	}
	publish := func(revision string) *[]byte {
		file := filepath.Join(dir, revision+".tar.gz")
		if _, errs, status := toolwarrant(t, home, "policy", "bundle", policy, "-o", file, "--revision", revision, "--sign", filepath.Join(dir, "release.pem")); status != 0 {
			t.Fatal(errs)
		}
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return &raw
	}
	var shelf atomic.Pointer[[]byte]
	shelf.Store(publish("1"))
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write(*shelf.Load()) }))
	defer web.Close()
	env := []string{"TOOLWARRANT_POLICY_KEYS=" + filepath.Join(dir, "release.pub.pem"), "TOOLWARRANT_POLICY_POLL_SECONDS=1"}
	p := serve(t, home, env, "--policy", web.URL+"/policy.tar.gz")
	shows := func(text string) {
		t.Helper()
		var last string
		for end := time.Now().Add(60 * time.Second); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
			resp, err := http.Get(strings.TrimSuffix(p.url, "/mcp") + "/healthz")
			if err != nil {
				t.Fatal(err)
			}
			body, _ := io.ReadAll(resp.Body)
			resp.Body.Close()
			if last = string(body); resp.StatusCode == http.StatusOK && strings.Contains(last, text) {
				return
			}
		}
		t.Fatalf("health does not show %s but %s\n%s", text, last, p.log)
	}
	shows(`"bundle":"1"`)
	shelf.Store(publish("2"))
	shows(`"bundle":"2"`)
	broken := []byte("broken")
	shelf.Store(&broken)
	shows(`"reason":"bundle-unreadable"`)
	shows(`"bundle":"2"`)
	p.stop()
	kinds := map[string]int{}
	for _, r := range records(t, home) {
		if r.str("phase") == "event" {
			kinds[r.str("event", "kind")+r.str("kind")]++
		}
	}
	if kinds["policy.activate"] != 2 || kinds["policy.refuse"] != 1 {
		t.Errorf("events %v", kinds)
	}

	// Without any policy there is no start.
	web.Close()
	_, errs, status := toolwarrant(t, t.TempDir(), "serve", "--addr", "127.0.0.1:0", "--policy", web.URL+"/policy.tar.gz")
	if status != 3 || !strings.Contains(errs, "policy-download") {
		t.Errorf("a start without a policy: status %d, %s", status, errs)
	}
}
