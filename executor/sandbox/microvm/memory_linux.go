package microvm

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// sealed gives a file that is nowhere on disk, holds what fill writes, and
// does not change any more, whoever has it open.
func sealed(name string, fill func(io.Writer) error) (*os.File, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, fmt.Errorf("no memory for %s: %w", name, err)
	}
	f := os.NewFile(uintptr(fd), name)
	err = fill(f)
	if err == nil {
		err = f.Chmod(0o444) // whoever the monitor is, it reads
	}
	if err == nil {
		_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_SEAL|unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_WRITE)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// sealedCopy is sealed with what is in a regular file of at most max bytes.
func sealedCopy(path string, max int64) (*os.File, error) {
	from, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer from.Close()
	info, err := from.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no regular file", path)
	case info.Size() > max:
		return nil, fmt.Errorf("%s has %d MiB; at most %d", path, info.Size()>>20, max>>20)
	}
	return sealed("kernel", func(w io.Writer) error {
		_, err := io.Copy(w, io.LimitReader(from, max))
		return err
	})
}

// again opens a sealed file once more.
func again(f *os.File) (*os.File, error) {
	return os.Open(fmt.Sprintf("/proc/self/fd/%d", f.Fd()))
}
