package runner

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	goruntime "runtime"
	"strings"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/experimental/sysfs"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
	"github.com/tetratelabs/wazero/sys"

	"github.com/toolwarrant/toolwarrant/executor/sandbox/wasm/frame"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/wasm/rootfs"
)

// Request is what one run gets.
type Request = frame.Request

// Exit codes of a module that did not end by itself, as a shell would have
// them: its arguments are wrong, it cannot be run, it was aborted, and it was
// killed.
const (
	codeUsage     = 2
	codeNoCommand = 126
	codeTrap      = 134
	codeKilled    = 137
)

// module is a loaded one. One run at a time.
type module struct {
	runtime  wazero.Runtime
	compiled wazero.CompiledModule
	folders  []folder
	limit    uint64
	script   bool // it is QuickJS, and runs scripts
}

type folder struct {
	root  *os.Root
	mount Mount
}

// read reads the module.
func read(c Config) ([]byte, error) {
	text, err := os.ReadFile(c.Module)
	if err != nil {
		return nil, fmt.Errorf("the module cannot be read: %w", err)
	}
	return text, nil
}

// load compiles the module text, or takes its code from the cache.
func load(ctx context.Context, c Config, text []byte) (m *module, err error) {
	// The limit is that of package memory, which alone can tell that it was
	// reached. No check of a deadline is compiled in, see the package.
	config := wazero.NewRuntimeConfigCompiler().WithDebugInfoEnabled(false)
	if c.Cache != "" {
		cache, err := wazero.NewCompilationCacheWithDir(c.Cache)
		if err != nil {
			return nil, fmt.Errorf("the compilation cache cannot be used: %w", err)
		}
		config = config.WithCompilationCache(cache)
	}
	m = &module{runtime: wazero.NewRuntimeWithConfig(ctx, config), limit: c.MemoryBytes}
	ctx = experimental.WithCompilationWorkers(ctx, goruntime.GOMAXPROCS(0))
	if m.compiled, err = m.runtime.CompileModule(ctx, text); err != nil {
		m.close(ctx)
		return nil, fmt.Errorf("the module cannot be compiled: %w", err)
	}
	return m, nil
}

// close gives back what load and open took.
func (m *module) close(ctx context.Context) {
	_ = m.runtime.Close(ctx)
	for _, f := range m.folders {
		_ = f.root.Close()
	}
}

// open gives the module its folders and what it may import.
func (m *module) open(ctx context.Context, mounts []Mount) error {
	for _, mount := range mounts {
		root, err := os.OpenRoot(mount.Dir)
		if err != nil {
			return fmt.Errorf("the folder for %s cannot be opened: %w", mount.Guest, err)
		}
		m.folders = append(m.folders, folder{root, mount})
	}
	if _, err := wasi_snapshot_preview1.Instantiate(ctx, m.runtime); err != nil {
		return fmt.Errorf("the system interface cannot be made: %w", err)
	}
	if m.script = isQuickJS(m.compiled.ExportedFunctions()); m.script {
		if err := m.hostFunctions(ctx); err != nil {
			return fmt.Errorf("the functions for QuickJS cannot be made: %w", err)
		}
	}
	return nil
}

// streams are those of one run.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// run makes an instance with fresh memory, runs it to its end and drops it.
// It never panics.
func (m *module) run(ctx context.Context, r Request, s streams) (report frame.Report) {
	mem := &memory{limit: m.limit}
	began := cpuTime()
	defer func() {
		if p := recover(); p != nil {
			report = frame.Report{Code: codeTrap, Error: fmt.Sprintf("the runtime failed: %v", p)}
			if mem.hit {
				report.Code, report.Error = codeNoCommand, "the module needs more memory than its limit to start"
			}
		}
		report.Memory, report.MemoryHit = mem.peak, mem.hit || report.MemoryHit
		report.CPU = cpuTime() - began
		mem.free()
	}()
	if m.script {
		return m.runScript(ctx, r, s, mem)
	}
	if _, command := m.compiled.ExportedFunctions()["_start"]; !command {
		return frame.Report{Code: codeNoCommand, Error: "the module is no WASI command: it exports no _start"}
	}
	inst, err := m.runtime.InstantiateModule(experimental.WithMemoryAllocator(ctx, mem), m.compiled, m.config(r, s))
	if inst != nil {
		defer inst.Close(ctx)
	}
	return outcome(err)
}

// config is what an instance is given. Clocks are those of the system; sleep
// is one, and random bytes are the system's.
func (m *module) config(r Request, s streams) wazero.ModuleConfig {
	config := wazero.NewModuleConfig().WithName("").WithArgs(r.Argv...).
		WithStdin(s.in).WithStdout(s.out).WithStderr(s.err).
		WithSysWalltime().WithSysNanotime().WithSysNanosleep().WithRandSource(rand.Reader)
	for _, e := range r.Env {
		name, value, _ := strings.Cut(e, "=")
		config = config.WithEnv(name, value)
	}
	folders := wazero.NewFSConfig()
	for _, f := range m.folders {
		folders = folders.(sysfs.FSConfig).WithSysFSMount(rootfs.New(f.root, f.mount.Writable), f.mount.Guest)
	}
	return config.WithFSConfig(folders)
}

// outcome tells how a run ended. A trap's trace of the module's own functions
// is left out, but for what went wrong.
func outcome(err error) frame.Report {
	var exit *sys.ExitError
	switch {
	case err == nil:
		return frame.Report{}
	case errors.As(err, &exit):
		return frame.Report{Code: int(exit.ExitCode() & 0xff)}
	}
	text, _, _ := strings.Cut(err.Error(), "\nwasm stack trace")
	if len(text) > 1000 {
		text = text[:1000]
	}
	return frame.Report{Code: codeTrap, Error: text}
}
