package main

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// userProbes become somebody else, or get rights.
var userProbes = []probe{
	capability("CapEff"), capability("CapPrm"), capability("CapBnd"), capability("CapInh"), capability("CapAmb"),
	{Name: "take-capabilities", Dimension: syscalls, run: func(args) verdict {
		head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
		data := [2]unix.CapUserData{{Effective: 1 << unix.CAP_SYS_ADMIN, Permitted: 1 << unix.CAP_SYS_ADMIN}}
		return refused(unix.Capset(&head, &data[0]), "taken")
	}},
	{Name: "become-root", Dimension: syscalls, run: func(args) verdict {
		if err := syscall.Setresuid(0, 0, 0); err != nil {
			return held("%v", err)
		}
		if status("CapEff") == "0000000000000000" {
			return held("user 0 without a capability")
		}
		return open("user 0 with capabilities %s", status("CapEff"))
	}},
	{Name: "other-groups", Dimension: syscalls, run: func(args) verdict {
		return refused(syscall.Setgroups([]int{0, 6, 42}), "taken")
	}},
	{Name: "setuid-program", Dimension: syscalls, run: func(args) verdict {
		if _, err := os.Stat(givenDir + "/suid"); err != nil {
			return absent("the tests could not prepare it")
		}
		out, err := exec.Command(givenDir+"/suid", "child", "ids").CombinedOutput()
		if err != nil {
			return held("%v", err)
		}
		return gained(string(out))
	}},
	{Name: "setuid-programs-of-system", Dimension: syscalls, run: func(args) verdict {
		// Is a right given that this process has not? These end at once.
		for _, path := range []string{"/usr/bin/newgrp", "/usr/bin/su", "/usr/bin/passwd", "/usr/bin/mount"} {
			if st, err := os.Stat(path); err == nil && st.Mode()&os.ModeSetuid != 0 {
				var fs unix.Statfs_t
				if err := unix.Statfs(path, &fs); err == nil && fs.Flags&unix.ST_NOSUID == 0 && status("NoNewPrivs") != "1" {
					return open("%s works", path)
				}
				return held("%s gives nothing", path)
			}
		}
		return held("none is here")
	}},
	{Name: "setuid-file-in-writable-mount", Dimension: fsWrite, run: func(args) verdict {
		// Inside it is worth nothing. On the host it may be a program of root.
		path := workDir + "/suid"
		_ = os.Remove(path)
		defer os.Remove(path)
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o755); err != nil {
			return held("%v", err)
		}
		if err := unix.Chmod(path, 0o4755); err != nil {
			return held("%v", err)
		}
		return suid(path)
	}},
	{Name: "setuid-file-by-creation", Dimension: fsWrite, run: func(args) verdict {
		path := workDir + "/suid2"
		_ = os.Remove(path)
		defer os.Remove(path)
		fd, err := unix.Open(path, unix.O_CREAT|unix.O_WRONLY|unix.O_EXCL, 0o6755)
		if err != nil {
			return held("%v", err)
		}
		_ = unix.Close(fd)
		return suid(path)
	}},
	{Name: "raise-limits", Dimension: processes, run: func(args) verdict {
		for name, what := range map[string]int{"processes": unix.RLIMIT_NPROC, "files": unix.RLIMIT_NOFILE, "file size": unix.RLIMIT_FSIZE, "memory": unix.RLIMIT_AS, "core": unix.RLIMIT_CORE} {
			var l unix.Rlimit
			if err := unix.Getrlimit(what, &l); err != nil || l.Max == unix.RLIM_INFINITY {
				continue
			}
			l.Max++
			if unix.Setrlimit(what, &l) == nil {
				return open("the limit of %s was raised", name)
			}
		}
		return held("none can be raised")
	}},
	{Name: "higher-priority", Dimension: cpu, run: func(args) verdict {
		if err := unix.Setpriority(unix.PRIO_PROCESS, 0, -10); err == nil {
			return open("nice -10")
		}
		priority := int32(1)
		_, _, e := unix.Syscall(unix.SYS_SCHED_SETSCHEDULER, 0, 1, uintptr(unsafe.Pointer(&priority)))
		return refused(failure(e), "real time")
	}},
	{Name: "real-time-io", Dimension: cpu, run: func(args) verdict {
		_, _, e := unix.Syscall(unix.SYS_IOPRIO_SET, 1, 0, 1<<13)
		return refused(failure(e), "set")
	}},
}

func capability(field string) probe {
	return probe{Name: "capabilities-" + strings.ToLower(field[3:]), Dimension: syscalls, run: func(args) verdict {
		if set := status(field); strings.Trim(set, "0") != "" {
			return open("%s", set)
		}
		return held("none")
	}}
}

// gained is open when a child reports another user than this, or rights.
func gained(report string) verdict {
	user, caps, _ := strings.Cut(strings.TrimSpace(report), " ")
	if user != itoa(os.Geteuid()) && user == "0" || strings.Trim(caps, "0") != "" && caps != status("CapEff") {
		return open("user %s with %s", user, caps)
	}
	return held("user %s with %s", user, caps)
}

func suid(path string) verdict {
	st, err := os.Stat(path)
	if err == nil && st.Mode()&(os.ModeSetuid|os.ModeSetgid) == 0 {
		return held("the bit is not kept")
	}
	return refused(err, "a setuid file is on the host")
}
