package agent

import (
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/toolwarrant/toolwarrant/executor/sandbox/wire"
)

// devices are the nodes of /dev, taken from the host's.
var devices = []string{"null", "zero", "full", "random", "urandom"}

// writable are the places that commands may change.
func (a *agent) writable() []string {
	places := slices.Clone(scratchPlaces)
	for _, device := range devices {
		places = append(places, "/dev/"+device)
	}
	for _, m := range a.cfg.Mounts {
		if m.Writable {
			places = append(places, m.Target)
		}
	}
	return places
}

// tree is a mount that is not anywhere yet.
type tree struct {
	fd     int
	target string // in the new root; a link's has link
	link   string
	file   bool
}

// build makes the root of the sandbox and leaves that of the host. It closes
// files, which are the trees that the parent made.
func (a *agent) build(files []*os.File) (err error) {
	defer closeFiles(files)
	if a.cfg.Root == wire.RootReady {
		return a.join(files)
	}
	// Nothing that happens here reaches the host's mounts, nor theirs here.
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("private mounts: %w", err)
	}
	// Everything is opened before anything is covered.
	own := files
	if a.cfg.RootTree && len(own) > 0 {
		own = own[1:]
	}
	mounts, err := a.mounts(own)
	if err != nil {
		return err
	}
	if a.cfg.RootTree {
		if err := a.showRoot(files); err != nil {
			return fmt.Errorf("the image: %w", err)
		}
	}
	image, err := a.image()
	if err != nil {
		return err
	}
	base, err := newRoot()
	if err != nil {
		return err
	}
	r := &place{root: base}
	if err := r.open(); err != nil {
		return err
	}
	for _, t := range image {
		if err := r.put(t); err != nil {
			return fmt.Errorf("%s: %w", t.target, err)
		}
	}
	if err := a.furnish(r); err != nil {
		return err
	}
	if err := unix.Chdir(base); err != nil {
		return err
	}
	if err := unix.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("pivot_root: %w", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("the host's root stays: %w", err)
	}
	if err := unix.Chdir("/"); err != nil {
		return err
	}
	if err := a.fill(r, mounts); err != nil {
		return err
	}
	return unix.MountSetattr(-1, "/", 0, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV})
}

// join adds to a root that a container runtime made what a reset makes anew.
// Below 0 bytes of scratch space that is the runtime's as well, where the
// kernel of the sandbox cannot bound one.
func (a *agent) join(files []*os.File) error {
	if a.cfg.ScratchBytes < 0 {
		a.scratch.ready = true
		return a.there()
	}
	mounts, err := a.mounts(files)
	if err != nil {
		return err
	}
	return a.fill(&place{root: "/", own: map[uint64]bool{}}, mounts)
}

// there compares the mounts that a runtime made with what the parent saw.
func (a *agent) there() error {
	for _, m := range a.cfg.Mounts {
		var info unix.Stat_t
		if err := unix.Lstat(m.Target, &info); err != nil {
			return fmt.Errorf("the mount at %s: %w", m.Target, err)
		}
		if uint64(info.Dev) != m.Dev || info.Ino != m.Ino {
			return fmt.Errorf("the source %s is not what it was when the sandbox was made", m.Source)
		}
	}
	return nil
}

// fill adds the scratch space and the mounts to the root, which is /.
func (a *agent) fill(r *place, mounts []tree) error {
	a.scratch = scratch{bytes: a.cfg.ScratchBytes, inodes: a.cfg.ScratchInodes, uid: a.cfg.UID, gid: a.cfg.GID, place: r}
	if err := a.scratch.mount(); err != nil {
		return fmt.Errorf("the scratch space: %w", err)
	}
	// Parents before what is in them.
	slices.SortStableFunc(mounts, func(x, y tree) int { return strings.Compare(x.target, y.target) })
	for _, t := range mounts {
		put := r.put
		if a.scratch.holds(t.target) {
			put = a.scratch.put
		}
		if err := put(t); err != nil {
			return fmt.Errorf("the mount at %s: %w", t.target, err)
		}
	}
	return nil
}

// newRoot makes the file system that becomes the root. It holds folders and a
// few small files of our own.
func newRoot() (string, error) {
	return cover(func(base string) error {
		return unix.Mount("tmpfs", base, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=0755,size=1m,nr_inodes=4k")
	})
}

// showRoot makes the image that came as the first of files a folder that can
// be looked into.
func (a *agent) showRoot(files []*os.File) (err error) {
	if len(files) == 0 {
		return errors.New("it comes without its descriptor")
	}
	a.cfg.RootPath, err = cover(func(base string) error {
		return unix.MoveMount(int(files[0].Fd()), "", unix.AT_FDCWD, base, unix.MOVE_MOUNT_F_EMPTY_PATH)
	})
	return err
}

// cover has some folder that every system has covered. The host does not see
// it, and what was there is open already.
func cover(by func(base string) error) (string, error) {
	for _, base := range []string{"/tmp", "/usr", "/etc"} {
		if err := by(base); err != unix.ENOENT {
			return base, err
		}
	}
	return "", errors.New("the host has neither /tmp nor /usr nor /etc")
}

// clone takes the mount at the place that fd is, with all below it, and makes
// it read-only, or not, and unable to give rights.
func clone(fd int, writable bool) (int, error) {
	t, err := unix.OpenTree(fd, "", unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE|unix.AT_EMPTY_PATH)
	if err != nil {
		return -1, err
	}
	if err := restrict(t, writable); err != nil {
		_ = unix.Close(t)
		return -1, err
	}
	return t, nil
}

func restrict(t int, writable bool) error {
	attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV, Propagation: unix.MS_PRIVATE}
	if !writable {
		attr.Attr_set |= unix.MOUNT_ATTR_RDONLY
	}
	return unix.MountSetattr(t, "", unix.AT_RECURSIVE|unix.AT_EMPTY_PATH, &attr)
}

// image opens what the root shows: folders of the host, or the entries of a
// folder that is a root itself.
func (a *agent) image() ([]tree, error) {
	var trees []tree
	add := func(source, target string) error {
		fd, err := unix.Open(source, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		if err == unix.ENOENT {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", source, err)
		}
		defer unix.Close(fd)
		var info unix.Stat_t
		if err := unix.Fstat(fd, &info); err != nil {
			return err
		}
		t := tree{fd: -1, target: target}
		switch info.Mode & unix.S_IFMT {
		case unix.S_IFLNK:
			if t.link, err = os.Readlink(source); err != nil {
				return err
			}
		case unix.S_IFDIR, unix.S_IFREG:
			t.file = info.Mode&unix.S_IFMT == unix.S_IFREG
			if t.fd, err = clone(fd, false); err != nil {
				return fmt.Errorf("%s: %w", source, err)
			}
		default:
			return nil // no sockets, no pipes, no devices
		}
		trees = append(trees, t)
		return nil
	}
	switch a.cfg.Root {
	case wire.RootHost:
		for _, folder := range a.cfg.Folders {
			if err := add(folder, folder); err != nil {
				return nil, err
			}
		}
	case wire.RootDir:
		entries, err := os.ReadDir(a.cfg.RootPath)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if target := "/" + e.Name(); !slices.Contains(ownPlaces, target) {
				if err := add(path.Join(a.cfg.RootPath, e.Name()), target); err != nil {
					return nil, err
				}
			}
		}
	default:
		return nil, fmt.Errorf("a root of kind %q", a.cfg.Root)
	}
	return trees, nil
}

// mounts opens the sources of the configuration, and compares them with what
// the parent saw.
func (a *agent) mounts(files []*os.File) ([]tree, error) {
	var trees []tree
	for _, m := range a.cfg.Mounts {
		fd := -1
		var err error
		if m.Tree {
			if len(files) == 0 {
				return nil, errors.New("a mount without its descriptor")
			}
			fd, err = unix.FcntlInt(files[0].Fd(), unix.F_DUPFD_CLOEXEC, 0)
			files = files[1:]
			if err == nil {
				err = restrict(fd, m.Writable)
			}
		} else {
			fd, err = source(m)
		}
		if err != nil {
			return nil, fmt.Errorf("the source %s: %w", m.Source, err)
		}
		var info unix.Stat_t
		if err := unix.Fstat(fd, &info); err != nil {
			return nil, err
		}
		if uint64(info.Dev) != m.Dev || info.Ino != m.Ino {
			return nil, fmt.Errorf("the source %s is not what it was when the sandbox was made", m.Source)
		}
		trees = append(trees, tree{fd: fd, target: m.Target, file: info.Mode&unix.S_IFMT != unix.S_IFDIR})
	}
	return trees, nil
}

// source opens a folder or file of the host through no symbolic link: the
// parent resolved the path.
func source(m wire.Mount) (int, error) {
	fd, err := unix.Openat2(unix.AT_FDCWD, m.Source, &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS})
	if err != nil {
		return -1, err
	}
	defer unix.Close(fd)
	return clone(fd, m.Writable)
}
