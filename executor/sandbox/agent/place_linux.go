package agent

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"golang.org/x/sys/unix"
)

// place makes mount points in the new root without following a link, and
// without creating anything in a folder of the host.
type place struct {
	root string
	own  map[uint64]bool // devices on which mount points may be created
}

func (p *place) open() error {
	var info unix.Stat_t
	if err := unix.Stat(p.root, &info); err != nil {
		return err
	}
	p.own = map[uint64]bool{uint64(info.Dev): true}
	return nil
}

// point opens the mount point for target and makes it where it is missing.
func (p *place) point(target string, file bool) (int, error) {
	at, err := unix.Open(p.root, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	names := strings.Split(strings.Trim(path.Clean(target), "/"), "/")
	for i, name := range names {
		asFile := file && i == len(names)-1
		next, err := p.step(at, name, asFile)
		_ = unix.Close(at)
		if err != nil {
			return -1, fmt.Errorf("/%s: %w", strings.Join(names[:i+1], "/"), err)
		}
		at = next
	}
	return at, nil
}

func (p *place) step(at int, name string, file bool) (int, error) {
	how := unix.OpenHow{Flags: unix.O_PATH | unix.O_NOFOLLOW | unix.O_CLOEXEC, Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS}
	fd, err := unix.Openat2(at, name, &how)
	if err == unix.ENOENT {
		var info unix.Stat_t
		if err := unix.Fstat(at, &info); err != nil {
			return -1, err
		}
		if !p.own[uint64(info.Dev)] {
			return -1, errors.New("the place is not there, and nothing is created in a folder of the host or an image: create it or choose another")
		}
		if file {
			err = unix.Mknodat(at, name, unix.S_IFREG|0o644, 0)
		} else {
			err = unix.Mkdirat(at, name, 0o755)
		}
		if err != nil {
			return -1, err
		}
		fd, err = unix.Openat2(at, name, &how)
	}
	if err == unix.ELOOP {
		return -1, errors.New("the place leads through a symbolic link: name where it leads")
	}
	if err != nil {
		return -1, err
	}
	var info unix.Stat_t
	if err := unix.Fstat(fd, &info); err != nil {
		_ = unix.Close(fd)
		return -1, err
	}
	switch kind := info.Mode & unix.S_IFMT; {
	case kind == unix.S_IFLNK:
		err = errors.New("the place leads through a symbolic link: name where it leads")
	case (kind == unix.S_IFDIR) == file:
		err = errors.New("a file cannot be put over a folder, nor a folder over a file")
	}
	if err != nil {
		_ = unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// put moves t to its target and closes it.
func (p *place) put(t tree) error {
	if t.fd < 0 {
		return unix.Symlinkat(t.link, unix.AT_FDCWD, path.Join(p.root, t.target))
	}
	defer unix.Close(t.fd)
	point, err := p.point(t.target, t.file)
	if err != nil {
		return err
	}
	defer unix.Close(point)
	return unix.MoveMount(t.fd, "", point, "", unix.MOVE_MOUNT_F_EMPTY_PATH|unix.MOVE_MOUNT_T_EMPTY_PATH)
}

// folder makes an empty folder of the new root.
func (p *place) folder(target string) error {
	fd, err := p.point(target, false)
	if err == nil {
		_ = unix.Close(fd)
	}
	return err
}
