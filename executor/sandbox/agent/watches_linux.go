package agent

import (
	"path"

	"golang.org/x/sys/unix"
)

// perSpace are bounds of this user namespace. What is watched here counts with
// whoever made the namespace as well: by itself one sandbox could take all
// that root has on the host, and with that from every other.
var perSpace = map[string]string{"max_inotify_instances": "8", "max_inotify_watches": "4096"}

// watches sets them. Where /proc is read-only already, it does so through a
// view of it that is not.
func watches() error {
	err := bound(unix.AT_FDCWD, "/proc")
	if err != unix.EROFS {
		return err
	}
	t, err := unix.OpenTree(unix.AT_FDCWD, "/proc", unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)
	if err != nil {
		return err
	}
	defer unix.Close(t)
	if err := unix.MountSetattr(t, "", unix.AT_EMPTY_PATH, &unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_RDONLY}); err != nil {
		return err
	}
	return bound(t, ".")
}

func bound(at int, proc string) error {
	for name, value := range perSpace {
		fd, err := unix.Openat(at, path.Join(proc, "sys/user", name), unix.O_WRONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			return err
		}
		_, err = unix.Write(fd, []byte(value))
		_ = unix.Close(fd)
		if err != nil {
			return err
		}
	}
	return nil
}
