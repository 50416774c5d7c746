package main

import (
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// mountProbes change what is mounted.
var mountProbes = []probe{
	{Name: "mount-tmpfs", Dimension: syscalls, run: func(args) verdict {
		return mounted(func(dir string) error { return unix.Mount("none", dir, "tmpfs", 0, "size=4096") })
	}},
	{Name: "mount-proc", Dimension: syscalls, run: func(args) verdict {
		return mounted(func(dir string) error { return unix.Mount("proc", dir, "proc", 0, "") })
	}},
	{Name: "mount-bind", Dimension: syscalls, run: func(args) verdict {
		return mounted(func(dir string) error { return unix.Mount("/usr", dir, "", unix.MS_BIND, "") })
	}},
	{Name: "mount-overlay", Dimension: syscalls, run: func(args) verdict {
		return mounted(func(dir string) error {
			return unix.Mount("none", dir, "overlay", 0, "lowerdir=/usr/bin:/usr/lib")
		})
	}},
	{Name: "mount-with-new-calls", Dimension: syscalls, run: func(args) verdict {
		fd, err := unix.Fsopen("tmpfs", unix.FSOPEN_CLOEXEC)
		if err == nil {
			_ = unix.Close(fd)
		}
		return refused(err, "a file system was opened")
	}},
	{Name: "clone-tree", Dimension: syscalls, run: func(args) verdict {
		fd, err := unix.OpenTree(unix.AT_FDCWD, "/", unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE)
		if err == nil {
			_ = unix.Close(fd)
		}
		return refused(err, "the tree of mounts was copied")
	}},
	{Name: "remount-writable", Dimension: fsWrite, Wild: true, run: func(args) verdict {
		last := held("nothing to remount")
		for _, dir := range []string{probeDir, "/usr", "/", "/proc"} {
			last = refused(unix.Mount("none", dir, "", unix.MS_REMOUNT|unix.MS_BIND, ""), dir+" was remounted")
			if last.Outcome == "open" {
				// With bwrap the mount can be remounted but stays read-only
				// where the kernel locked it: what counts is whether it writes.
				return first(create(probeDir), held("remounted, and still read-only"))
			}
		}
		return last
	}},
	{Name: "attributes-of-mount", Dimension: fsWrite, Wild: true, run: func(args) verdict {
		err := unix.MountSetattr(unix.AT_FDCWD, probeDir, 0, &unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_RDONLY})
		if err != nil {
			return held("%v", err)
		}
		return create(probeDir)
	}},
	{Name: "unmount-what-covers", Dimension: fsRead, Wild: true, run: func(a args) verdict {
		// What is below a mount of the sandbox may be the host's.
		text, err := os.ReadFile("/proc/self/mountinfo")
		if err != nil {
			return held("%v", err)
		}
		taken := ""
		for line := range strings.Lines(string(text)) {
			if f := strings.Fields(line); len(f) > 4 && f[4] != "/" && f[4] != "/proc" && f[4] != probeDir {
				if unix.Unmount(f[4], unix.MNT_DETACH) == nil {
					taken += " " + f[4]
				}
			}
		}
		if taken == "" {
			return held("nothing can be unmounted")
		}
		return open("unmounted%s", taken)
	}},
	{Name: "chroot", Dimension: syscalls, run: func(args) verdict {
		before, err := unix.Open("/", unix.O_RDONLY|unix.O_DIRECTORY, 0)
		if err != nil {
			return held("%v", err)
		}
		defer unix.Close(before)
		if err = unix.Chroot("/usr"); err != nil {
			return held("%v", err)
		}
		// The old way out: a folder outside of the new root.
		_ = unix.Fchdir(before)
		for range 64 {
			_ = unix.Chdir("..")
		}
		_ = unix.Chroot(".")
		return open("it can be changed")
	}},
	{Name: "pivot-root", Dimension: syscalls, Wild: true, run: func(args) verdict {
		if err := unix.Chdir("/"); err != nil {
			return held("%v", err)
		}
		err := unix.PivotRoot(".", ".")
		if err == unix.EBUSY || err == unix.EINVAL {
			return open("reached: %v", err)
		}
		return refused(err, "the root was changed")
	}},
}

// mounted tries a mount on a folder of its own and takes it back.
func mounted(mount func(dir string) error) verdict {
	for _, base := range []string{"/scratch", "/tmp", workDir, "/var/tmp"} {
		dir, err := os.MkdirTemp(base, "mount")
		if err != nil {
			continue
		}
		err = mount(dir)
		if err == nil {
			_ = unix.Unmount(dir, unix.MNT_DETACH)
		}
		_ = os.Remove(dir)
		return refused(err, "mounted")
	}
	return refused(mount(probeDir), "mounted over a mount")
}
