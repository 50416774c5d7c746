package main

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/toolwarrant/toolwarrant/internal/smalldisk"
)

// outage runs clients against a log whose disk fails and comes back, and kills
// the server during every other outage. spoil makes the disk of a process
// fail, mend lets it work again.
func outage(t *testing.T, l *load, spoil func(p *process), mend func(p *process)) {
	t.Helper()
	rounds := max(2, min(*kills, 20))
	p := l.serve()
	for i := range rounds {
		stop := make(chan struct{})
		done := l.press(p.url, stop)
		answers, refused := l.count()
		waitFor(t, "answers", func() bool { n, _ := l.count(); return n > answers+writers })
		spoil(p)
		waitFor(t, "refusals", func() bool { _, n := l.count(); return n > refused+writers })
		if i%2 == 0 {
			p.kill()
			done()
			mend(nil)
			p = l.serve()
			l.verify("after a kill during the outage")
			continue
		}
		mend(p)
		answers, _ = l.count()
		waitFor(t, "answers again", func() bool { n, _ := l.count(); return n > answers+writers })
		close(stop)
		done()
	}
	p.stop() // writes what the disk did not take, too
	l.verify("in the end")
	l.check()
}

// TestKilledWhileTheDiskErrs is the load with a disk that refuses writes: the
// kernel lets the process write no file beyond a size.
func TestKilledWhileTheDiskErrs(t *testing.T) {
	l := newLoad(t)
	limit := func(p *process, size uint64) {
		t.Helper()
		var old unix.Rlimit
		if err := unix.Prlimit(p.cmd.Process.Pid, unix.RLIMIT_FSIZE, nil, &old); err != nil {
			t.Fatal(err)
		}
		if err := unix.Prlimit(p.cmd.Process.Pid, unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: min(size, old.Max), Max: old.Max}, nil); err != nil {
			t.Fatal(err)
		}
	}
	outage(t, l, func(p *process) {
		info, err := os.Stat(l.log)
		if err != nil {
			t.Fatal(err)
		}
		limit(p, uint64(info.Size())+1000) // in the middle of a record
	}, func(p *process) {
		if p != nil {
			limit(p, unix.RLIM_INFINITY)
		}
	})
}

// TestKilledWhileTheDiskIsFull is the load with a file system that is full.
func TestKilledWhileTheDiskIsFull(t *testing.T) {
	disk := smalldisk.New(t, "64m")
	l := newLoad(t, "--audit", filepath.Join(disk.Dir, "audit.ndjson"))
	l.log = filepath.Join(disk.Dir, "audit.ndjson")
	outage(t, l, func(*process) { disk.Fill() }, func(*process) { disk.Empty() })
}
