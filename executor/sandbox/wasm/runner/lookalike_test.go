package runner_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolwarrant/toolwarrant/executor/sandbox/wasm/runner"
)

// section is a part of a module, with its length.
func section(id byte, body string) string { return string(id) + leb(len(body)) + body }

func leb(n int) string {
	if n < 0x80 {
		return string(byte(n))
	}
	return string([]byte{byte(n) | 0x80, byte(n >> 7)})
}

// TestLookalikes: modules with the names of QuickJS that are something else.
// They have nothing that another module has not, and end as any that fails.
func TestLookalikes(t *testing.T) {
	names := []string{"_initialize", "qjs_init", "qjs_eval", "qjs_call", "qjs_new_host_function", "qjs_set_memory_limit", "wasm_malloc"}
	// One function, of no arguments and one 32-bit result or none, is all of
	// the exports.
	lookalike := func(typ, code string, memory bool) string {
		exports := leb(len(names))
		for _, n := range names {
			exports += leb(len(n)) + n + "\x00\x00"
		}
		m := "\x00asm\x01\x00\x00\x00" + section(1, "\x01"+typ) + section(3, "\x01\x00")
		if memory {
			m += section(5, "\x01\x00\x01")
			exports = leb(len(names)+1) + exports[1:] + "\x06memory\x02\x00"
		}
		body := "\x00" + code + "\x0b"
		return m + section(7, exports) + section(10, "\x01"+leb(len(body))+body)
	}
	for name, module := range map[string]string{
		"nothing at all":     lookalike("\x60\x00\x00", "", true),
		"without a memory":   lookalike("\x60\x00\x00", "", false),
		"traps":              lookalike("\x60\x00\x00", "\x00", true),
		"a result":           lookalike("\x60\x00\x01\x7f", "\x41\x00", true),
		"a wrong result":     lookalike("\x60\x00\x01\x7f", "\x41\x7f", true),
		"recursion":          lookalike("\x60\x00\x00", "\x10\x00", true),
		"an argument":        lookalike("\x60\x01\x7f\x00", "", true),
		"argument and a one": lookalike("\x60\x01\x7f\x01\x7f", "\x20\x00", true),
	} {
		p := filepath.Join(t.TempDir(), "m.wasm")
		if err := os.WriteFile(p, []byte(module), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, r := range []runner.Request{{Argv: []string{"js", "-e", "1"}}, {Argv: []string{"js", "-e", ""}, Timeout: 1}} {
			code, out, said := start(t, runner.Attached, runner.Config{Version: runner.Version, Module: p, MemoryBytes: 1 << 20, Run: r})
			if code != 134 && code != 1 && code != 137 || out != "" || strings.Contains(said, "goroutine") || said == "" {
				t.Errorf("%s: code %d, %q, %q", name, code, out, said)
			}
		}
	}
}
