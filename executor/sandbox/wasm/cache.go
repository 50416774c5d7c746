package wasm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
	"time"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/wasm/frame"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/wasm/runner"
)

// entry is the folder that holds the code of one module for one build of the
// runner, or will.
type entry struct{ dir string }

const (
	// maxCode bounds the compiled code of a module, in bytes.
	maxCode = 1 << 30
	// unused is after how long a folder of the cache is removed.
	unused = 30 * 24 * time.Hour
)

// place is where in an entry the runtime looks for code: a folder for its
// version and system, and a name that it derives from the module.
var place = regexp.MustCompile(`^wazero-[A-Za-z0-9.+_-]{1,100}/[0-9a-f]{64}$`)

// entry makes the folder for m, so that it can be mounted, and marks it as
// used.
func (f *Factory) entry(m module, p *program) (entry, error) {
	base, err := f.cacheFolder()
	if err != nil {
		return entry{}, err
	}
	dir := filepath.Join(base, m.digest+"-"+p.build[:32])
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return entry{}, cacheError("cannot be made: %v", err)
	}
	now := time.Now()
	_ = os.Chtimes(dir, now, now) // what only makes it older
	return entry{dir}, nil
}

// cacheFolder makes the folder of all entries and checks whose it is: code in
// it runs without being looked at again.
func (f *Factory) cacheFolder() (string, error) {
	base := f.opts.Cache
	if base == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			user = filepath.Join(os.TempDir(), "toolwarrant-"+strconv.Itoa(os.Geteuid()))
		}
		base = filepath.Join(user, "toolwarrant", "wasm")
	}
	if err := os.MkdirAll(base, 0o700); err != nil {
		return "", cacheError("cannot be made: %v", err)
	}
	st, err := os.Stat(base)
	if err != nil {
		return "", cacheError("cannot be read: %v", err)
	}
	if !private(st) {
		return "", cacheError("must belong to the user who runs this program and be writable for nobody else")
	}
	return base, nil
}

func cacheError(format string, args ...any) error {
	return sandbox.Errorf(sandbox.ErrUnavailable, "the folder for compiled modules "+format+"; name another (Cache)", args...)
}

// compiled tells whether the entry holds code.
func (e entry) compiled() bool {
	files, _ := filepath.Glob(filepath.Join(e.dir, "*", "*"))
	return len(files) == 1
}

// fill compiles the module into its entry, once however many ask.
func (f *Factory) fill(ctx context.Context, e entry, m module, p *program) error {
	f.mu.Lock()
	one := f.keys[e.dir]
	if one == nil {
		one = new(sync.Mutex)
		f.keys[e.dir] = one
	}
	f.mu.Unlock()
	one.Lock()
	defer one.Unlock()
	if e.compiled() {
		return nil
	}
	f.prune()
	ctx, cancel := context.WithTimeout(ctx, f.opts.CompileTimeout)
	defer cancel()
	sb, err := f.inner.Create(ctx, sandbox.Spec{
		Limits: sandbox.Limits{CPUShares: 2, MemoryMB: f.opts.CompileMemoryMB, DiskMB: 512, Timeout: f.opts.CompileTimeout},
		Mounts: []sandbox.Mount{{Source: p.path, Target: atRunner}, {Source: m.path, Target: atModule}},
		// What is weaker than it could be is in the Enforcement of the
		// sandbox that the module will run in.
		AllowPartial: true,
	})
	if err != nil {
		return err
	}
	defer sb.Close()
	c, err := json.Marshal(runner.Config{Version: runner.Version, Module: atModule, Cache: scratch + "/cache", MemoryBytes: 1 << 32})
	if err != nil {
		return err
	}
	proc, err := sb.Attach(ctx, sandbox.Command{Argv: []string{atRunner, runner.Compile, string(c)}, Timeout: f.opts.CompileTimeout})
	if err != nil {
		return err
	}
	said := listen(proc.Stderr())
	stop := context.AfterFunc(ctx, func() { _ = proc.Kill() })
	defer stop()
	err = e.take(proc.Stdout())
	_ = proc.Stdin().Close()
	if err != nil {
		_ = proc.Kill()
	}
	r, waited := proc.Wait()
	switch {
	case ctx.Err() != nil:
		return sandbox.Errorf(sandbox.ErrFailed, "the module was not compiled within %v: %v", f.opts.CompileTimeout, ctx.Err())
	case r.LimitHit != "":
		return sandbox.Errorf(sandbox.ErrFailed, "the compilation of the module ran into its limit of %s", r.LimitHit)
	case err != nil:
		return sandbox.Errorf(sandbox.ErrFailed, "the module was not compiled: %v %s", err, said())
	}
	return waited
}

// take puts the one file that a compiling runner sends into the entry. Nothing
// of it is believed but that it is for this module and this build.
func (e entry) take(from io.Reader) (err error) {
	file, err := os.CreateTemp(filepath.Dir(e.dir), ".new-")
	if err != nil {
		return err
	}
	defer func() {
		file.Close()
		if err != nil {
			_ = os.Remove(file.Name())
		}
	}()
	r, size := frame.NewReader(from, frame.MaxBody), int64(0)
	for {
		kind, body, err := r.Read()
		switch {
		case err != nil:
			return fmt.Errorf("the compiler ended early: %w", err)
		case kind == frame.Out:
			if size += int64(len(body)); size > maxCode {
				return fmt.Errorf("its code is larger than %d bytes", maxCode)
			}
			if _, err := file.Write(body); err != nil {
				return err
			}
		case kind == frame.Done:
			var done runner.Compiled
			if err := json.Unmarshal(body, &done); err != nil {
				return err
			}
			if done.Error != "" {
				return errors.New(done.Error)
			}
			return e.keep(file, done.File)
		default:
			return fmt.Errorf("the compiler sent a frame of kind %q", rune(kind))
		}
	}
}

func (e entry) keep(file *os.File, name string) error {
	if !place.MatchString(name) {
		return fmt.Errorf("the compiler names a place that there is not: %q", name)
	}
	if err := file.Sync(); err != nil {
		return err
	}
	to := filepath.Join(e.dir, filepath.FromSlash(name))
	if err := os.Mkdir(filepath.Dir(to), 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	return os.Rename(file.Name(), to)
}

// prune removes what nobody used for long, and what a compilation that was
// killed left. What it cannot remove stays.
func (f *Factory) prune() {
	base, err := f.cacheFolder()
	if err != nil {
		return
	}
	entries, _ := os.ReadDir(base)
	for _, d := range entries {
		if st, err := d.Info(); err == nil && time.Since(st.ModTime()) > unused {
			_ = os.RemoveAll(filepath.Join(base, d.Name()))
		}
	}
}
