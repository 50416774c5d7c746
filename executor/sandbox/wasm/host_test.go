package wasm_test

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/wasm/runner"
)

// host stands in for the process back end: it runs the runner on this machine
// with nothing around it. What a module cannot do here, it cannot do because
// of the runtime and the runner alone. It can also be told to fail.
type host struct {
	t testing.TB
	// program replaces the runner, with what it is given in Config and mode.
	program func(mode string, in io.Reader, out io.Writer)
	fail    error // of Create
	started int
}

func (h *host) ID() string    { return "host" }
func (h *host) Priority() int { return -1 }
func (h *host) Probe(context.Context) sandbox.Availability {
	return sandbox.Availability{OK: true}
}

func (h *host) Create(_ context.Context, spec sandbox.Spec) (sandbox.Sandbox, error) {
	if h.fail != nil {
		return nil, h.fail
	}
	return &hostBox{h: h, spec: spec, scratch: h.t.TempDir()}, nil
}

type hostBox struct {
	h       *host
	spec    sandbox.Spec
	scratch string
	mu      sync.Mutex
	live    []*hostProcess
}

func (b *hostBox) ID() string      { return "host-1" }
func (b *hostBox) Backend() string { return "host" }
func (b *hostBox) Enforcement() sandbox.Enforcement {
	e := sandbox.Enforcement{}
	for _, d := range sandbox.Dimensions() {
		e[d] = sandbox.Strength{Level: sandbox.Full, By: "a test"}
	}
	return e
}
func (b *hostBox) Start(context.Context) error { return nil }
func (b *hostBox) Exec(context.Context, sandbox.Command) (sandbox.Result, error) {
	return sandbox.Result{}, sandbox.ErrFailed
}
func (b *hostBox) Stop(context.Context) error { return b.Terminate() }
func (b *hostBox) Terminate() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range b.live {
		p.Kill()
	}
	return nil
}
func (b *hostBox) Close() error { return b.Terminate() }
func (b *hostBox) Reset(context.Context) error {
	b.Terminate()
	entries, err := os.ReadDir(b.scratch)
	for _, e := range entries {
		os.RemoveAll(b.scratch + "/" + e.Name())
	}
	return err
}

// outside is the path on the host for one in the sandbox.
func (b *hostBox) outside(p string) string {
	for _, m := range b.spec.Mounts {
		if rest, ok := strings.CutPrefix(p, m.Target); ok {
			return m.Source + rest
		}
	}
	for _, dir := range []string{"/scratch", "/tmp"} {
		if rest, ok := strings.CutPrefix(p, dir); ok {
			os.MkdirAll(b.scratch+dir, 0o700)
			return b.scratch + dir + rest
		}
	}
	return "/nowhere" + p
}

func (b *hostBox) Attach(_ context.Context, c sandbox.Command) (sandbox.Process, error) {
	b.h.started++
	if b.h.program != nil {
		p := fakeProcess(func(in io.Reader, out io.Writer) { b.h.program(c.Argv[1], in, out) })
		return p, nil
	}
	var conf runner.Config
	if err := json.Unmarshal([]byte(c.Argv[2]), &conf); err != nil {
		return nil, err
	}
	conf.Module = b.outside(conf.Module)
	conf.Cache = b.outside(conf.Cache)
	for i := range conf.Mounts {
		conf.Mounts[i].Dir = b.outside(conf.Mounts[i].Dir)
	}
	text, err := json.Marshal(conf)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(b.outside(c.Argv[0]), c.Argv[1], string(text))
	cmd.Args[0] = c.Argv[0]
	cmd.Env = []string{"GORACE=exitcode=66"}
	p := &hostProcess{done: make(chan struct{})}
	in, errIn := cmd.StdinPipe()
	outR, outW, errOut := os.Pipe()
	errR, errW, errErr := os.Pipe()
	for _, err := range []error{errIn, errOut, errErr} {
		if err != nil {
			return nil, err
		}
	}
	cmd.Stdout, cmd.Stderr = outW, errW
	p.in, p.out, p.err, p.kill = in, outR, errR, func() { cmd.Process.Kill() }
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	outW.Close()
	errW.Close()
	go func() {
		cmd.Wait()
		p.result.ExitCode = cmd.ProcessState.ExitCode()
		if ws := cmd.ProcessState.Sys().(syscall.WaitStatus); ws.Signaled() {
			p.result.Signal, p.result.ExitCode = int(ws.Signal()), 128+int(ws.Signal())
		}
		close(p.done)
	}()
	b.mu.Lock()
	b.live = append(b.live, p)
	b.mu.Unlock()
	return p, nil
}

type hostProcess struct {
	in     io.WriteCloser
	out    io.Reader
	err    io.Reader
	kill   func()
	once   sync.Once
	done   chan struct{}
	result sandbox.Result
}

func (p *hostProcess) Stdin() io.WriteCloser { return p.in }
func (p *hostProcess) Stdout() io.Reader     { return p.out }
func (p *hostProcess) Stderr() io.Reader     { return p.err }
func (p *hostProcess) Kill() error           { p.once.Do(p.kill); return nil }
func (p *hostProcess) Wait() (sandbox.Result, error) {
	<-p.done
	return p.result, nil
}

// fakeProcess is one that a function plays.
func fakeProcess(play func(in io.Reader, out io.Writer)) *hostProcess {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	p := &hostProcess{in: inW, out: outR, err: strings.NewReader("what it said"), done: make(chan struct{})}
	p.kill = func() { inR.CloseWithError(io.EOF); inW.Close(); outR.Close(); outW.Close() }
	go func() {
		play(inR, outW)
		outW.Close()
		inR.Close()
		close(p.done)
	}()
	return p
}
