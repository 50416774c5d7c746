package container

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A folder is where the containers of one process are: a bundle each, and the
// state of the runtime. Its name has the process and when it started, so that
// another one can tell what was left behind. Others may pass through it, since
// the first process of a container is another user on the host; they can
// neither list nor change it.
type folder struct {
	base string // holds the folders of all processes of this user
	once sync.Once
	err  error
	dir  string
}

// defaultBase is where bundles are by default. It is not below /run, from which
// nothing can be executed on some systems.
func defaultBase() string {
	if os.Geteuid() == 0 {
		return "/var/lib/toolwarrant-sandbox/container"
	}
	if dir := os.Getenv("XDG_RUNTIME_DIR"); dir != "" {
		return filepath.Join(dir, "toolwarrant", "container")
	}
	return filepath.Join(os.TempDir(), fmt.Sprintf("toolwarrant-%d", os.Geteuid()), "container")
}

// open makes the folder, the first time, and removes those of processes that
// are gone.
func (f *folder) open(runtime string) (string, error) {
	f.once.Do(func() { f.err = f.make(runtime) })
	return f.dir, f.err
}

func (f *folder) make(runtime string) error {
	if err := os.MkdirAll(f.base, 0o711); err != nil {
		return err
	}
	for _, dir := range []string{f.base, filepath.Dir(f.base)} {
		info, err := os.Stat(dir)
		if err != nil {
			return err
		}
		st, ok := info.Sys().(*syscall.Stat_t)
		if sticky := info.Mode()&os.ModeSticky != 0; !ok || int(st.Uid) != os.Geteuid() && st.Uid != 0 || info.Mode().Perm()&0o022 != 0 && !sticky {
			return fmt.Errorf("%s belongs to or can be written by another user; name a folder of your own", dir)
		}
	}
	f.sweep(runtime)
	f.dir = filepath.Join(f.base, ownName())
	if err := os.MkdirAll(f.dir, 0o711); err != nil {
		return err
	}
	return os.Chmod(f.dir, 0o711)
}

// state is where the runtime keeps its state.
func state(dir string) string { return filepath.Join(dir, "state") }

const bundlePrefix = "tw-"

// bundle makes the folder of one container.
func (f *folder) bundle() (id, dir string, err error) {
	id = bundlePrefix + strings.ToLower(rand.Text()[:16])
	dir = filepath.Join(f.dir, id)
	if err = os.Mkdir(dir, 0o711); err == nil {
		err = os.Chmod(dir, 0o711)
	}
	return id, dir, err
}

// sweep ends the containers of processes that are gone and removes their
// folders. Those that it fails on stay for the next one.
func (f *folder) sweep(runtime string) {
	owners, _ := os.ReadDir(f.base)
	for _, o := range owners {
		if !o.IsDir() || lives(o.Name()) {
			continue
		}
		dir := filepath.Join(f.base, o.Name())
		// Each bundle is there as long as its container, and longer than what
		// the runtime has of it.
		left, _ := os.ReadDir(dir)
		known, _ := os.ReadDir(state(dir))
		ok := true
		for _, c := range left {
			if len(known) > 0 && strings.HasPrefix(c.Name(), bundlePrefix) {
				ok = remove(runtime, dir, c.Name()) == nil && ok
			}
		}
		if ok {
			_ = wipe(dir)
		}
	}
}

// wipe removes the folder of a process, and what runsc has mounted in it for
// all containers without a network.
func wipe(dir string) error {
	_ = unix.Unmount(filepath.Join(state(dir), "null-netns"), unix.MNT_DETACH|unix.UMOUNT_NOFOLLOW)
	return os.RemoveAll(dir)
}

// remove ends a container if it still runs and removes what the runtime has of
// it.
func remove(runtime, dir, id string) error {
	ctx, cancel := context.WithTimeout(context.Background(), endPatience)
	defer cancel()
	return run(ctx, runtime, "--root", state(dir), "delete", "--force", id)
}

// endPatience is how long the end of a container may take.
const endPatience = 10 * time.Second

// ownName names this process, by its number and when it started, and one
// factory of it.
func ownName() string {
	start, _ := startTime(os.Getpid())
	return fmt.Sprintf("%d-%s-%s", os.Getpid(), start, strings.ToLower(rand.Text()[:8]))
}

// lives says whether the process of a name is there; what is not such a name
// is taken to be another's.
func lives(name string) bool {
	parts := strings.Split(name, "-")
	if len(parts) != 3 {
		return true
	}
	pid, err := strconv.Atoi(parts[0])
	if err != nil || pid <= 0 {
		return true
	}
	now, err := startTime(pid)
	return !errors.Is(err, os.ErrNotExist) && now == parts[1]
}

// startTime is when a process started, in ticks since the machine did.
func startTime(pid int) (string, error) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return "", err
	}
	// The name of the program is in brackets and may have anything in it.
	_, rest, _ := bytes.Cut(stat[bytes.LastIndexByte(stat, ')')+1:], []byte(" "))
	fields := bytes.Fields(rest)
	if len(fields) < 20 {
		return "", errors.New("unknown form of /proc/PID/stat")
	}
	return string(fields[19]), nil
}
