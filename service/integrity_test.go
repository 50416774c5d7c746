package service

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/executor"
	"github.com/toolwarrant/toolwarrant/fault"
)

// Code that is swapped in memory after it passed does not run; the refusal is
// recorded, and other tools are served.
func TestSwappedAfterPublish(t *testing.T) {
	ctx, home := t.Context(), t.TempDir()
	check(t, os.MkdirAll(filepath.Join(home, "catalog"), 0o700))
	doc := `{"name":"mine","toolId":"id-mine","description":"Returns one.","code":"return 1","codeType":"Javascript","humanInTheLoop":{"mode":"DISABLED"}}`
	check(t, os.WriteFile(filepath.Join(home, "catalog", "mine.json"), []byte(doc), 0o600))
	s := opened(t, home, settings(t, nil))
	mine, err := s.Catalog.Lookup(ctx, "mine")
	check(t, err)
	_, err = s.Publish(ctx, operator, mine, "", TestOptions{})
	check(t, err)
	call := func() executor.Result {
		return s.Engine.Call(ctx, executor.Call{Principal: operator, Origin: decision.OriginCLIRun, Name: "mine"})
	}
	if res := call(); res.Outcome != fault.OK {
		t.Fatalf("before: %v", res.Err)
	}
	now, err := s.Catalog.Lookup(ctx, "mine")
	check(t, err)
	now.Spec.Code = "return 2"
	if res := call(); res.Outcome != fault.Denied || res.Err.Code != fault.Revoked {
		t.Errorf("after: %s %v", res.Outcome, res.Err)
	}
	log, err := os.ReadFile(filepath.Join(home, "audit", "audit.ndjson"))
	check(t, err)
	if !strings.Contains(string(log), `"REVOKED"`) {
		t.Error("the refusal is not on record")
	}
}
