package service

import (
	"os"
	"path"
	"strconv"
	"strings"
)

// ballast is memory that is never touched, so that the system gives none for
// it, and that the garbage collector counts as in use: with its usual target of
// twice what is in use, it runs once in as many bytes.
var ballast []byte

// HeapFloor makes the garbage collector run only once this many bytes were
// allocated since it ran last, where it would by itself run after 4 MiB: calls
// leave much behind, and hold little at one time. It says whether it did: not
// where somebody set GOGC or GOMEMLIMIT and so knows better, nor where the
// memory of the process is limited to less than eight times as much. env gives
// the environment as os.LookupEnv does. It is for the start of a process.
func HeapFloor(bytes int64, env func(string) (string, bool)) bool {
	for _, name := range []string{"GOGC", "GOMEMLIMIT"} {
		if v, ok := env(name); ok && v != "" {
			return false
		}
	}
	if limit := memoryLimit(os.ReadFile); bytes <= 0 || limit > 0 && limit/8 < bytes {
		return false
	}
	ballast = make([]byte, bytes)
	return true
}

// memoryLimit is the least of the limits that Linux puts on this process: its
// control groups, of either version, and the memory of the machine. 0 = none is
// known.
func memoryLimit(read func(string) ([]byte, error)) int64 {
	least := int64(0)
	note := func(text string, unit int64) {
		n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
		if err == nil && n > 0 && n < 1<<60/unit && (least == 0 || n*unit < least) {
			least = n * unit
		}
	}
	if raw, err := read("/proc/meminfo"); err == nil {
		if _, rest, ok := strings.Cut(string(raw), "MemTotal:"); ok {
			kib, _, _ := strings.Cut(rest, "kB")
			note(kib, 1024)
		}
	}
	raw, err := read("/proc/self/cgroup")
	if err != nil {
		return least
	}
	for _, line := range strings.Split(string(raw), "\n") {
		parts := strings.SplitN(line, ":", 3)
		if len(parts) != 3 {
			continue
		}
		root, file := "/sys/fs/cgroup", "memory.max"
		if parts[0] != "0" {
			if !strings.Contains(","+parts[1]+",", ",memory,") {
				continue
			}
			root, file = "/sys/fs/cgroup/memory", "memory.limit_in_bytes"
		}
		// A group holds those below it; in a container the path may be that of
		// the host, and the root is what counts.
		for dir := path.Clean("/" + parts[2]); ; dir = path.Dir(dir) {
			if limit, err := read(path.Join(root, dir, file)); err == nil {
				note(string(limit), 1)
			}
			if dir == "/" {
				break
			}
		}
	}
	return least
}
