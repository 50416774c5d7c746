//go:build unix

package main

import (
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
)

// TestEditWhileServing edits a policy that a server has in force, while calls
// run: none fails, an edit that breaks a test is refused, and the records say
// under which revision each call was decided.
func TestEditWhileServing(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the tests of a policy three times beside calls")
	}
	home, policy := t.TempDir(), filepath.Join(t.TempDir(), "p")
	if _, errs, status := toolwarrant(t, home, "policy", "init", policy); status != 0 {
		t.Fatal(errs)
	}
	data := filepath.Join(policy, "rego", "data.json")
	server := serve(t, home, nil, "--policy", policy)
	hangUp := func(says string) {
		t.Helper()
		if err := server.cmd.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		waitFor(t, says, func() bool { return strings.Contains(server.log.String(), says) })
	}

	var calls, failed atomic.Int64
	done := make(chan struct{})
	var callers sync.WaitGroup
	for range 4 {
		callers.Go(func() {
			client := stateless(t, server.url)
			for {
				select {
				case <-done:
					return
				default:
				}
				calls.Add(1)
				if res := client.callTool("base64", map[string]any{"text": "x"}, nil, map[string]any{}, nil); res["isError"] == true {
					failed.Add(1)
				}
			}
		})
	}
	at := func(n int64) { waitFor(t, "calls", func() bool { return calls.Load() >= n }) }
	at(5)
	edit(t, data, `"network-strict": {"level": "L3"`, `"network-strict": {"level": "L4"`)
	hangUp("reload refused")
	at(calls.Load() + 5)
	edit(t, filepath.Join(policy, "policy_test", "risk", "table_test.rego"), `"strict": {"set": {"networkMode": "strict"}, "level": "L3"`, `"strict": {"set": {"networkMode": "strict"}, "level": "L4"`)
	hangUp("INF reloaded")
	at(calls.Load() + 5)
	close(done)
	callers.Wait()
	server.stop()

	if n := failed.Load(); n > 0 {
		t.Errorf("%d of %d calls failed", n, calls.Load())
	}
	revisions, closed := map[string]int{}, int64(0)
	for _, r := range records(t, home) {
		if r.str("phase") == "close" {
			closed++
			revisions[r.str("policy", "revision")]++
		}
	}
	if closed != calls.Load() || len(revisions) != 2 {
		t.Errorf("%d calls, %d closes under the revisions %v", calls.Load(), closed, revisions)
	}
	verifyWhole(t, home)
}
