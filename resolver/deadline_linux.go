package resolver

import (
	"time"

	"golang.org/x/sys/unix"
)

// processorTime gives a clock of the time that the calling thread, which the
// caller holds, has spent on a processor since. It may be read from any
// thread, as long as that one lives.
func processorTime() func() time.Duration {
	// CPUCLOCK_PERTHREAD_MASK|CPUCLOCK_SCHED of the kernel's posix-timers: the
	// clock that pthread_getcpuclockid(3) gives for a thread.
	clock := int32(^unix.Gettid()<<3 | 6)
	read := func() (time.Duration, bool) {
		var ts unix.Timespec
		if unix.ClockGettime(clock, &ts) != nil {
			return 0, false
		}
		return time.Duration(ts.Nano()), true
	}
	began := time.Now()
	start, ok := read()
	return func() time.Duration {
		now, still := read()
		if !ok || !still {
			return time.Since(began) // no such clock: the one on the wall
		}
		return now - start
	}
}
