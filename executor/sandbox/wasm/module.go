package wasm

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/wasm/runner"
)

// maxModule bounds a module, in bytes.
const maxModule = 128 << 20

// module is the file that an image names.
type module struct {
	path   string
	size   int64
	digest string // SHA-256, hex
}

var (
	magic     = []byte("\x00asm\x01\x00\x00\x00")
	component = []byte("\x00asm\x0d\x00\x01\x00")
)

// openModule reads the file of an image and tells what is wrong with it.
// Should the file change afterwards, the runner sees another module, for which
// there is no compiled code under this digest, and does not start.
func openModule(image string) (module, error) {
	p := strings.TrimPrefix(image, "wasm:")
	if !filepath.IsAbs(p) {
		return module{}, imageError("the image must be the absolute path of a WebAssembly module: %q", image)
	}
	p = filepath.Clean(p)
	// Without O_NONBLOCK a named pipe would hold this call.
	file, err := os.OpenFile(p, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return module{}, imageError("the module cannot be opened: %v", err)
	}
	defer file.Close()
	st, err := file.Stat()
	switch {
	case err != nil:
		return module{}, imageError("the module cannot be read: %v", err)
	case !st.Mode().IsRegular():
		return module{}, imageError("the module is not a regular file: %q", p)
	case st.Size() > maxModule:
		return module{}, imageError("the module has %d bytes, where %d are the most", st.Size(), maxModule)
	}
	head := make([]byte, len(magic))
	if _, err := io.ReadFull(file, head); err != nil || !bytes.Equal(head, magic) {
		if bytes.Equal(head, component) {
			return module{}, imageError("the image is a component, and only core modules with WASI preview 1 can run: %q", p)
		}
		return module{}, imageError("the image is no WebAssembly module of version 1: %q", p)
	}
	h := sha256.New()
	h.Write(head)
	n, err := io.Copy(h, io.LimitReader(file, maxModule))
	if err != nil {
		return module{}, imageError("the module cannot be read: %v", err)
	}
	return module{path: p, size: n + int64(len(head)), digest: hex.EncodeToString(h.Sum(nil))}, nil
}

func imageError(format string, args ...any) error {
	return sandbox.Errorf(sandbox.ErrImage, format, args...).At("", "/image", 0, 0)
}

// program is the executable that is the runner.
type program struct {
	path  string
	build string // of its content, hex
}

// findRunner finds it, once, and tells builds apart by what is in the file.
func (f *Factory) findRunner() (*program, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.runner != nil {
		return f.runner, nil
	}
	p := f.opts.Runner
	if p == "" {
		self, err := os.Executable()
		if err != nil {
			return nil, sandbox.Errorf(sandbox.ErrUnavailable, "this program does not find itself, and is the runner of modules: %v; name one (Runner)", err)
		}
		if self, err = filepath.EvalSymlinks(self); err != nil {
			return nil, sandbox.Errorf(sandbox.ErrUnavailable, "this program does not find itself: %v", err)
		}
		p = self
		if beside := filepath.Join(filepath.Dir(self), runner.Name); trusted(beside, self) {
			p = beside
		}
	}
	file, err := os.Open(p)
	if err != nil {
		return nil, sandbox.Errorf(sandbox.ErrUnavailable, "the runner of modules cannot be opened: %v", err)
	}
	defer file.Close()
	h := sha256.New()
	if _, err := io.Copy(h, file); err != nil {
		return nil, sandbox.Errorf(sandbox.ErrUnavailable, "the runner of modules cannot be read: %v", err)
	}
	f.runner = &program{path: p, build: hex.EncodeToString(h.Sum(nil))}
	return f.runner, nil
}
