package agent

import (
	"errors"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/toolwarrant/toolwarrant/executor/sandbox/wire"
)

// Exit codes of commands that could not start, as shells give them.
const (
	codeNotExecutable = 126
	codeNotFound      = 127
)

// run starts a command, waits for its end, and removes what it left. It closes
// files, which are its three streams.
func (a *agent) run(e wire.Exec, files []*os.File) wire.Exited {
	pid, code, err := a.start(e, files)
	for _, f := range files {
		_ = f.Close()
	}
	if err != nil {
		return wire.Exited{Error: err.Error(), Code: code}
	}
	if a.killed.Load() { // between the message and the start
		_ = unix.Kill(-1, unix.SIGKILL)
	}
	ended := wait(pid)
	left := sweep()
	ended.Orphans = left.killed
	ended.add(left.usage)
	return ended.Exited
}

// start finds the program and starts it. The code is for an error.
func (a *agent) start(e wire.Exec, files []*os.File) (pid, code int, err error) {
	if len(e.Argv) == 0 || e.Argv[0] == "" {
		return 0, codeNotFound, errors.New("no command")
	}
	env := merge(a.cfg.Env, e.Env)
	program, code, err := find(e.Argv[0], env)
	if err != nil {
		return 0, code, err
	}
	dir := e.Dir
	if dir == "" {
		dir = a.cfg.Dir
	}
	if dir == "" {
		dir = "/"
	}
	var info unix.Stat_t
	if err := unix.Stat(dir, &info); err != nil || info.Mode&unix.S_IFMT != unix.S_IFDIR {
		return 0, codeNotExecutable, errors.New("the working directory is not there: " + dir)
	}
	fds := make([]uintptr, len(files))
	for i, f := range files {
		fds[i] = f.Fd()
	}
	attr := &syscall.ProcAttr{Dir: dir, Env: env, Files: fds, Sys: &syscall.SysProcAttr{Setsid: true}}
	if a.cfg.UID != 0 || a.cfg.GID != 0 {
		attr.Sys.Credential = &syscall.Credential{Uid: uint32(a.cfg.UID), Gid: uint32(a.cfg.GID)}
	}
	pid, err = a.forker.start(program, e.Argv, attr)
	switch {
	case errors.Is(err, unix.ENOENT):
		return 0, codeNotFound, errors.New(e.Argv[0] + ": not found, or the interpreter that it names is not")
	case err != nil:
		return 0, codeNotExecutable, errors.New(e.Argv[0] + ": " + err.Error())
	}
	if a.cfg.MaxMemory > 0 {
		limit := unix.Rlimit{Cur: a.cfg.MaxMemory, Max: a.cfg.MaxMemory}
		_ = unix.Prlimit(pid, unix.RLIMIT_DATA, &limit, nil)
	}
	return pid, 0, nil
}

// merge adds the entries of more to env; a later value of a name wins.
func merge(env, more []string) []string {
	all := slices.Concat(env, more)
	merged, seen := make([]string, 0, len(all)), map[string]bool{}
	for _, entry := range slices.Backward(all) {
		name, _, _ := strings.Cut(entry, "=")
		if !seen[name] {
			seen[name] = true
			merged = append(merged, entry)
		}
	}
	slices.Reverse(merged)
	return merged
}

// find looks a program up in the PATH of env, unless it is named by its place.
func find(name string, env []string) (program string, code int, err error) {
	if strings.Contains(name, "/") {
		return name, 0, nil
	}
	search := ""
	for _, entry := range env {
		if value, ok := strings.CutPrefix(entry, "PATH="); ok {
			search = value
		}
	}
	code, err = codeNotFound, errors.New(name+": not found in "+search)
	for dir := range strings.SplitSeq(search, ":") {
		candidate := path.Join("/", dir, name)
		var info unix.Stat_t
		if unix.Stat(candidate, &info) != nil || info.Mode&unix.S_IFMT != unix.S_IFREG {
			continue
		}
		if info.Mode&0o111 != 0 {
			return candidate, 0, nil
		}
		code, err = codeNotExecutable, errors.New(candidate+": not executable")
	}
	return "", code, err
}

// ended is an end, with usage that is still being added up.
type ended struct{ wire.Exited }

func (e *ended) add(u unix.Rusage) {
	e.UserUS += u.Utime.Nano() / 1000
	e.SystemUS += u.Stime.Nano() / 1000
	e.MaxRSS = max(e.MaxRSS, u.Maxrss<<10)
}

// wait waits for the end of pid, and takes note of everything else that ends
// meanwhile: process 1 inherits what nobody else waits for.
func wait(pid int) ended {
	var e ended
	for {
		var status unix.WaitStatus
		var usage unix.Rusage
		got, err := unix.Wait4(-1, &status, 0, &usage)
		if err == unix.EINTR {
			continue
		}
		if err != nil { // there is no child: it cannot be waited for any more
			e.Code, e.Error = codeNotExecutable, "the command was lost: "+err.Error()
			return e
		}
		e.add(usage)
		if got != pid {
			continue
		}
		if e.Code = status.ExitStatus(); status.Signaled() {
			e.Signal = int(status.Signal())
			e.Code = 128 + e.Signal
		}
		return e
	}
}

// leftover is what sweep found.
type leftover struct {
	killed int
	usage  unix.Rusage
}

// sweep kills every other process of the sandbox and returns when there is
// none: a signal to all leaves no gap in which one could be started.
func sweep() leftover {
	var left leftover
	for {
		_ = unix.Kill(-1, unix.SIGKILL)
		var status unix.WaitStatus
		var usage unix.Rusage
		_, err := unix.Wait4(-1, &status, 0, &usage)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return left
		}
		if status.Signaled() && status.Signal() == unix.SIGKILL {
			left.killed++
		}
		left.usage.Utime.Sec += usage.Utime.Sec
		left.usage.Utime.Usec += usage.Utime.Usec
		left.usage.Stime.Sec += usage.Stime.Sec
		left.usage.Stime.Usec += usage.Stime.Usec
		left.usage.Maxrss = max(left.usage.Maxrss, usage.Maxrss)
	}
}
