package wasm_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/wasm"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/wasm/frame"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/wasm/runner"
)

// codePlace is a name that a compiler may give.
var codePlace = "wazero-v1.0.0-amd64-linux/" + strings.Repeat("ab", 32)

// compiles plays a compiler that is well.
func compiles(out io.Writer, place string) {
	w := frame.NewWriter(out)
	w.Write(frame.Out, []byte("code"))
	w.WriteJSON(frame.Done, runner.Compiled{File: place})
}

// TestHostileCompiler: whatever the process that compiles says, nothing is
// written but one file at its own place.
func TestHostileCompiler(t *testing.T) {
	for name, play := range map[string]func(out io.Writer){
		"a place above":     func(out io.Writer) { compiles(out, "../../"+codePlace) },
		"an absolute place": func(out io.Writer) { compiles(out, "/tmp/x") },
		"another name":      func(out io.Writer) { compiles(out, "wazero-v1/../../"+strings.Repeat("ab", 32)) },
		"no place":          func(out io.Writer) { compiles(out, "") },
		"an error":          func(out io.Writer) { frame.NewWriter(out).WriteJSON(frame.Done, runner.Compiled{Error: "no"}) },
		"no document":       func(out io.Writer) { frame.NewWriter(out).Write(frame.Done, []byte("{")) },
		"another frame":     func(out io.Writer) { frame.NewWriter(out).Write(frame.Need, nil) },
		"an early end":      func(out io.Writer) { frame.NewWriter(out).Write(frame.Out, []byte("code")) },
		"too long a frame":  func(out io.Writer) { io.WriteString(out, "O\xff\xff\xff\xff") },
		"nothing":           func(io.Writer) {},
	} {
		cache := filepath.Join(t.TempDir(), "cache")
		h := &host{t: t, program: func(mode string, _ io.Reader, out io.Writer) {
			if mode == runner.Compile {
				play(out)
			}
		}}
		sb, err := wasm.New(h, wasm.Options{Cache: cache}).Create(t.Context(), sandbox.Spec{Image: file(t, "m.wasm", module("")), Limits: limits()})
		if err != nil {
			t.Fatal(err)
		}
		if err := sb.Start(t.Context()); !errors.Is(err, sandbox.ErrFailed) {
			t.Errorf("%s: %v", name, err)
		}
		sb.Close()
		filepath.WalkDir(cache, func(p string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				t.Errorf("%s left %s", name, p)
			}
			return err
		})
	}
}

// TestHostileRunner: whatever the runner says, the parent neither hangs nor
// panics nor keeps more than it was asked to.
func TestHostileRunner(t *testing.T) {
	hello := func(out io.Writer) *frame.Writer {
		w := frame.NewWriter(out)
		w.Write(frame.Hello, []byte("1"))
		return w
	}
	for _, c := range []struct {
		name string
		play func(in *frame.Reader, out io.Writer)
		is   error // of Exec; nil is a result
	}{
		{"another build", func(_ *frame.Reader, out io.Writer) { frame.NewWriter(out).Write(frame.Hello, []byte("99")) }, sandbox.ErrFailed},
		{"no hello", func(_ *frame.Reader, out io.Writer) { frame.NewWriter(out).Write(frame.Out, []byte("x")) }, sandbox.ErrFailed},
		{"cannot load", func(_ *frame.Reader, out io.Writer) {
			frame.NewWriter(out).WriteJSON(frame.Done, frame.Report{Error: "no"})
		}, sandbox.ErrFailed},
		{"an end in the middle", func(in *frame.Reader, out io.Writer) { hello(out); in.Read() }, sandbox.ErrFailed},
		{"another frame", func(in *frame.Reader, out io.Writer) { w := hello(out); in.Read(); w.Write(frame.In, nil) }, sandbox.ErrFailed},
		{"no document", func(in *frame.Reader, out io.Writer) { w := hello(out); in.Read(); w.Write(frame.Done, []byte("?")) }, sandbox.ErrFailed},
		{"too long a frame", func(in *frame.Reader, out io.Writer) {
			hello(out)
			in.Read()
			io.WriteString(out, "O\xff\xff\xff\xff")
		}, sandbox.ErrFailed},
		{"more output than asked for, and figures that cannot be", func(in *frame.Reader, out io.Writer) {
			w := hello(out)
			in.Read()
			for range 100 {
				w.Write(frame.Out, make([]byte, frame.MaxBody))
			}
			w.Write(frame.Need, nil)
			in.Read()
			w.WriteJSON(frame.Done, frame.Report{Code: -1, Memory: -5, CPU: -7})
			in.Read()
		}, nil},
	} {
		h := &host{t: t, program: func(mode string, in io.Reader, out io.Writer) {
			if mode == runner.Compile {
				compiles(out, codePlace)
				return
			}
			c.play(frame.NewReader(in, frame.MaxRequest), out)
		}}
		sb, err := wasm.New(h, wasm.Options{Cache: filepath.Join(t.TempDir(), "cache")}).Create(t.Context(), sandbox.Spec{Image: file(t, "m.wasm", module("")), Limits: limits()})
		if err != nil {
			t.Fatal(err)
		}
		r, err := sb.Exec(t.Context(), sandbox.Command{Argv: []string{"m"}, MaxOutput: 10, Stdin: strings.NewReader("text")})
		if !errors.Is(err, c.is) {
			t.Errorf("%s: %v, %+v", c.name, err, r)
		}
		if c.is == nil && (len(r.Stdout) != 10 || !r.Truncated || r.ExitCode != 255 || r.Usage.PeakMemory != 0 || r.Usage.CPU != 0) {
			t.Errorf("%s: %+v", c.name, r)
		}
		sb.Close()
	}
}

var longAgo = time.Now().Add(-100 * 24 * time.Hour)

// TestCache: a module is compiled once, whoever asks; the folder must be the
// user's own; what nobody used for long goes.
func TestCache(t *testing.T) {
	cache := filepath.Join(t.TempDir(), "cache")
	compiled := 0
	h := &host{t: t, program: func(mode string, in io.Reader, out io.Writer) {
		if mode == runner.Compile {
			compiled++
			compiles(out, codePlace)
			return
		}
		frame.NewWriter(out).Write(frame.Hello, []byte("1"))
		io.Copy(io.Discard, in)
	}}
	start := func(content string) {
		t.Helper()
		sb, err := wasm.New(h, wasm.Options{Cache: cache}).Create(t.Context(), sandbox.Spec{Image: file(t, "m.wasm", content), Limits: limits()})
		if err != nil {
			t.Fatal(err)
		}
		defer sb.Close()
		if err := sb.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	old := filepath.Join(cache, "old")
	if err := os.MkdirAll(old, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(old, longAgo, longAgo); err != nil {
		t.Fatal(err)
	}
	start(module(""))
	start(module(""))
	if start(module("\x01")); compiled != 2 {
		t.Errorf("%d compilations of two modules", compiled)
	}
	if _, err := os.Stat(old); err == nil {
		t.Error("what nobody used is still there")
	}
	if err := os.Chmod(cache, 0o777); err != nil {
		t.Fatal(err)
	}
	_, err := wasm.New(h, wasm.Options{Cache: cache}).Create(t.Context(), sandbox.Spec{Image: file(t, "m.wasm", module("")), Limits: limits()})
	if !errors.Is(err, sandbox.ErrUnavailable) {
		t.Errorf("a cache that everybody can write: %v", err)
	}
}
