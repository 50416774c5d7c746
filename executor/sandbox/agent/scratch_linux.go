package agent

import (
	"errors"
	"fmt"
	"os"
	"path"
	"strings"

	"golang.org/x/sys/unix"
)

// scratchPlaces are where commands may write. The first is home.
var scratchPlaces = []string{"/scratch", "/tmp", "/var/tmp", "/dev/shm"}

// scratch is one file system in memory, bounded in bytes and files, of which
// each place shows a folder. It is made anew by renew, so that nothing of the
// last user is left.
type scratch struct {
	bytes, inodes int64
	uid, gid      int
	place         *place
	over          []tree // copies of mounts inside of it
	ready         bool   // somebody else's: only emptied
	at            []string
	dev           uint64
}

// holds reports whether target is inside of it.
func (s *scratch) holds(target string) bool {
	for _, p := range scratchPlaces {
		if strings.HasPrefix(target, p+"/") || target == p {
			return true
		}
	}
	return false
}

// mount makes it, after the host's root is gone.
func (s *scratch) mount() error {
	// 0 would be no bound. Nothing can be written then anyway.
	options := fmt.Sprintf("mode=0755,size=%d,nr_inodes=%d", max(s.bytes, 4096), max(s.inodes, 16))
	base := scratchPlaces[0]
	if err := unix.Mount("tmpfs", base, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, options); err != nil {
		return err
	}
	s.at = nil
	// The folder of the base itself comes last: it covers the others.
	for i := len(scratchPlaces) - 1; i >= 0; i-- {
		target := scratchPlaces[i]
		if i > 0 {
			if info, err := os.Lstat(target); err != nil || !info.IsDir() {
				continue // an image without it
			}
		}
		folder := path.Join(base, fmt.Sprint(i))
		if err := os.Mkdir(folder, 0o755); err != nil {
			return err
		}
		mode := uint32(0o1777)
		if i == 0 {
			mode = 0o755
			if err := unix.Chown(folder, s.uid, s.gid); err != nil {
				return err
			}
		}
		if err := unix.Chmod(folder, mode); err != nil {
			return err
		}
		if err := unix.Mount(folder, target, "", unix.MS_BIND, ""); err != nil {
			return err
		}
		attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV}
		if s.bytes <= 0 {
			attr.Attr_set |= unix.MOUNT_ATTR_RDONLY
		}
		if err := unix.MountSetattr(-1, target, 0, &attr); err != nil {
			return err
		}
		s.at = append(s.at, target)
	}
	var info unix.Stat_t
	if err := unix.Stat(base, &info); err != nil {
		return err
	}
	delete(s.place.own, s.dev)
	s.dev = uint64(info.Dev)
	s.place.root = "/"
	s.place.own[s.dev] = true
	return nil
}

// renew takes it away with all that it holds and makes an empty one. No
// process is left that could hold on to it.
func (s *scratch) renew() error {
	if s.ready {
		return s.empty()
	}
	// With all that is mounted in it, wherever commands have moved it to.
	for _, target := range append(s.at, scratchPlaces[0]) {
		if err := unix.Unmount(target, unix.UMOUNT_NOFOLLOW|unix.MNT_DETACH); err != nil {
			return fmt.Errorf("%s: %w", target, err)
		}
	}
	if err := s.mount(); err != nil {
		return err
	}
	over := s.over
	s.over = nil
	for _, t := range over {
		if err := s.put(t); err != nil {
			return err
		}
	}
	return nil
}

// put mounts t in the scratch space and keeps a copy for the next time: later
// on, its path means what commands have made of it.
func (s *scratch) put(t tree) error {
	if err := s.place.put(t); err != nil {
		return err
	}
	fd, err := unix.OpenTree(unix.AT_FDCWD, t.target, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE|unix.AT_SYMLINK_NOFOLLOW)
	if err != nil {
		return err
	}
	t.fd = fd
	s.over = append(s.over, t)
	return nil
}

// empty removes what is in the scratch places of a root that somebody else
// made, and gives the devices their modes again: where commands are root, they
// may be theirs.
func (s *scratch) empty() error {
	for _, name := range devices {
		if err := os.Chmod(path.Join("/dev", name), 0o666); err != nil && !errors.Is(err, unix.EROFS) {
			return err
		}
	}
	for _, dir := range scratchPlaces {
		root, err := os.OpenRoot(dir)
		if err != nil {
			continue
		}
		entries, err := os.ReadDir(dir)
		for _, e := range entries {
			if err == nil {
				err = root.RemoveAll(e.Name())
			}
		}
		_ = root.Close()
		if err != nil {
			return err
		}
	}
	return nil
}
