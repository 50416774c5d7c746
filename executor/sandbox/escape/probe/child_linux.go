package main

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// childCall makes a call in a new process of this program, so that what it
// changes is gone with it.
func childCall(name string, arg uintptr) error {
	text, err := spawn(name, strconv.FormatUint(uint64(arg), 10))
	if err != nil {
		return fmt.Errorf("%w %s", err, text)
	}
	return nil
}

// spawn runs a child of this program to its end and gives what it wrote.
func spawn(arg ...string) (string, error) {
	c := exec.Command("/proc/self/exe", append([]string{"child"}, arg...)...)
	out, err := c.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// start begins a child that lives on.
func start(arg ...string) (*exec.Cmd, error) {
	c := exec.Command("/proc/self/exe", append([]string{"child"}, arg...)...)
	return c, c.Start()
}

func child(what string, rest []string) {
	number := func(i int) int {
		if i >= len(rest) {
			return 0
		}
		n, _ := strconv.Atoi(rest[i])
		return n
	}
	var err error
	switch what {
	case "victim", "sleep": // a process to be found; its arguments name it
		time.Sleep(5 * time.Minute)
	case "traceme":
		_, _, e := unix.Syscall6(unix.SYS_PTRACE, unix.PTRACE_TRACEME, 0, 0, 0, 0, 0)
		err = failure(e)
	case "hold":
		plant(rest[0])
		fmt.Println("holding")
		time.Sleep(5 * time.Minute)
	case "flood":
		flood(number(0) << 20)
	case "killall":
		err = unix.Kill(-1, unix.SIGKILL)
	case "killgroup":
		err = unix.Kill(0, unix.SIGKILL)
	case "killparent":
		err = unix.Kill(os.Getppid(), unix.SIGKILL)
	case "exit":
	case "ids":
		fmt.Printf("%d %s", os.Geteuid(), status("CapEff"))
	case "threads":
		threads(number(0))
	case "memory":
		err = fill(rest[0], number(1)<<20)
	case "evade":
		evade()
	case "listen":
		err = listen(rest[0], rest[1])
	default:
		err = fmt.Errorf("no child %q", what)
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

// status is one field of /proc/self/status, of this thread.
func status(field string) string {
	text, err := os.ReadFile("/proc/thread-self/status")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, field+":"); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// flood writes so many bytes to both streams at once.
func flood(size int) {
	var wait sync.WaitGroup
	for _, stream := range []*os.File{os.Stdout, os.Stderr} {
		wait.Go(func() {
			block := make([]byte, 64<<10)
			for n := 0; n < size; n += len(block) {
				if _, err := stream.Write(block); err != nil {
					return
				}
			}
		})
	}
	wait.Wait()
}
