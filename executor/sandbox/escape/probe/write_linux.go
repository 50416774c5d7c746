package main

import (
	"errors"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// writeProbes change what is the host's.
var writeProbes = []probe{
	{Name: "write-usr", Dimension: fsWrite, run: func(args) verdict { return create("/usr/bin") }},
	{Name: "write-etc", Dimension: fsWrite, run: func(args) verdict { return create("/etc") }},
	{Name: "write-root", Dimension: fsWrite, run: func(args) verdict { return create("/") }},
	{Name: "write-dev", Dimension: fsWrite, run: func(args) verdict { return create("/dev") }},
	{Name: "write-host-folder", Dimension: fsWrite, run: func(a args) verdict { return create(filepath.Dir(a["canary"])) }},
	{Name: "write-read-only-mount", Dimension: fsWrite, run: func(a args) verdict { return create(probeDir) }},
	{Name: "append-read-only-mount", Dimension: fsWrite, run: func(args) verdict { return writable(probeDir+"/note", unix.O_WRONLY|unix.O_APPEND) }},
	{Name: "truncate-read-only-mount", Dimension: fsWrite, run: func(args) verdict { return refused(os.Truncate(probeDir+"/note", 4), "truncated") }},
	{Name: "chmod-read-only-mount", Dimension: fsWrite, run: func(args) verdict { return refused(os.Chmod(probeDir+"/note", 0o644), "changed") }},
	{Name: "times-read-only-mount", Dimension: fsWrite, run: func(args) verdict {
		return refused(os.Chtimes(probeDir+"/note", time.Now(), time.Now()), "changed")
	}},
	{Name: "attributes-read-only-mount", Dimension: fsWrite, run: func(args) verdict {
		return refused(unix.Setxattr(probeDir+"/note", "user.probe", []byte("x"), 0), "set")
	}},
	{Name: "rename-read-only-mount", Dimension: fsWrite, run: func(args) verdict {
		err := os.Rename(probeDir+"/note", probeDir+"/moved")
		if err == nil {
			_ = os.Rename(probeDir+"/moved", probeDir+"/note")
		}
		return refused(err, "renamed")
	}},
	{Name: "reopen-read-only-descriptor", Dimension: fsWrite, run: func(args) verdict {
		f, err := os.Open(probeDir + "/note")
		if err != nil {
			return held("%v", err)
		}
		defer f.Close()
		return writable("/proc/self/fd/"+itoa(int(f.Fd())), unix.O_RDWR)
	}},
	{Name: "hard-link-out-of-read-only-mount", Dimension: fsWrite, run: func(args) verdict {
		_ = os.Remove(workDir + "/hard")
		err := os.Link(probeDir+"/note", workDir+"/hard")
		_ = os.Remove(workDir + "/hard")
		return refused(err, "linked")
	}},
	{Name: "write-through-link-in-writable-mount", Dimension: fsWrite, run: func(args) verdict { return create(workDir + "/out") }},
	{Name: "write-through-root-of-process-1", Dimension: fsWrite, run: func(a args) verdict { return create("/proc/1/root" + filepath.Dir(a["canary"])) }},
	{Name: "write-agent-program", Dimension: fsWrite, Wild: true, run: func(args) verdict { return busy("/proc/1/exe") }},
	{Name: "write-own-program", Dimension: fsWrite, Wild: true, run: func(args) verdict { return busy(probeDir + "/probe") }},
	{Name: "proc-core-pattern", Dimension: fsWrite, run: func(args) verdict { return writable("/proc/sys/kernel/core_pattern", unix.O_WRONLY) }},
	{Name: "proc-modprobe", Dimension: fsWrite, run: func(args) verdict { return writable("/proc/sys/kernel/modprobe", unix.O_WRONLY) }},
	{Name: "proc-sys-vm", Dimension: fsWrite, run: func(args) verdict { return writable("/proc/sys/vm/drop_caches", unix.O_WRONLY) }},
	{Name: "proc-sys-net", Dimension: fsWrite, run: func(args) verdict { return writable("/proc/sys/net/ipv4/ip_forward", unix.O_WRONLY) }},
	{Name: "proc-hostname", Dimension: fsWrite, run: func(args) verdict { return writable("/proc/sys/kernel/hostname", unix.O_WRONLY) }},
	{Name: "proc-sysrq", Dimension: fsWrite, run: func(args) verdict { return writable("/proc/sysrq-trigger", unix.O_WRONLY) }},
	{Name: "proc-binfmt", Dimension: fsWrite, run: func(args) verdict { return writable("/proc/sys/fs/binfmt_misc/register", unix.O_WRONLY) }},
	{Name: "proc-oom-of-process-1", Dimension: fsWrite, run: func(args) verdict { return writable("/proc/1/oom_score_adj", unix.O_WRONLY) }},
	{Name: "proc-uid-map", Dimension: fsWrite, run: func(args) verdict {
		fd, err := unix.Open("/proc/self/uid_map", unix.O_WRONLY, 0)
		if err != nil {
			return held("%v", err)
		}
		defer unix.Close(fd)
		_, err = unix.Write(fd, []byte("0 0 1\n"))
		return refused(err, "mapped")
	}},
	{Name: "sys-writes", Dimension: fsWrite, run: func(args) verdict {
		return first(writable("/sys/kernel/uevent_helper", unix.O_WRONLY), writable("/sys/power/state", unix.O_WRONLY),
			writable("/sys/kernel/mm/transparent_hugepage/enabled", unix.O_WRONLY))
	}},
	{Name: "cgroup-writes", Dimension: fsWrite, run: cgroupWrites},
	{Name: "core-dump", Dimension: fsWrite, run: func(args) verdict {
		var l unix.Rlimit
		if err := unix.Getrlimit(unix.RLIMIT_CORE, &l); err != nil {
			return held("%v", err)
		}
		if l.Max == 0 {
			return held("the hard limit is 0")
		}
		l.Cur = l.Max
		return refused(unix.Setrlimit(unix.RLIMIT_CORE, &l), "cores can be written")
	}},
}

// create is open when a file can be made in dir.
func create(dir string) verdict {
	path := filepath.Join(dir, "made-by-probe")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return held("%v", err)
	}
	f.Close()
	_ = os.Remove(path)
	return open("a file was made")
}

// busy is open when a program that runs could be written, but for that it runs:
// "text file busy" comes before "read-only file system".
func busy(path string) verdict {
	fd, err := unix.Open(path, unix.O_WRONLY|unix.O_CLOEXEC, 0)
	if err == nil {
		_ = unix.Close(fd)
	}
	if errors.Is(err, unix.ETXTBSY) {
		err = unix.Access(path, unix.W_OK)
	}
	return refused(err, "it is writable")
}

// writable is open when path can be opened so; nothing is written.
func writable(path string, flags int) verdict {
	fd, err := unix.Open(path, flags|unix.O_CLOEXEC, 0)
	if err != nil {
		return held("%v", err)
	}
	defer unix.Close(fd)
	var info unix.Stat_t
	if err := unix.Fstat(fd, &info); err == nil && info.Mode&unix.S_IFMT == unix.S_IFCHR && info.Rdev == unix.Mkdev(1, 3) {
		return held("the null device is over it")
	}
	return open("%s opens for writing", filepath.Base(path))
}

func cgroupWrites(args) verdict {
	last := held("no control group is here")
	for _, dir := range []string{"/sys/fs/cgroup", "/sys/fs/cgroup/memory", "/sys/fs/cgroup/pids", "/sys/fs/cgroup/unified"} {
		for _, name := range []string{"cgroup.procs", "release_agent", "tasks"} {
			v := writable(filepath.Join(dir, name), unix.O_WRONLY)
			if v.Outcome == "open" {
				return v
			}
			if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
				last = v
			}
		}
	}
	return last
}
