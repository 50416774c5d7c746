package microvm

import (
	"bufio"
	"debug/elf"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/guest"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/microvm/initrd"
)

// The bounds of a first root.
const (
	maxRootBytes = 1 << 30
	maxRootFiles = 200_000
)

// probeImage stands for a root with nothing but probeCommand, which is the
// agent's program.
const (
	probeImage   = ""
	probeCommand = "/probe"
)

// firstRoot makes the first root of a machine: the agent, the image, and the
// sources of the mounts.
func firstRoot(agent, image string, mounts []sandbox.Mount) (*os.File, error) {
	program, err := os.Open(agent)
	if err != nil {
		return nil, sandbox.Errorf(sandbox.ErrUnavailable, "the agent for virtual machines cannot be read: %v", err)
	}
	defer program.Close()
	info, err := program.Stat()
	if err != nil {
		return nil, err
	}
	return sealed("initrd", func(to io.Writer) error {
		b := bufio.NewWriterSize(to, 1<<20)
		w := initrd.NewWriter(b, maxRootBytes, maxRootFiles)
		for _, dir := range []string{"dev", "proc", "tmp", "root", "cgroup", guest.Mounts} {
			w.Dir(dir, 0o755)
		}
		w.Device("dev/console", 0o600, 5, 1)
		w.File(guest.Program, 0o755, program, info.Size())
		if image == probeImage {
			w.Dir(guest.Image, 0o755)
			_, err := program.Seek(0, io.SeekStart)
			if err != nil {
				return err
			}
			w.File(guest.Image+probeCommand, 0o755, program, info.Size())
		} else if err := w.Folder(guest.Image, image); err != nil {
			return sandbox.Errorf(sandbox.ErrImage, "the image %s cannot be put into a virtual machine: %v", image, err)
		}
		for i, m := range mounts {
			if err := addMount(w, path.Join(guest.Mounts, strconv.Itoa(i)), m.Source); err != nil {
				return sandbox.Errorf(sandbox.ErrSpec, "%s cannot be put into a virtual machine: %v", m.Source, err).At("", "/mounts/"+strconv.Itoa(i), 0, 0)
			}
		}
		if err := w.Close(); err != nil {
			return err
		}
		return b.Flush()
	})
}

func addMount(w *initrd.Writer, name, source string) error {
	source, err := filepath.EvalSymlinks(source)
	if err != nil {
		return err
	}
	info, err := os.Lstat(source)
	switch {
	case err != nil:
		return err
	case info.IsDir():
		return w.Folder(name, source)
	case !info.Mode().IsRegular():
		return fs.ErrInvalid
	}
	f, err := os.Open(source)
	if err != nil {
		return err
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil {
		return err
	}
	w.File(name, initrd.Readable(info.Mode()), f, info.Size())
	return nil
}

// imageFolder is the folder that spec names as its root.
func (f *factory) imageFolder(spec sandbox.Spec) (string, error) {
	dir, named := strings.CutPrefix(spec.Image, "dir:")
	switch {
	case spec.Image == "" && f.o.Image != "":
		dir = f.o.Image
	case spec.Image == "" || spec.Image == "host":
		return "", sandbox.Errorf(sandbox.ErrImage, "a virtual machine has none of the programs of this host; name the folder of a root with dir:PATH").At("", "/image", 0, 0)
	case !named:
		return "", sandbox.Errorf(sandbox.ErrImage, "a virtual machine takes the folder of a root, dir:PATH, and not %q", spec.Image).At("", "/image", 0, 0)
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return "", sandbox.Errorf(sandbox.ErrImage, "there is no folder %s", dir).At("", "/image", 0, 0)
	}
	return dir, nil
}

// agentProgram is the program that machines start first: it must run without
// any library.
func (f *factory) agentProgram() (string, error) {
	program := f.o.Agent
	if program == "" {
		self, err := os.Executable()
		if err != nil {
			return "", sandbox.Errorf(sandbox.ErrUnavailable, "the place of this program is unknown: %v", err)
		}
		program = filepath.Join(filepath.Dir(self), "toolwarrant-agent")
	}
	e, err := elf.Open(program)
	if err != nil {
		return "", sandbox.Errorf(sandbox.ErrUnavailable, "the agent for virtual machines is not there: %v; put toolwarrant-agent beside this program", err)
	}
	defer e.Close()
	for _, p := range e.Progs {
		if p.Type == elf.PT_INTERP {
			return "", sandbox.Errorf(sandbox.ErrUnavailable, "the agent %s needs libraries, which a virtual machine does not have; build it with CGO_ENABLED=0", program)
		}
	}
	return program, nil
}
