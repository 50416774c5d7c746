package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolwarrant/toolwarrant/executor/sandbox/agent"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/wire"
)

// program is what agents are starts of. It cannot change any more.
type program struct {
	file  *os.File // a sealed copy; nil is the running program
	small bool
}

// path is valid in a child until it executes it.
func (p *program) path() string {
	if p.file == nil {
		return "/proc/self/exe"
	}
	return "/proc/self/fd/" + strconv.Itoa(int(p.file.Fd()))
}

func (p *program) close() {
	if p.file != nil {
		_ = p.file.Close()
	}
}

// findProgram chooses the agent. A path that was named must do; one that only
// stands beside the program is passed over where it does not.
func findProgram(ctx context.Context, named string) (*program, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	path := named
	if path == "" {
		path = filepath.Join(filepath.Dir(self), agent.Name)
	}
	p, err := loadProgram(ctx, path, self)
	if err == nil {
		return p, nil
	}
	if named != "" {
		return nil, fmt.Errorf("the agent %s: %w", named, err)
	}
	info, err := os.Stat("/proc/self/exe")
	if err != nil {
		return nil, err
	}
	if os.Geteuid() != 0 || info.Mode()&0o001 != 0 {
		return &program{}, nil
	}
	// Only its owner may execute it, and the agent is somebody else.
	file, err := seal("/proc/self/exe")
	if err != nil {
		return nil, err
	}
	return &program{file: file}, nil
}

// loadProgram takes the agent at path if it is fit: a file that nobody else
// could have put there, and of this build's messages.
func loadProgram(ctx context.Context, path, self string) (*program, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	own, err := os.Stat(self)
	if err != nil {
		return nil, err
	}
	owner, of := info.Sys().(*syscall.Stat_t), own.Sys().(*syscall.Stat_t)
	switch {
	case !info.Mode().IsRegular():
		return nil, errors.New("it is not a regular file")
	case owner.Uid != 0 && owner.Uid != of.Uid:
		return nil, errors.New("it belongs neither to root nor to the owner of the program")
	case info.Mode()&0o022 != 0:
		return nil, errors.New("others than its owner may write to it")
	}
	file, err := seal(path)
	if err != nil {
		return nil, err
	}
	p := &program{file: file, small: true}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	c := exec.CommandContext(ctx, p.path(), agent.AskVersion)
	c.Args[0], c.Env = agent.Name, []string{}
	said, err := c.Output()
	if err != nil {
		p.close()
		return nil, fmt.Errorf("it does not start: %w", err)
	}
	if strings.TrimSpace(string(said)) != strconv.Itoa(wire.Version) {
		p.close()
		return nil, fmt.Errorf("it is of another build (messages of version %.20q, not %d)", said, wire.Version)
	}
	return p, nil
}

// seal copies a file into memory that can never be written to again.
func seal(path string) (*os.File, error) {
	in, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	const executable = 0x10 // MFD_EXEC, since Linux 6.3
	fd, err := unix.MemfdCreate(agent.Name, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING|executable)
	if err == unix.EINVAL {
		fd, err = unix.MemfdCreate(agent.Name, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	}
	if err != nil {
		return nil, fmt.Errorf("a sealed copy: %w", err)
	}
	out := os.NewFile(uintptr(fd), agent.Name)
	defer out.Close()
	if _, err := io.Copy(out, in); err != nil {
		return nil, err
	}
	if err := unix.Fchmod(fd, 0o555); err != nil {
		return nil, err
	}
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_WRITE|unix.F_SEAL_GROW|unix.F_SEAL_SHRINK|unix.F_SEAL_SEAL); err != nil {
		return nil, fmt.Errorf("a sealed copy: %w", err)
	}
	// A file that is open for writing cannot be executed.
	return os.Open("/proc/self/fd/" + strconv.Itoa(fd))
}
