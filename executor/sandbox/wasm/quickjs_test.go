package wasm_test

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
)

// quickJS is the quickjs.wasm of the npm package quickjs-wasi, which is not
// part of this repository.
func quickJS(t testing.TB) string {
	t.Helper()
	p := os.Getenv("TOOLWARRANT_TEST_QUICKJS")
	if p == "" {
		t.Skip("TOOLWARRANT_TEST_QUICKJS does not name the quickjs.wasm of quickjs-wasi")
	}
	return p
}

// TestQuickJS runs scripts in the real thing.
func TestQuickJS(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"in/a.js": "console.log(scriptArgs.join()); 40 + 2", "in/broken.js": "let = =", "outside.js": "'" + canary + "'",
	} {
		if err := os.MkdirAll(filepath.Join(dir, "in"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../outside.js", filepath.Join(dir, "in", "link.js")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("WASM_CANARY", canary)
	sb := create(t, inner(t), sandbox.Spec{
		Image: quickJS(t), Env: []string{"A=spec"}, Mounts: []sandbox.Mount{{Source: filepath.Join(dir, "in"), Target: "/data"}},
	})
	code := func(text string, args ...string) sandbox.Command {
		return sandbox.Command{Argv: append([]string{"js", "-e", text}, args...)}
	}
	for _, c := range []struct {
		c             sandbox.Command
		code          int
		out, err, hit string
	}{
		// Where a script comes from, and what it is given.
		{code("1 + 1"), 0, "2\n", "", ""},
		{code("scriptArgs", "a", "-e"), 0, `["<code>","a","-e"]` + "\n", "", ""},
		{sandbox.Command{Argv: []string{"js", "/data/a.js", "x"}}, 0, "/data/a.js,x\n42\n", "", ""},
		{sandbox.Command{Argv: []string{"js", "a.js"}, Dir: "/data"}, 0, "a.js\n42\n", "", ""},
		{sandbox.Command{Argv: []string{"js"}, Stdin: strings.NewReader("'from ' + 'input'")}, 0, "from input\n", "", ""},
		{sandbox.Command{Argv: []string{"js", "-e", "JSON.parse(std.in.readAsString()).a"}, Stdin: strings.NewReader(`{"a": 5}`)}, 0, "5\n", "", ""},
		{sandbox.Command{Argv: []string{"js", "-e", "std.getenv('A') + std.getenv('B') + std.getenv('C')"}, Env: []string{"B=command"}}, 0, "speccommandundefined\n", "", ""},
		{code(""), 0, "", "", ""},
		// What comes out.
		{code("print(1, 'a b', {x: [1]}, null, undefined, 2n, Symbol('s'))"), 0, "1 a b {\"x\":[1]} null undefined 2 Symbol(s)\n", "", ""},
		{code("console.error('e'); console.warn('w'); console.log('o')"), 0, "o\n", "e\nw\n", ""},
		{code("await new Promise(r => r('later'))"), 0, "later\n", "", ""},
		{code("print('ü\\u{1F600}\\0')"), 0, "ü\U0001F600\x00\n", "", ""},
		// How it fails.
		{code("throw new TypeError('bad')"), 1, "", "TypeError: bad\n", ""},
		{code("throw 'text'"), 1, "", "text\n", ""},
		{code("await Promise.reject(new Error('async'))"), 1, "", "Error: async\n", ""},
		{code("Promise.reject(new Error('nobody asked')); 1"), 1, "", "Error: nobody asked\n", ""},
		{code("const p = Promise.reject(1); await null; p.catch(() => {}); 'asked'"), 0, "asked\n", "", ""},
		{code("await new Promise(() => {})"), 1, "", "nothing settles", ""},
		{code("let = ="), 1, "", "SyntaxError", ""},
		{code("throw { toString() { throw 1 } , toJSON() { throw 2 } }"), 1, "", "cannot be shown", ""},
		{code("(function f() { return f() + 1 })()"), 1, "", "RangeError", ""},
		{code("JSON.parse('['.repeat(1e6))"), 1, "", "RangeError", ""},
		{sandbox.Command{Argv: []string{"js", "--help"}}, 2, "", "usage", ""},
		{sandbox.Command{Argv: []string{"js", "/data/broken.js"}}, 1, "", "/data/broken.js:1", ""},
		{sandbox.Command{Argv: []string{"js", "/data/none.js"}}, 2, "", "cannot be opened", ""},
		// Ways out.
		{sandbox.Command{Argv: []string{"js", "/data/link.js"}}, 2, "", "cannot be opened", ""},
		{sandbox.Command{Argv: []string{"js", "/data/../etc/passwd"}}, 2, "", "none of the folders", ""},
		{sandbox.Command{Argv: []string{"js", "../outside.js"}, Dir: "/data"}, 2, "", "none of the folders", ""},
		{code("import('/data/a.js')"), 1, "", "could not load module", ""},
		{code("typeof os + typeof require + typeof process + typeof fetch + typeof WebAssembly"), 0, strings.Repeat("undefined", 5) + "\n", "", ""},
		{code("globalThis.left = 1; typeof left"), 0, "number\n", "", ""},
		{code("typeof left"), 0, "undefined\n", "", ""},
		{code("console.log = null; delete globalThis.print; Array.prototype.map = String = JSON = undefined; ({a: 1})"), 0, "", "", ""},
		// Bounds.
		{code("print('begun'); const a = []; for (;;) a.push('x'.repeat(1000) + a.length)"), 1, "begun\n", "out of memory", "memory"},
		{code("print('begun'); try { new ArrayBuffer(1e9) } catch { print('caught') }"), 1, "begun\n", "out of memory", "memory"},
		{code("print('begun'); (async () => { await null; new ArrayBuffer(1e9) })()"), 1, "begun\n", "out of memory", "memory"},
		{code("throw new InternalError('other')"), 1, "", "InternalError: other", ""},
		{sandbox.Command{Argv: []string{"js", "-e", "print('begun'); for (;;);"}, Timeout: 500 * time.Millisecond}, 137, "begun\n", "", "wallclock"},
		{sandbox.Command{Argv: []string{"js", "-e", "print('begun'); const f = () => Promise.resolve().then(f); f()"}, Timeout: 500 * time.Millisecond}, 137, "begun\n", "", "wallclock"},
		{code("'still ' + 'here'"), 0, "still here\n", "", ""},
	} {
		r, err := sb.Exec(t.Context(), c.c)
		switch {
		case strings.Contains(string(r.Stdout)+string(r.Stderr), canary):
			t.Errorf("%q read what it must not", c.c.Argv[1:])
		case strings.Contains(c.c.Argv[len(c.c.Argv)-1], "JSON = undefined"):
			// Whatever it prints of itself, it ends.
		case err != nil || r.ExitCode != c.code || string(r.Stdout) != c.out || !strings.Contains(string(r.Stderr), c.err) || string(r.LimitHit) != c.hit:
			t.Errorf("%q: %v, code %d, limit %q\n%q\n%q", c.c.Argv[1:], err, r.ExitCode, r.LimitHit, r.Stdout, r.Stderr)
		}
	}
	p, err := sb.Attach(t.Context(), sandbox.Command{Argv: []string{"js", "-e", "std.in.readAsString().toUpperCase()"}})
	if err != nil {
		t.Fatal(err)
	}
	_, _ = p.Stdin().Write([]byte("attached"))
	_ = p.Stdin().Close()
	if out, err := io.ReadAll(p.Stdout()); err != nil || string(out) != "ATTACHED\n" {
		t.Errorf("attached: %v, %q", err, out)
	}
	if r, err := p.Wait(); err != nil || r.ExitCode != 0 {
		t.Errorf("attached: %v, %+v", err, r)
	}
}
