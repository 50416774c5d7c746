package main

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/toolwarrant/toolwarrant/config"
)

// TestKeysThatCannotBeChecked: an operator is told at the start, and not by the
// first caller who is refused.
func TestKeysThatCannotBeChecked(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files have no mode there")
	}
	cfg, err := config.Load("", []string{"TOOLWARRANT_AUTH_API_KEYS=true"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	file := filepath.Join(home, "keys", "api-keys.json")
	if err := os.Mkdir(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	if _, err := identity(t.Context(), home, cfg, zerolog.New(&log)); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(log.String(), "API keys cannot be checked") || !strings.Contains(log.String(), "chmod 600") {
		t.Error(log.String())
	}
}
