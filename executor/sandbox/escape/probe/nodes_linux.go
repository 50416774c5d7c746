package main

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// nodeProbes reach for devices.
var nodeProbes = []probe{
	{Name: "make-device", Dimension: syscalls, run: func(args) verdict {
		last := held("no folder to make it in")
		for _, dir := range []string{"/scratch", workDir, "/tmp", "/dev"} {
			for kind, number := range map[uint32]uint64{unix.S_IFCHR: unix.Mkdev(1, 1), unix.S_IFBLK: unix.Mkdev(7, 0)} {
				path := filepath.Join(dir, "node")
				err := unix.Mknod(path, kind|0o600, int(number))
				if err == nil {
					_ = os.Remove(path)
					return open("made in %s", dir)
				}
				last = held("%v", err)
			}
		}
		return last
	}},
	{Name: "device-in-mount", Dimension: fsRead, run: func(args) verdict { return node(givenDir + "/loop-control-node") }},
	{Name: "disk-in-mount", Dimension: fsRead, run: func(args) verdict { return node(givenDir + "/loop-node") }},
	{Name: "dev-mem", Dimension: fsRead, run: func(args) verdict { return any1("/dev/mem", "/dev/port", "/dev/kmem") }},
	{Name: "dev-disk", Dimension: fsRead, run: func(args) verdict {
		disks, _ := filepath.Glob("/sys/block/*")
		paths := []string{"/dev/vda", "/dev/sda", "/dev/nvme0n1", "/dev/loop0", "/dev/dm-0"}
		for _, d := range disks {
			paths = append(paths, "/dev/"+filepath.Base(d))
		}
		return any1(paths...)
	}},
	{Name: "dev-kvm", Dimension: fsRead, run: func(args) verdict { return any1("/dev/kvm", "/dev/vhost-net", "/dev/vhost-vsock") }},
	{Name: "dev-control", Dimension: fsRead, run: func(args) verdict {
		return any1("/dev/loop-control", "/dev/fuse", "/dev/btrfs-control", "/dev/uinput", "/dev/vfio/vfio")
	}},
	{Name: "dev-terminals", Dimension: fsRead, run: func(args) verdict {
		paths, _ := filepath.Glob("/dev/pts/[0-9]*")
		return any1(append(paths, "/dev/console", "/dev/tty0", "/dev/tty1", "/dev/ttyS0", "/dev/hvc0")...)
	}},
	{Name: "chmod-device", Dimension: fsWrite, run: func(args) verdict {
		// The node may be the host's own.
		return refused(os.Chmod("/dev/null", 0o666), "changed")
	}},
	{Name: "times-of-device", Dimension: fsWrite, run: func(args) verdict {
		var st unix.Stat_t
		if err := unix.Stat("/dev/null", &st); err != nil {
			return held("%v", err)
		}
		// To what they are, so that nothing is changed where it is allowed.
		return refused(unix.UtimesNanoAt(unix.AT_FDCWD, "/dev/null", []unix.Timespec{st.Atim, st.Mtim}, 0), "changed")
	}},
}

// node is open when a device that the tests prepared can be opened.
func node(path string) verdict {
	if _, err := os.Lstat(path); err != nil {
		return absent("the tests could not prepare it")
	}
	v := any1(path)
	return v
}

// any1 is open when one of the devices can be opened.
func any1(paths ...string) verdict {
	last := held("not there")
	for _, path := range paths {
		fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
		switch {
		case err == nil:
			_ = unix.Close(fd)
			return open("%s opens", path)
		case !errors.Is(err, unix.ENOENT):
			last = held("%s: %v", filepath.Base(path), err)
		}
	}
	return last
}
