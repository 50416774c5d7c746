//go:build unix

package runner

import (
	"time"

	"golang.org/x/sys/unix"
)

// reserve maps n bytes; pages cost nothing before they are touched.
func reserve(n uint64) ([]byte, error) {
	if n == 0 {
		return nil, nil
	}
	return unix.Mmap(-1, 0, int(n), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
}

func release(space []byte) {
	if space != nil {
		_ = unix.Munmap(space)
	}
}

// cpuTime is what this process used so far.
func cpuTime() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
