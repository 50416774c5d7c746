package wasm

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"sync"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
)

// box is one sandbox: a process sandbox and, between its commands, a runner
// with the module loaded.
type box struct {
	f     *Factory
	spec  sandbox.Spec
	inner sandbox.Sandbox
	have  sandbox.Enforcement
	p     *program
	entry entry
	m     module
	id    string

	// turn is taken by whoever runs something or changes what runs.
	turn chan struct{}

	mu     sync.Mutex // over what follows, and held while kill is called
	loaded *server
	kill   func() // ends what runs now; nil when nothing does
	ended  bool   // terminated or closed
}

var _ sandbox.Sandbox = (*box)(nil)

func newBox(f *Factory, spec sandbox.Spec, inner sandbox.Sandbox, have sandbox.Enforcement, p *program, e entry, m module) *box {
	return &box{
		f: f, spec: spec, inner: inner, have: have, p: p, entry: e, m: m,
		id:   ID + "-" + strings.ToLower(rand.Text()),
		turn: make(chan struct{}, 1),
	}
}

func (b *box) ID() string                       { return b.id }
func (b *box) Backend() string                  { return ID }
func (b *box) Enforcement() sandbox.Enforcement { return b.have.Clone() }

// take is the right to run something, or why there is none.
func (b *box) take() error {
	select {
	case b.turn <- struct{}{}:
	default:
		return sandbox.Errorf(sandbox.ErrBusy, "the sandbox runs another command; wait for its end or make another sandbox")
	}
	if b.over() {
		b.give()
		return closed()
	}
	return nil
}

func (b *box) give() { <-b.turn }

// interrupt ends what runs and takes the turn after it.
func (b *box) interrupt(ctx context.Context) error {
	b.end(false)
	select {
	case b.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	if b.over() {
		b.give()
		return closed()
	}
	return nil
}

func (b *box) over() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.ended
}

func closed() error { return sandbox.Errorf(sandbox.ErrClosed, "the sandbox was closed; make another") }

// running says how to end what runs from now on; nil that nothing does.
func (b *box) running(kill func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.kill = kill
}

// Start compiles the module if need be and loads it.
func (b *box) Start(ctx context.Context) error {
	if err := b.take(); err != nil {
		return err
	}
	defer b.give()
	_, err := b.load(ctx)
	return err
}

// load gives the runner that has the module loaded; the turn is taken.
func (b *box) load(ctx context.Context) (*server, error) {
	if b.loaded != nil && !b.loaded.dead() {
		return b.loaded, nil
	}
	b.loaded = nil
	if err := b.compile(ctx); err != nil {
		return nil, err
	}
	s, err := startServer(ctx, b)
	if err != nil {
		return nil, err
	}
	b.loaded = s
	return s, nil
}

// compile compiles the module if nobody did; the turn is taken.
func (b *box) compile(ctx context.Context) error {
	if b.entry.compiled() {
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	b.running(cancel)
	defer b.running(nil)
	if b.over() {
		return closed()
	}
	err := b.f.fill(ctx, b.entry, b.m, b.p)
	if err != nil && b.over() {
		return closed()
	}
	return err
}

// unload ends the runner and waits for it; the turn is taken.
func (b *box) unload() {
	if b.loaded != nil {
		b.loaded.stop()
		b.loaded = nil
	}
}

// Reset ends the runner, so that nothing of any command is left in a process,
// empties the scratch space, and loads the module again where it was loaded.
func (b *box) Reset(ctx context.Context) error {
	if err := b.interrupt(ctx); err != nil {
		return err
	}
	defer b.give()
	was := b.loaded != nil
	b.unload()
	if err := b.inner.Reset(ctx); err != nil {
		return err
	}
	if !was {
		return nil
	}
	_, err := b.load(ctx)
	return err
}

// Stop ends what runs: a module knows no signal and is given no time.
func (b *box) Stop(ctx context.Context) error {
	if err := b.interrupt(ctx); err != nil {
		return err
	}
	defer b.give()
	b.unload()
	return b.inner.Stop(ctx)
}

// Terminate ends everything now.
func (b *box) Terminate() error {
	b.end(true)
	return b.inner.Terminate()
}

// end ends what runs, and with it the sandbox if for good. What has ended
// meanwhile has said so by running, so that the next command is not killed in
// its place.
func (b *box) end(forGood bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ended = b.ended || forGood
	if b.kill != nil {
		b.kill()
	}
}

// Close terminates and waits until nothing runs.
func (b *box) Close() error {
	err := b.Terminate()
	b.turn <- struct{}{}
	defer b.give()
	b.unload()
	if errors.Is(err, sandbox.ErrClosed) {
		err = nil
	}
	return errors.Join(err, b.inner.Close())
}
