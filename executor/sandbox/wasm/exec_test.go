package wasm_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
)

func TestExec(t *testing.T) {
	sb := create(t, inner(t), sandbox.Spec{Env: []string{"A=spec", "B=spec"}})
	for _, c := range []struct {
		name string
		c    sandbox.Command
		code int
		out  string
	}{
		{"arguments", sandbox.Command{Argv: []string{"any name", "args", "--", "-e", "a b", "$HOME", "\n"}}, 0, "any name|args|--|-e|a b|$HOME|\n\nheld\n"},
		{"code", sandbox.Command{Argv: []string{"g", "exit", "7"}}, 7, ""},
		{"code above a byte", sandbox.Command{Argv: []string{"g", "exit", "259"}}, 3, ""},
		{"input", sandbox.Command{Argv: []string{"g", "cat"}, Stdin: strings.NewReader("some text")}, 0, "some textheld\n"},
		{"no input", sandbox.Command{Argv: []string{"g", "cat"}}, 0, "held\n"},
		{"environment", sandbox.Command{Argv: []string{"g", "env"}, Env: []string{"B=command", "C="}, Dir: "/data"}, 0, "PATH=/\nHOME=/scratch\nLANG=C.UTF-8\nPWD=/data\nA=spec\nB=command\nC=\nheld\n"},
		{"fresh memory", sandbox.Command{Argv: []string{"g", "state"}}, 0, "begun\nheld\n"},
		{"fresh memory again", sandbox.Command{Argv: []string{"g", "state"}}, 0, "begun\nheld\n"},
		{"files", sandbox.Command{Argv: []string{"g", "files", "/scratch"}}, 0, "held\n"},
		{"temporary files", sandbox.Command{Argv: []string{"g", "files", "/tmp"}}, 0, "held\n"},
	} {
		r, err := sb.Exec(t.Context(), c.c)
		if err != nil || r.ExitCode != c.code || string(r.Stdout) != c.out || r.TimedOut || r.LimitHit != "" {
			t.Errorf("%s: %v, code %d, %q %q %+v", c.name, err, r.ExitCode, r.Stdout, r.Stderr, r)
		}
	}
}

func TestStreams(t *testing.T) {
	sb := create(t, inner(t), sandbox.Spec{})
	var live bytes.Buffer
	long := strings.Repeat("0123456789abcdef", 1<<14)
	r, err := sb.Exec(t.Context(), sandbox.Command{Argv: []string{"g", "cat"}, Stdin: strings.NewReader(long), Stdout: &live, MaxOutput: 1000})
	if err != nil || !r.Truncated || r.LimitHit != sandbox.Output || string(r.Stdout) != long[:1000] || live.String() != long[:1000] {
		t.Errorf("%v: %+v, %d bytes, %d live", err, r, len(r.Stdout), live.Len())
	}
	if want := "262144"; string(r.Stderr) != want {
		t.Errorf("the module read %s bytes", r.Stderr)
	}
	// Exactly as much as is kept is not too much.
	r, err = sb.Exec(t.Context(), sandbox.Command{Argv: []string{"g", "exit", "0"}, MaxOutput: 1})
	if err != nil || r.Truncated {
		t.Errorf("%v: %+v", err, r)
	}
	// A writer that fails, blocks or panics holds nothing.
	block := make(chan struct{})
	defer close(block)
	for _, w := range []func() (int, error){
		func() (int, error) { return 0, errors.New("full") },
		func() (int, error) { <-block; return 0, nil },
		func() (int, error) { panic("a writer") },
	} {
		r, err := sb.Exec(t.Context(), sandbox.Command{Argv: []string{"g", "flood"}, Stdout: writer(w), MaxOutput: 1 << 20})
		if err != nil || len(r.Stdout) != 1<<20 || len(r.Stderr) != 1<<20 || !r.Truncated || r.ExitCode != 0 {
			t.Errorf("%v: code %d, %d and %d bytes", err, r.ExitCode, len(r.Stdout), len(r.Stderr))
		}
	}
}

type writer func() (int, error)

func (w writer) Write(p []byte) (int, error) {
	n, err := w()
	if n == 0 && err == nil {
		n = len(p)
	}
	return n, err
}

// TestInputThatNeverComes: neither the end by itself nor by a limit waits for
// a reader.
func TestInputThatNeverComes(t *testing.T) {
	sb := create(t, inner(t), sandbox.Spec{})
	in, hold := io.Pipe()
	defer hold.Close()
	if r, err := sb.Exec(t.Context(), sandbox.Command{Argv: []string{"g", "hello"}, Stdin: in}); err != nil || r.ExitCode != 0 {
		t.Errorf("%v: %+v", err, r)
	}
	if r, err := sb.Exec(t.Context(), sandbox.Command{Argv: []string{"g", "cat"}, Stdin: in, Timeout: 300 * time.Millisecond}); err != nil || !r.TimedOut {
		t.Errorf("%v: %+v", err, r)
	}
}

// TestEndings: whatever ends a command, the next one runs.
func TestEndings(t *testing.T) {
	sb := create(t, inner(t), sandbox.Spec{})
	for _, name := range []string{"loop", "sleep"} {
		r, err := sb.Exec(t.Context(), sandbox.Command{Argv: []string{"g", name}, Timeout: 500 * time.Millisecond})
		if err != nil || !r.TimedOut || r.LimitHit != sandbox.WallClock || r.ExitCode != 137 || r.Signal != 9 {
			t.Errorf("%s: %v, %+v", name, err, r)
		}
		if r := do(t, sb, "state"); r.ExitCode != 0 {
			t.Errorf("after %s: %+v", name, r)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	if r, err := sb.Exec(ctx, sandbox.Command{Argv: []string{"g", "loop"}}); err != nil || !r.TimedOut {
		t.Errorf("the deadline of the context: %v, %+v", err, r)
	}
	ctx, cancel = context.WithCancel(t.Context())
	time.AfterFunc(300*time.Millisecond, cancel)
	if r, err := sb.Exec(ctx, sandbox.Command{Argv: []string{"g", "loop"}}); !errors.Is(err, context.Canceled) {
		t.Errorf("the end of the context: %v, %+v", err, r)
	}
	if r := do(t, sb, "memory"); r.LimitHit != sandbox.Memory || r.ExitCode == 0 || r.Usage.PeakMemory > 64<<20 || r.Usage.PeakMemory < 32<<20 {
		t.Errorf("memory: %+v", r)
	}
	if r := do(t, sb, "recursion"); r.ExitCode == 0 {
		t.Errorf("recursion: %+v", r)
	}
	if r := do(t, sb, "hello"); r.ExitCode != 0 || r.Usage.PeakMemory <= 0 || r.Usage.Wall <= 0 || r.LimitHit != "" {
		t.Errorf("afterwards: %+v", r)
	}
}

// TestReset: nothing of the scratch space is left, and what runs is ended.
func TestReset(t *testing.T) {
	sb := create(t, inner(t), sandbox.Spec{})
	for _, dir := range []string{"/scratch", "/tmp"} {
		if r := do(t, sb, "write", dir+"/left", "something"); r.ExitCode != 0 {
			t.Fatalf("%s", r.Stdout)
		}
		if r := do(t, sb, "read", dir+"/left"); r.ExitCode != 0 {
			t.Errorf("the same user does not find it: %s", r.Stdout)
		}
	}
	ended, looping := make(chan sandbox.Result), make(chan struct{})
	go func() {
		r, _ := sb.Exec(context.Background(), sandbox.Command{Argv: []string{"g", "loop"}, Stdout: writer(func() (int, error) { close(looping); return 0, nil })})
		ended <- r
	}()
	<-looping
	if _, err := sb.Exec(t.Context(), sandbox.Command{Argv: []string{"g", "hello"}}); !errors.Is(err, sandbox.ErrBusy) {
		t.Errorf("a second command: %v", err)
	}
	if err := sb.Reset(t.Context()); err != nil {
		t.Fatal(err)
	}
	if r := <-ended; r.ExitCode == 0 {
		t.Errorf("the loop ended with %+v", r)
	}
	for _, dir := range []string{"/scratch", "/tmp"} {
		if r := do(t, sb, "read", dir+"/left"); r.ExitCode == 0 {
			t.Errorf("the next user reads %s", r.Stdout)
		}
	}
}

func TestAttach(t *testing.T) {
	sb := create(t, inner(t), sandbox.Spec{Env: []string{"A=b"}})
	do(t, sb, "hello") // a runner is there already
	p, err := sb.Attach(t.Context(), sandbox.Command{Argv: []string{"g", "lines"}})
	if err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 100)
	for _, line := range []string{"one", "two"} {
		if _, err := io.WriteString(p.Stdin(), line+"\n"); err != nil {
			t.Fatal(err)
		}
		if n, err := p.Stdout().Read(buf); err != nil || string(buf[:n]) != "got "+line+"\n" {
			t.Errorf("%q, %v", buf[:n], err)
		}
	}
	if _, err := sb.Exec(t.Context(), sandbox.Command{Argv: []string{"g", "hello"}}); !errors.Is(err, sandbox.ErrBusy) {
		t.Errorf("a command beside it: %v", err)
	}
	p.Stdin().Close()
	if r, err := p.Wait(); err != nil || r.ExitCode != 0 {
		t.Errorf("%v, %+v", err, r)
	}
	if r := do(t, sb, "state"); r.ExitCode != 0 {
		t.Errorf("afterwards: %+v", r)
	}
	if p, err = sb.Attach(t.Context(), sandbox.Command{Argv: []string{"g", "loop"}}); err != nil {
		t.Fatal(err)
	}
	if err := p.Kill(); err != nil {
		t.Error(err)
	}
	if r, err := p.Wait(); err != nil || r.ExitCode == 0 {
		t.Errorf("%v, %+v", err, r)
	}
}

func TestClosed(t *testing.T) {
	sb := create(t, inner(t), sandbox.Spec{})
	ended, looping := make(chan error), make(chan struct{})
	go func() {
		_, err := sb.Exec(context.Background(), sandbox.Command{Argv: []string{"g", "loop"}, Stdout: writer(func() (int, error) { close(looping); return 0, nil })})
		ended <- err
	}()
	<-looping
	for range 2 {
		if err := sb.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := <-ended; !errors.Is(err, sandbox.ErrClosed) {
		t.Errorf("what ran: %v", err)
	}
	_, attach := sb.Attach(t.Context(), sandbox.Command{Argv: []string{"g"}})
	_, run := sb.Exec(t.Context(), sandbox.Command{Argv: []string{"g"}})
	for i, err := range []error{run, attach, sb.Start(t.Context()), sb.Reset(t.Context()), sb.Stop(t.Context())} {
		if !errors.Is(err, sandbox.ErrClosed) {
			t.Errorf("call %d: %v", i, err)
		}
	}
}

func TestBadCommands(t *testing.T) {
	sb := create(t, inner(t), sandbox.Spec{})
	for name, c := range map[string]sandbox.Command{
		"no arguments": {},
		"zero byte":    {Argv: []string{"g", "a\x00b"}},
		"environment":  {Argv: []string{"g"}, Env: []string{"=x"}},
		"folder":       {Argv: []string{"g"}, Dir: "here"},
		"too long":     {Argv: []string{"g", strings.Repeat("x", 2<<20)}},
	} {
		if _, err := sb.Exec(t.Context(), c); !errors.Is(err, sandbox.ErrSpec) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := sb.Attach(t.Context(), c); !errors.Is(err, sandbox.ErrSpec) {
			t.Errorf("attach, %s: %v", name, err)
		}
	}
	if got := slices.Sorted(slices.Values([]string{sb.Backend(), sb.ID()[:5]})); got[0] != "wasm" || got[1] != "wasm-" {
		t.Errorf("%v", got)
	}
}
