package wasm

import (
	"context"
	"encoding/json"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/wasm/frame"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/wasm/runner"
)

// Attach runs the module once, with streams of its own. While it lives, the
// sandbox runs nothing else.
func (b *box) Attach(ctx context.Context, c sandbox.Command) (sandbox.Process, error) {
	if err := checkCommand(c); err != nil {
		return nil, err
	}
	if err := b.take(); err != nil {
		return nil, err
	}
	if err := b.compile(ctx); err != nil {
		b.give()
		return nil, err
	}
	b.unload()
	conf := config(b.spec)
	conf.Run = frame.Request{Argv: c.Argv, Env: environment(b.spec, c), Timeout: c.Timeout}
	text, err := json.Marshal(conf)
	if err != nil {
		b.give()
		return nil, err
	}
	p, err := b.inner.Attach(ctx, sandbox.Command{
		Argv: []string{atRunner, runner.Attached, string(text)}, Timeout: c.Timeout, CorrelationID: c.CorrelationID,
	})
	if err != nil {
		b.give()
		return nil, err
	}
	b.running(func() { _ = p.Kill() })
	if b.over() {
		_ = p.Kill()
	}
	a := &attached{Process: p, gone: make(chan struct{})}
	go func() {
		_, _ = p.Wait()
		b.running(nil)
		b.give()
		close(a.gone)
	}()
	return a, nil
}

// attached is a process after whose end the sandbox is free.
type attached struct {
	sandbox.Process
	gone chan struct{}
}

// Wait waits for the end.
func (a *attached) Wait() (sandbox.Result, error) {
	<-a.gone
	return a.Process.Wait()
}
