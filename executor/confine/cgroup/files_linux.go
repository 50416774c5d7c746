package cgroup

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// The files of a group are read before and after each command, and have a line
// or a few: a read by way of package os asks the poller and the size of each.

// path is that of a file of a group, also where the controller is missing:
// then there is no such file.
func path(dir, file string) string {
	if dir == "" {
		return "/nonexistent"
	}
	return filepath.Join(dir, file)
}

func write(dir, file, text string) error {
	name := path(dir, file)
	fd, err := unix.Open(name, unix.O_WRONLY|unix.O_CLOEXEC, 0)
	if err == nil {
		_, err = retry(func() (int, error) { return unix.Write(fd, []byte(text)) })
		err = errors.Join(err, unix.Close(fd))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// largest is more than any of the files that are read here has.
const largest = 4 << 10

func read(dir, file string) (string, error) {
	name := path(dir, file)
	fd, err := unix.Open(name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	defer unix.Close(fd)
	var text [largest]byte
	n, err := retry(func() (int, error) { return unix.Read(fd, text[:]) })
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	return string(text[:n]), nil
}

func retry(f func() (int, error)) (int, error) {
	for {
		if n, err := f(); err != unix.EINTR {
			return n, err
		}
	}
}

func number(dir, file string) (int64, error) {
	text, err := read(dir, file)
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(strings.TrimSpace(text), 10, 64)
}

// field reads one line "name value" of a file.
func field(dir, file, name string) (int64, error) {
	text, err := read(dir, file)
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(text) {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), " "); ok && key == name {
			return strconv.ParseInt(value, 10, 64)
		}
	}
	return 0, fmt.Errorf("%s has no %s", file, name)
}
