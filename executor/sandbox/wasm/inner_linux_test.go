package wasm_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/process"
)

// processes is the real back end under the modules, where it works.
var processes = sync.OnceValues(func() (*process.Factory, error) {
	f := process.New(process.Options{Agent: os.Getenv("WASM_AGENT")}) // the measurements name one
	if a := f.Probe(context.Background()); !a.OK {
		fmt.Fprintln(os.Stderr, "no process sandbox here, so the runner stands alone: ", a.Reason)
		return nil, sandbox.ErrUnavailable
	}
	return f, nil
})

// closeProcesses is for the end of all tests.
func closeProcesses() {
	if f, err := processes(); err == nil {
		_ = f.Close()
	}
}

// held is what this process holds now.
func held() (h holding) {
	// The first pipe takes two descriptors more, for as long as the process.
	if r, w, err := os.Pipe(); err == nil {
		_, _ = r.Close(), w.Close()
	}
	h.goroutines = runtime.NumGoroutine()
	if list, err := os.ReadDir("/proc/self/fd"); err == nil {
		h.descriptors = len(list)
	}
	h.processes = len(descendants())
	for _, tree := range []string{"/sys/fs/cgroup/*/toolwarrant", "/sys/fs/cgroup/toolwarrant"} {
		// The number of the process is a part of the names of its groups.
		list, _ := filepath.Glob(fmt.Sprintf("%s/*-%d-*", tree, os.Getpid()))
		h.groups += len(list)
	}
	return h
}

// inner is what is around the runner: a process sandbox, or nothing where
// there is none.
func inner(t testing.TB) sandbox.Factory {
	if f, err := processes(); err == nil {
		return f
	}
	return &host{t: t}
}

// bounded tells whether it bounds the scratch space.
func bounded() bool {
	_, err := processes()
	return err == nil
}
