package agent

import (
	"cmp"
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

// run runs a command to its end and removes what it left. It closes files,
// which are its three streams.
func (a *agent) run(e wire.Exec, files []*os.File) wire.Exited {
	defer closeFiles(files)
	c, code, err := a.command(e)
	if err != nil {
		return wire.Exited{Error: err.Error(), Code: code}
	}
	var ended ended
	warm := a.isWarm(c)
	if warm {
		ended, warm = a.runWarm(c, files)
	}
	if !warm {
		pid, code, err := a.start(c, files)
		closeFiles(files)
		if err != nil {
			return wire.Exited{Error: err.Error(), Code: code}
		}
		if a.killed.Load() { // between the message and the start
			_ = unix.Kill(-1, unix.SIGKILL)
		}
		ended = a.wait(pid)
	}
	left := a.sweep()
	ended.Orphans = left.killed
	ended.add(left.usage)
	return ended.Exited
}

// A command is one that is about to be started.
type command struct {
	argv, env []string
	added     []string // those of env that came with the command
	program   string
	dir       string
}

// command finds the program and the place. The code is for an error.
func (a *agent) command(e wire.Exec) (c command, code int, err error) {
	if len(e.Argv) == 0 || e.Argv[0] == "" {
		return c, codeNotFound, errors.New("no command")
	}
	c = command{argv: e.Argv, env: merge(a.cfg.Env, e.Env), added: e.Env}
	if c.program, code, err = find(e.Argv[0], c.env); err != nil {
		return c, code, err
	}
	c.dir = cmp.Or(e.Dir, a.cfg.Dir, "/")
	var info unix.Stat_t
	if err := unix.Stat(c.dir, &info); err != nil || info.Mode&unix.S_IFMT != unix.S_IFDIR {
		return c, codeNotExecutable, errors.New("the working directory is not there: " + c.dir)
	}
	return c, 0, nil
}

// start starts a process of its own for a command. The code is for an error.
func (a *agent) start(c command, files []*os.File) (pid, code int, err error) {
	pid, err = a.spawn(c, files)
	switch {
	case errors.Is(err, unix.ENOENT):
		return 0, codeNotFound, errors.New(c.argv[0] + ": not found, or the interpreter that it names is not")
	case err != nil:
		return 0, codeNotExecutable, errors.New(c.argv[0] + ": " + err.Error())
	}
	return pid, 0, nil
}

// spawn starts a process with nothing but files.
func (a *agent) spawn(c command, files []*os.File) (int, error) {
	fds := make([]uintptr, len(files))
	for i, f := range files {
		fds[i] = f.Fd()
	}
	attr := &syscall.ProcAttr{Dir: c.dir, Env: c.env, Files: fds, Sys: &syscall.SysProcAttr{Setsid: true}}
	if a.cfg.UID != 0 || a.cfg.GID != 0 {
		attr.Sys.Credential = &syscall.Credential{Uid: uint32(a.cfg.UID), Gid: uint32(a.cfg.GID)}
	}
	pid, err := a.forker.start(c.program, c.argv, attr)
	if err == nil && a.cfg.MaxMemory > 0 {
		limit := unix.Rlimit{Cur: a.cfg.MaxMemory, Max: a.cfg.MaxMemory}
		_ = unix.Prlimit(pid, unix.RLIMIT_DATA, &limit, nil)
	}
	return pid, err
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
func (a *agent) wait(pid int) ended {
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
			a.reaped(got)
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

func (l *leftover) add(status unix.WaitStatus, usage unix.Rusage) {
	if status.Signaled() && status.Signal() == unix.SIGKILL {
		l.killed++
	}
	l.usage.Utime.Sec += usage.Utime.Sec
	l.usage.Utime.Usec += usage.Utime.Usec
	l.usage.Stime.Sec += usage.Stime.Sec
	l.usage.Stime.Usec += usage.Stime.Usec
	l.usage.Maxrss = max(l.usage.Maxrss, usage.Maxrss)
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
		left.add(status, usage)
	}
}
