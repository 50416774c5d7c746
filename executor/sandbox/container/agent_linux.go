package container

import (
	"context"
	"debug/elf"
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

	"github.com/toolwarrant/toolwarrant/executor/sandbox/wire"
)

// copyAgent puts a copy of the agent into dir, which is ours: what a container
// runs cannot change any more. An agent that is named must do; without one it
// is the one beside this program, or this program itself.
func copyAgent(ctx context.Context, named, dir string) (string, error) {
	candidates := []string{named}
	if named == "" {
		self, err := os.Executable()
		if err != nil {
			return "", err
		}
		candidates = []string{filepath.Join(filepath.Dir(self), agentName), "/proc/self/exe"}
	}
	var failures error
	for _, from := range candidates {
		to := filepath.Join(dir, agentName)
		err := copyProgram(ctx, from, to)
		if err == nil {
			return to, nil
		}
		_ = os.Remove(to)
		failures = errors.Join(failures, fmt.Errorf("%s: %w", from, err))
	}
	return "", fmt.Errorf("there is no agent that a container can run; put the program toolwarrant-agent, built with CGO_ENABLED=0, beside this one: %w", failures)
}

func copyProgram(ctx context.Context, from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.Mode().IsRegular():
		return errors.New("it is not a regular file")
	case from != "/proc/self/exe" && (!ok || owner.Uid != 0 && int(owner.Uid) != os.Geteuid() || info.Mode()&0o022 != 0):
		return errors.New("others than root and this user could change it")
	}
	if err := static(in); err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, io.NewSectionReader(in, 0, info.Size()))
	if err = errors.Join(err, out.Chmod(0o555), out.Close()); err != nil {
		return err
	}
	said, err := askVersion(ctx, to)
	if err != nil {
		return fmt.Errorf("it does not start as an agent: %w", err)
	}
	if strings.TrimSpace(string(said)) != strconv.Itoa(wire.Version) {
		return fmt.Errorf("it is of another build, with messages of version %.20q and not %d", said, wire.Version)
	}
	return nil
}

func askVersion(ctx context.Context, program string) ([]byte, error) {
	for wait := time.Millisecond; ; wait *= 2 {
		c := exec.CommandContext(ctx, program, "version")
		c.Args[0], c.Env, c.WaitDelay = agentName, []string{}, endPatience
		said, err := c.Output()
		// A child that another goroutine is starting may still have the file
		// open for writing.
		if !errors.Is(err, syscall.ETXTBSY) || wait > time.Second {
			return said, err
		}
		time.Sleep(wait)
	}
}

// static refuses a program that needs the loader of its system: an image may
// have another one, or none.
func static(f io.ReaderAt) error {
	program, err := elf.NewFile(f)
	if err != nil {
		return fmt.Errorf("it is no program: %w", err)
	}
	for _, p := range program.Progs {
		if p.Type == elf.PT_INTERP {
			return errors.New("it needs libraries of this system")
		}
	}
	return nil
}
