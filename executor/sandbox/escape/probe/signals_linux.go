package main

import (
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// signalProbes reach for processes. Signal 0 asks whether one could be sent.
var signalProbes = []probe{
	{Name: "signal-process-1", Dimension: syscalls, run: func(args) verdict { return refused(unix.Kill(1, 0), "it can be signalled") }},
	{Name: "signal-host-process", Dimension: processes, run: func(a args) verdict {
		// In a name space of its own the number is nobody, or another.
		pid, _ := strconv.Atoi(a["pid"])
		if _, err := os.Stat("/proc/" + a["pid"]); err != nil {
			return refused(unix.Kill(pid, 0), "it can be signalled")
		}
		if v := canary(a, "/proc/"+a["pid"]+"/environ"); v.Outcome == "held" {
			return v
		}
		return refused(unix.Kill(pid, 0), "it can be signalled")
	}},
	{Name: "thread-signal-process-1", Dimension: syscalls, run: func(args) verdict { return refused(unix.Tgkill(1, 1, 0), "it can be signalled") }},
	{Name: "queued-signal-process-1", Dimension: syscalls, run: func(args) verdict {
		info := [128]byte{0: byte(unix.SIGURG), 8: 0xff} // si_code of a user
		_, _, e := unix.Syscall(unix.SYS_RT_SIGQUEUEINFO, 1, uintptr(unix.SIGURG), uintptr(unsafe.Pointer(&info)))
		return refused(failure(e), "it was signalled")
	}},
	{Name: "descriptor-signals-process-1", Dimension: syscalls, run: func(args) verdict {
		// What a descriptor sends looks like a fault of whoever gets it.
		pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
		if err != nil {
			return held("%v", err)
		}
		defer unix.Close(pair[0])
		defer unix.Close(pair[1])
		if _, err := unix.FcntlInt(uintptr(pair[0]), unix.F_SETOWN, 1); err != nil {
			return held("%v", err)
		}
		_, err = unix.FcntlInt(uintptr(pair[0]), unix.F_SETSIG, int(unix.SIGSEGV))
		return refused(err, "a descriptor sends it SIGSEGV")
	}},
	{Name: "pidfd-of-process-1", Dimension: syscalls, run: func(args) verdict {
		fd, err := unix.PidfdOpen(1, 0)
		if err != nil {
			return held("%v", err)
		}
		defer unix.Close(fd)
		return refused(unix.PidfdSendSignal(fd, 0, nil, 0), "it can be signalled")
	}},
	{Name: "signal-group-of-parent", Dimension: processes, run: func(args) verdict {
		// Its own session: the group of the parent is not its own.
		pgid, err := unix.Getpgid(0)
		if err != nil {
			return held("%v", err)
		}
		parent, err := unix.Getpgid(os.Getppid())
		if err == nil && parent == pgid {
			return open("it is in the group %d of its parent", pgid)
		}
		return held("a group of its own")
	}},
	{Name: "oom-score-lower", Dimension: memory, run: func(args) verdict {
		before, err := os.ReadFile("/proc/self/oom_score_adj")
		if err != nil {
			return held("%v", err)
		}
		err = os.WriteFile("/proc/self/oom_score_adj", []byte("-900"), 0)
		if err == nil {
			_ = os.WriteFile("/proc/self/oom_score_adj", before, 0)
		}
		return refused(err, "another process would be killed instead")
	}},
}

// evade does what a program can do to outlive its time: a session of its own,
// deaf to every signal, its parent gone, again and again, one of each stopped.
func evade() {
	signal.Ignore()
	depth, _ := strconv.Atoi(os.Getenv("PROBE_DEPTH"))
	if depth < 4 {
		for _, stop := range []bool{false, true} {
			attr := &os.ProcAttr{Env: append(os.Environ(), "PROBE_DEPTH="+itoa(depth+1)), Files: []*os.File{nil, nil, nil}, Sys: &syscall.SysProcAttr{Setsid: true}}
			p, err := os.StartProcess("/proc/self/exe", os.Args, attr)
			if err == nil && stop {
				_ = p.Signal(syscall.SIGSTOP)
			}
		}
	}
	if depth%2 == 1 {
		return // its children belong to nobody now
	}
	for {
		time.Sleep(time.Second)
	}
}
