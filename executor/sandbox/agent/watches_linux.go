package agent

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path"
	"strings"

	"golang.org/x/sys/unix"
)

// perSpace are bounds of this user namespace. What is watched here counts with
// whoever made the namespace as well: by itself one sandbox could take all
// that root has on the host, and with that from every other.
var perSpace = map[string]string{"max_inotify_instances": "8", "max_inotify_watches": "4096"}

// watches sets them. Where /proc is read-only already, it is writable
// meanwhile: nothing but the agent runs yet.
func watches() error {
	if own, err := ownSpace(); err != nil || !own {
		return cmp.Or(err, errShared)
	}
	err := bound()
	if err != unix.EROFS {
		return err
	}
	const flags = unix.MS_REMOUNT | unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC
	if err := unix.Mount("", "/proc", "", flags, ""); err != nil {
		return err
	}
	err = bound()
	if closed := unix.Mount("", "/proc", "", flags|unix.MS_RDONLY, ""); closed != nil {
		return fmt.Errorf("%w: %w", errWritable, closed)
	}
	return err
}

// errShared is for an agent in the user namespace of the host, whose bounds
// are not its own.
var errShared = errors.New("the user namespace is that of the host")

// ownSpace reports whether the user namespace is another than the first, which
// alone has every user.
func ownSpace() (bool, error) {
	users, err := os.ReadFile("/proc/self/uid_map")
	if err != nil {
		return false, err
	}
	f := strings.Fields(string(users))
	return len(f) >= 3 && f[2] != "4294967295", nil
}

// errWritable is for a /proc that cannot be made read-only again.
var errWritable = errors.New("/proc stays writable")

func bound() error {
	for name, value := range perSpace {
		fd, err := unix.Open(path.Join("/proc/sys/user", name), unix.O_WRONLY|unix.O_CLOEXEC, 0)
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
