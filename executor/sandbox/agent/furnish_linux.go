package agent

import (
	"fmt"
	"os"
	"path"

	"golang.org/x/sys/unix"

	"github.com/toolwarrant/toolwarrant/executor/sandbox/netns"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/wire"
)

// ownPlaces are the entries of the root that are never the image's.
var ownPlaces = []string{"/proc", "/dev", "/sys", "/tmp", "/scratch"}

// ownFiles are those of /etc that say nothing of the host. Names are looked up
// at a server inside, where there is one, and nowhere else.
var ownFiles = map[string]string{
	"passwd":        "root:x:0:0:root:/scratch:/bin/sh\nsandbox:x:1000:1000:sandbox:/scratch:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n",
	"group":         "root:x:0:\nsandbox:x:1000:\nnogroup:x:65534:\n",
	"hosts":         "127.0.0.1 localhost\n::1 localhost\n",
	"resolv.conf":   netns.ResolvConf,
	"nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
}

// ownOverImage are the ones that replace those of an image.
var ownOverImage = []string{"hosts", "resolv.conf", "nsswitch.conf"}

// masked are files of /proc that tell of the host or its kernel and that no
// ordinary program reads.
var masked = []string{"kcore", "keys", "key-users", "timer_list", "sched_debug", "sysrq-trigger", "kallsyms", "kmsg", "config.gz", "interrupts"}

// furnish adds what does not come from the image: /etc, /dev, /proc, and the
// folders that the scratch space is put into.
func (a *agent) furnish(r *place) error {
	for _, dir := range []string{"/proc", "/dev/shm", "/etc", "/scratch", "/tmp"} {
		if err := r.folder(dir); err != nil {
			return err
		}
	}
	if err := r.folder("/var/tmp"); err != nil && a.cfg.Root == wire.RootHost {
		return err
	}
	if err := a.files(r); err != nil {
		return err
	}
	for _, name := range devices {
		if err := r.bind("/dev/"+name, "/dev/"+name, unix.MOUNT_ATTR_RDONLY|unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NOEXEC); err != nil {
			return fmt.Errorf("/dev/%s: %w", name, err)
		}
	}
	for name, to := range map[string]string{"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2"} {
		if err := os.Symlink(to, path.Join(r.root, "dev", name)); err != nil {
			return err
		}
	}
	return a.proc(r)
}

// files writes the files of /etc, or puts them over those of an image.
func (a *agent) files(r *place) error {
	if a.cfg.Root == wire.RootHost {
		for name, text := range ownFiles {
			if err := os.WriteFile(path.Join(r.root, "etc", name), []byte(text), 0o644); err != nil {
				return err
			}
		}
		return nil
	}
	for _, name := range ownOverImage {
		target := path.Join(r.root, "etc", name)
		if info, err := os.Lstat(target); err != nil || !info.Mode().IsRegular() {
			continue
		}
		// Written in our own root, put over the image's, and then without a
		// name of its own.
		source := path.Join(r.root, "dev", name)
		if err := os.WriteFile(source, []byte(ownFiles[name]), 0o644); err != nil {
			return err
		}
		if err := r.bind(source, path.Join("/etc", name), unix.MOUNT_ATTR_RDONLY|unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV); err != nil {
			return err
		}
		if err := os.Remove(source); err != nil {
			return err
		}
	}
	return nil
}

// bind puts one file of the host at target.
func (p *place) bind(source, target string, attrs uint64) error {
	t, err := unix.OpenTree(unix.AT_FDCWD, source, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)
	if err != nil {
		return err
	}
	if err := unix.MountSetattr(t, "", unix.AT_EMPTY_PATH, &unix.MountAttr{Attr_set: attrs, Propagation: unix.MS_PRIVATE}); err != nil {
		_ = unix.Close(t)
		return err
	}
	return p.put(tree{fd: t, target: target, file: true})
}

// proc mounts a /proc that shows the processes of the sandbox and takes no
// setting.
func (a *agent) proc(r *place) error {
	target := path.Join(r.root, "proc")
	if err := unix.Mount("proc", target, "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("/proc: %w", err)
	}
	for _, name := range masked {
		if _, err := os.Lstat(path.Join(target, name)); err != nil {
			continue
		}
		if err := unix.Mount("/dev/null", path.Join(target, name), "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("/proc/%s: %w", name, err)
		}
	}
	return unix.MountSetattr(-1, target, unix.AT_RECURSIVE, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NOEXEC})
}
