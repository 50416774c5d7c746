package service

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/toolwarrant/toolwarrant/config"
)

// The revision of lists follows the catalog at once, and a secret soon.
func TestListRevision(t *testing.T) {
	ctx := context.Background()
	home, tools := t.TempDir(), t.TempDir()
	write := func(name, more string) {
		t.Helper()
		check(t, os.WriteFile(filepath.Join(tools, name+".json"), []byte(`{"name":"`+name+`","toolId":"id-`+name+`","draft":false,"code":"return 1","codeType":"Javascript"`+more+`}`), 0o600))
	}
	write("keyed", `,"staticVariables":[{"key":"${LIST_KEY}"}]`)
	cfg, err := config.Load("", nil, map[string]any{
		"runtime.isolation": "in-process", "catalog.trust-folders": true, "catalog.dirs": []string{tools},
		"secrets.grants": []any{map[string]any{"names": []any{"LIST_KEY"}, "tools": []any{"keyed"}}},
	})
	check(t, err)
	s, err := Open(ctx, Options{Home: home, Config: cfg, Logger: zerolog.Nop()})
	check(t, err)
	t.Cleanup(func() { check(t, s.Close(ctx)) })

	first := s.ListRevision()
	if again := s.ListRevision(); again != first || first == "" {
		t.Errorf("%q, then %q", first, again)
	}
	write("added", "")
	check(t, s.Catalog.Reload(ctx))
	second := s.ListRevision()
	if second == first {
		t.Error("a new tool does not change it")
	}
	check(t, os.WriteFile(filepath.Join(home, "secrets.yaml"), []byte("LIST_KEY: value\n"), 0o600))
	for end := time.Now().Add(30 * time.Second); s.ListRevision() == second; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("a secret does not change it")
		}
	}
	visible, err := s.Visible(ctx, system)
	check(t, err)
	found := false
	for _, tool := range visible {
		found = found || tool.Spec.Name == "keyed"
	}
	if !found {
		t.Error("the tool with its secret is not visible")
	}
}
