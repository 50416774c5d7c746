package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

var publishKills = flag.Int("publishkills", 3, "how often TestKilledWhilePublishing kills a publisher")

const killable = `{
  "toolId": "id-killable",
  "name": "killable",
  "description": "Returns 1.",
  "x-mine":   {"keep":   [1.0]},
  "code": "return 1;",
  "codeType": "Javascript",
  "draft": true
}
`

// TestKilledWhilePublishing kills "test --write" at moments spread over its
// whole run. Each time the document is the old one or the new one, whole, and
// the next command works.
func TestKilledWhilePublishing(t *testing.T) {
	home := t.TempDir()
	file := filepath.Join(home, "catalog", "killable.json")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	reset := func() {
		if err := os.WriteFile(file, []byte(killable), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	reset()
	began := time.Now() // once whole: how long it takes, and what the new one is like
	if _, errs, status := toolwarrant(t, home, "test", "killable", "--write"); status != 0 {
		t.Fatalf("status %d: %s", status, errs)
	}
	whole := time.Since(began)
	if old, ok := publishedForm(t, file); old || !ok {
		t.Fatal("test --write wrote no new document")
	}
	var olds, news int
	for i := range *publishKills {
		reset()
		cmd := exec.Command("toolwarrant", "test", "killable", "--write")
		cmd.Env = append(os.Environ(), "TOOLWARRANT_HOME="+home)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		// The write is near the end: half of the kills fall into the last fifth.
		at := whole * time.Duration(i+1) / time.Duration(*publishKills+1)
		if i%2 == 1 {
			at = whole*4/5 + at/4
		}
		time.Sleep(at)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		old, ok := publishedForm(t, file)
		if !ok {
			data, _ := os.ReadFile(file)
			t.Fatalf("killed after %v, the document is\n%s", at, data)
		}
		if old {
			olds++
		} else {
			news++
		}
	}
	t.Logf("%d kills: %d left the old document, %d the new one", *publishKills, olds, news)
	reset()
	if _, errs, status := toolwarrant(t, home, "test", "killable", "--write"); status != 0 {
		t.Errorf("after the kills: status %d: %s", status, errs)
	}
	verifyWhole(t, home)
}

// publishedForm says whether the document is the old one, byte for byte, and
// if not, whether it is the new one: what publishing replaces and nothing else.
func publishedForm(t *testing.T, file string) (old, ok bool) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(data) == killable {
		return true, true
	}
	var doc map[string]any
	if json.Unmarshal(data, &doc) != nil || doc["draft"] != false || doc["toolSafety"] == nil || doc["updateTimestamp"] == nil {
		return false, false
	}
	kept, _, _ := strings.Cut(killable, `"draft"`)
	return false, bytes.HasPrefix(data, []byte(kept))
}

// TestPublishedAtOnce publishes the tools of one bundle file from as many
// processes at once. None of the edits is lost.
func TestPublishedAtOnce(t *testing.T) {
	home := t.TempDir()
	const n = 3
	var docs []string
	for i := range n {
		docs = append(docs, fmt.Sprintf(`{"toolId": "id-%d", "name": "tool%d", "description": "Returns 1.", "x-n":  %d, "code": "return 1;", "codeType": "Javascript", "draft": true}`, i, i, i))
	}
	file := filepath.Join(home, "catalog", "all.json")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(`{"toolSpecs": [`+strings.Join(docs, ",\n")+`], "mine":   true}`), 0o600); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			if out, errs, status := toolwarrant(t, home, "test", fmt.Sprint("tool", i), "--write"); status != 0 {
				t.Errorf("tool%d: status %d: %s%s", i, status, out, errs)
			}
		})
	}
	wg.Wait()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(string(data), `"draft": false`); got != n || !strings.Contains(string(data), `"mine":   true`) {
		t.Errorf("%d of %d tools are published:\n%s", got, n, data)
	}
	out, _, _ := toolwarrant(t, home, "catalog", "list", "--format", "json")
	var listed struct {
		Tools []struct{ Name, State string }
	}
	if err := json.Unmarshal([]byte(out), &listed); err != nil {
		t.Fatal(err)
	}
	active := 0
	for _, tool := range listed.Tools {
		if strings.HasPrefix(tool.Name, "tool") && tool.State == "ACTIVE" {
			active++
		}
	}
	if active != n {
		t.Errorf("%d of %d tools are ACTIVE", active, n)
	}
}
