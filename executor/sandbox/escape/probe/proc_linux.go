package main

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

func itoa(i int) string { return strconv.Itoa(i) }

// procProbes look at other processes, and at what this one was given.
var procProbes = []probe{
	{Name: "environment-of-host-process", Dimension: environ, run: func(a args) verdict { return canary(a, "/proc/"+a["pid"]+"/environ") }},
	{Name: "command-line-of-host-process", Dimension: environ, run: func(a args) verdict {
		text, err := os.ReadFile("/proc/" + a["pid"] + "/cmdline")
		if err == nil && !strings.Contains(string(text), "victim") {
			return held("another process")
		}
		return refused(err, "the command line was read")
	}},
	{Name: "memory-of-host-process", Dimension: environ, run: func(a args) verdict { return memoryOf(a, a["pid"]) }},
	{Name: "memory-of-process-1", Dimension: environ, run: func(a args) verdict {
		fd, err := unix.Open("/proc/1/mem", unix.O_RDWR, 0)
		if err == nil {
			_ = unix.Close(fd)
		}
		return refused(err, "the memory opens for writing")
	}},
	{Name: "environment-of-process-1", Dimension: environ, run: func(args) verdict {
		text, err := os.ReadFile("/proc/1/environ")
		if err == nil && len(text) == 0 {
			return held("it is empty")
		}
		return refused(err, "it was read")
	}},
	{Name: "processes-of-host-in-proc", Dimension: environ, run: func(a args) verdict {
		dirs, _ := filepath.Glob("/proc/[0-9]*")
		for _, dir := range dirs {
			text, err := os.ReadFile(filepath.Join(dir, "cmdline"))
			if err == nil && strings.Contains(string(text), "victim"+a["nonce"]) {
				return open("a process of the host is seen")
			}
		}
		return held("%d processes", len(dirs))
	}},
	{Name: "environment-exact", Dimension: environ, run: func(a args) verdict {
		want := strings.Split(a["env"], ",")
		for _, e := range os.Environ() {
			name, _, _ := strings.Cut(e, "=")
			if strings.Contains(e, a["secret"]) {
				return open("%s has a secret of the host", name)
			}
			if !slices.Contains(want, name) {
				return open("%s is there", name)
			}
		}
		return held("%d variables, as specified", len(os.Environ()))
	}},
	{Name: "descriptors-left-open", Dimension: environ, run: func(args) verdict {
		// The runtime of Go has an epoll, and where there are control groups two
		// files of its own.
		for fd := 3; fd < 1024; fd++ {
			target, err := os.Readlink("/proc/self/fd/" + itoa(fd))
			if err == nil && !strings.HasPrefix(target, "anon_inode:[event") && !strings.HasPrefix(filepath.Base(target), "cpu.") {
				return open("%d is %s", fd, target)
			}
		}
		return held("0, 1 and 2")
	}},
	{Name: "hostname-of-host", Dimension: environ, run: func(a args) verdict {
		name, err := os.Hostname()
		if err == nil && name != a["hostname"] {
			return held("it is another one")
		}
		return refused(err, "the name of the host is seen")
	}},
	{Name: "folder-of-host", Dimension: environ, run: func(a args) verdict {
		dir, err := os.Getwd()
		if err == nil && strings.HasPrefix(dir, filepath.Dir(a["home"])) {
			return open("the folder is one of the host")
		}
		return held("%s, umask %03o", dir, unix.Umask(0o22))
	}},
	{Name: "process-vm-readv", Dimension: environ, run: func(a args) verdict {
		pid, _ := strconv.Atoi(a["pid"])
		here := make([]byte, 16)
		local := []unix.Iovec{{Base: &here[0], Len: 16}}
		_, err := unix.ProcessVMReadv(pid, local, []unix.RemoteIovec{{Base: uintptr(address(a)), Len: 16}}, 0)
		return refused(err, "memory of a process of the host was read")
	}},
	{Name: "limits-of-host-process", Dimension: processes, run: func(a args) verdict {
		pid, _ := strconv.Atoi(a["pid"])
		var l unix.Rlimit
		return refused(unix.Prlimit(pid, unix.RLIMIT_NOFILE, nil, &l), "limits of a process of the host were read")
	}},
}

// memoryOf is open when the memory of a process can be read.
func memoryOf(a args, pid string) verdict {
	fd, err := unix.Open("/proc/"+pid+"/mem", unix.O_RDONLY, 0)
	if err != nil {
		return held("%v", err)
	}
	defer unix.Close(fd)
	_, err = unix.Pread(fd, make([]byte, 16), int64(address(a)))
	return refused(err, "memory was read")
}

// address is where the process of the tests has something mapped.
func address(a args) uint64 {
	at, _ := strconv.ParseUint(a["address"], 16, 64)
	return at
}
