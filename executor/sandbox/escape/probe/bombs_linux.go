package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// bombProbes use more than the limits of the tests: 32 processes, 64 MiB of
// memory, 16 MiB of scratch space, a quarter of a core. They stop by
// themselves at a multiple of it.
var bombProbes = []probe{
	{Name: "fork-bomb", Dimension: processes, Bomb: true, run: func(args) verdict { return counted(200, 64, "processes", forked) }},
	{Name: "thread-bomb", Dimension: processes, Bomb: true, run: func(args) verdict {
		out, err := spawn("threads", "200")
		return refused(err, out)
	}},
	{Name: "zombie-flood", Dimension: processes, Bomb: true, run: func(args) verdict { return counted(200, 64, "zombies", zombies) }},
	{Name: "memory-bomb", Dimension: memory, Bomb: true, Slow: true, run: func(args) verdict { return filled("private", 256) }},
	{Name: "memory-bomb-shared", Dimension: memory, Bomb: true, Slow: true, run: func(args) verdict { return filled("shared", 256) }},
	{Name: "memory-bomb-file", Dimension: memory, Bomb: true, Slow: true, run: func(args) verdict { return filled("memfd", 256) }},
	{Name: "memory-bomb-many", Dimension: memory, Bomb: true, Slow: true, run: func(args) verdict {
		var wait sync.WaitGroup
		errs := make([]error, 8)
		for i := range errs {
			wait.Go(func() { _, errs[i] = spawn("memory", "held", "40") })
		}
		wait.Wait()
		for _, err := range errs {
			if err != nil {
				return held("%v", err)
			}
		}
		return open("8 processes with 40 MiB each at once")
	}},
	{Name: "memory-bomb-sockets", Dimension: memory, Bomb: true, Slow: true, run: func(args) verdict {
		kept := 0
		for kept < 192<<20 {
			pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK, 0)
			if err != nil {
				return held("%d MiB in sockets: %v", kept>>20, err)
			}
			for {
				n, err := unix.Write(pair[0], make([]byte, 64<<10))
				if err != nil {
					break
				}
				kept += n
			}
		}
		return open("%d MiB in sockets", kept>>20)
	}},
	{Name: "disk-bomb", Dimension: disk, Bomb: true, Slow: true, run: func(args) verdict {
		return spread(func(dir string) (int, error) { return written(filepath.Join(dir, "bomb"), 48<<20) }, 40<<20, "bytes")
	}},
	{Name: "disk-bomb-reserved", Dimension: disk, Bomb: true, Slow: true, run: func(args) verdict {
		return spread(func(dir string) (int, error) {
			f, err := os.Create(filepath.Join(dir, "reserved"))
			if err != nil {
				return 0, err
			}
			defer os.Remove(f.Name())
			defer f.Close()
			if err := unix.Fallocate(int(f.Fd()), 0, 0, 48<<20); err != nil {
				return 0, err
			}
			return 48 << 20, nil
		}, 40<<20, "bytes reserved")
	}},
	{Name: "inode-bomb", Dimension: disk, Bomb: true, Slow: true, run: func(args) verdict {
		return spread(func(dir string) (int, error) {
			folder, err := os.MkdirTemp(dir, "inodes")
			if err != nil {
				return 0, err
			}
			defer os.RemoveAll(folder)
			for i := range 70_000 {
				if err := unix.Mknod(filepath.Join(folder, itoa(i)), unix.S_IFREG|0o600, 0); err != nil {
					return i, err
				}
			}
			return 70_000, nil
		}, 70_000, "files")
	}},
	{Name: "descriptor-bomb", Dimension: processes, Bomb: true, run: func(args) verdict {
		n := 0
		for ; n < 16_384; n++ {
			if _, err := unix.Open("/", unix.O_RDONLY|unix.O_DIRECTORY, 0); err != nil {
				return held("%d descriptors: %v", n, err)
			}
		}
		return open("%d descriptors", n)
	}},
	{Name: "cpu-threads", Dimension: cpu, Slow: true, run: spin},
}

// counted is open when more of something can be had at once than limit.
func counted(n, limit int, what string, more func(n int) (int, error)) verdict {
	got, err := more(n)
	if got > limit {
		return open("%d %s", got, what)
	}
	return held("%d %s: %v", got, what, err)
}

func forked(n int) (int, error) {
	var running []*exec.Cmd
	defer func() {
		for _, c := range running {
			_ = c.Process.Kill()
			_ = c.Wait()
		}
	}()
	for i := range n {
		c, err := start("sleep", "bomb")
		if err != nil {
			return i, err
		}
		running = append(running, c)
	}
	return n, nil
}

// zombies makes processes that have ended and that nobody asks for.
func zombies(n int) (int, error) {
	for i := range n {
		pid, _, e := unix.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
		if e != 0 {
			return i, e
		}
		if pid == 0 {
			unix.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
		}
	}
	return n, nil
}

// threads ends with an error of the runtime when there can be no more.
func threads(n int) {
	var all sync.WaitGroup
	hold := make(chan struct{})
	for range n {
		all.Add(1)
		go func() {
			runtime.LockOSThread()
			all.Done()
			<-hold
		}()
	}
	all.Wait()
	fmt.Printf("%d threads", n)
}

func filled(kind string, mib int) verdict {
	out, err := spawn("memory", kind, strconv.Itoa(mib))
	if err != nil {
		return held("%v %.80s", err, out)
	}
	return open("%d MiB", mib)
}

// fill uses so many bytes of memory.
func fill(kind string, size int) error {
	flags, fd := unix.MAP_PRIVATE|unix.MAP_ANONYMOUS, -1
	switch kind {
	case "shared":
		flags = unix.MAP_SHARED | unix.MAP_ANONYMOUS
	case "memfd":
		flags = unix.MAP_SHARED
		var err error
		if fd, err = unix.MemfdCreate("bomb", 0); err != nil {
			return err
		}
		if err = unix.Ftruncate(fd, int64(size)); err != nil {
			return err
		}
	}
	region, err := unix.Mmap(fd, 0, size, unix.PROT_READ|unix.PROT_WRITE, flags)
	if err != nil {
		return err
	}
	for i := 0; i < size; i += 4096 {
		region[i] = byte(i>>12) | 1
	}
	if kind == "held" {
		time.Sleep(time.Second)
	}
	return nil
}

// written writes up to size bytes and leaves them.
func written(path string, size int) (int, error) {
	f, err := os.Create(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	block, n := make([]byte, 1<<20), 0
	for n < size {
		m, err := f.Write(block)
		n += m
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// spread does it in each place that can be written; together they may give no
// more than limit.
func spread(each func(dir string) (int, error), limit int, what string) verdict {
	total, last := 0, error(nil)
	used := []string{}
	for _, dir := range []string{"/scratch", "/tmp", "/var/tmp", "/dev/shm"} {
		n, err := each(dir)
		if err != nil {
			last = err
		}
		total += n
		if n > 0 {
			used = append(used, dir)
		}
	}
	for _, dir := range used {
		_ = os.Remove(filepath.Join(dir, "bomb"))
	}
	if total >= limit {
		return open("%d %s in %s", total, what, strings.Join(used, " "))
	}
	return held("%d %s: %v", total, what, last)
}

// spin computes on four threads and compares processor and clock.
func spin(args) verdict {
	var before, after syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &before)
	began := time.Now()
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			for x := 0; time.Since(began) < 1500*time.Millisecond; x++ {
				_ = x * x
			}
		})
	}
	wait.Wait()
	wall := time.Since(began)
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &after)
	used := time.Duration(after.Utime.Nano() + after.Stime.Nano() - before.Utime.Nano() - before.Stime.Nano())
	cores := float64(used) / float64(wall)
	// A quarter is allowed; the kernel gives it in slices of up to 100 ms.
	if cores > 0.5 {
		return open("%.2f cores", cores)
	}
	return held("%.2f cores", cores)
}
