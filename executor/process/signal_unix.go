//go:build !windows

package process

import (
	"bytes"
	"os"
	"runtime"
	"strconv"
	"syscall"
)

// resident gives the resident bytes of a process, 0 where that is not known.
func resident(pid int) int64 {
	statm, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/statm")
	if err != nil {
		return 0
	}
	fields := bytes.Fields(statm)
	if len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.ParseInt(string(fields[1]), 10, 64)
	return pages * int64(os.Getpagesize())
}

// peak gives the most bytes that an ended process had resident.
func peak(s *os.ProcessState) int64 {
	if s == nil {
		return 0
	}
	u, ok := s.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return int64(u.Maxrss)
	}
	return int64(u.Maxrss) << 10
}

// killed reports whether the system itself killed the process, which it does
// when memory runs out.
func killed(s *os.ProcessState) bool {
	if s == nil {
		return false
	}
	w, ok := s.Sys().(syscall.WaitStatus)
	return ok && w.Signaled() && w.Signal() == syscall.SIGKILL
}
