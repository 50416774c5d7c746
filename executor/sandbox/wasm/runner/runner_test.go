package runner_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolwarrant/toolwarrant/executor/sandbox/wasm/runner"
)

// start runs this very program as the runner: its name is enough.
func start(t *testing.T, mode string, c runner.Config) (code int, out, said string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	var o, e strings.Builder
	cmd := exec.Command(self, mode, string(text))
	cmd.Args[0], cmd.Stdout, cmd.Stderr, cmd.Env = "/somewhere/"+runner.Name, &o, &e, []string{}
	_ = cmd.Run()
	return cmd.ProcessState.ExitCode(), o.String(), e.String()
}

// TestRefused: what a runner cannot do is told in words, with a code that no
// module of ours has.
func TestRefused(t *testing.T) {
	dir := t.TempDir()
	good, bad := filepath.Join(dir, "good.wasm"), filepath.Join(dir, "bad.wasm")
	for p, text := range map[string]string{
		good: "\x00asm\x01\x00\x00\x00\x01\x04\x01\x60\x00\x00\x03\x02\x01\x00\x07\x0a\x01\x06_start\x00\x00\x0a\x04\x01\x02\x00\x0b",
		bad:  "no module",
	} {
		if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := runner.Config{Version: runner.Version, Module: good, MemoryBytes: 1 << 20}
	with := func(change func(*runner.Config)) runner.Config {
		d := c
		change(&d)
		return d
	}
	for _, try := range []struct {
		name, mode string
		c          runner.Config
		code       int
		says       string
	}{
		{"good", runner.Attached, c, 0, ""},
		{"no such mode", "shell", c, 125, "no mode"},
		{"another version", runner.Attached, with(func(c *runner.Config) { c.Version = 99 }), 125, "one build"},
		{"no module there", runner.Attached, with(func(c *runner.Config) { c.Module = dir + "/none" }), 125, "cannot be read"},
		{"no module", runner.Serve, with(func(c *runner.Config) { c.Module = bad }), 125, "cannot be compiled"},
		{"no folder", runner.Attached, with(func(c *runner.Config) { c.Mounts = []runner.Mount{{Dir: dir + "/none", Guest: "/x"}} }), 125, "cannot be opened"},
	} {
		code, out, said := start(t, try.mode, try.c)
		if code != try.code || !strings.Contains(said, try.says) {
			t.Errorf("%s: code %d, %q, %q", try.name, code, out, said)
		}
	}
	if code, _, said := start(t, runner.Compile, with(func(c *runner.Config) { c.Cache = dir + "/cache" })); code != 0 {
		t.Errorf("compile: code %d, %q", code, said)
	}
}
