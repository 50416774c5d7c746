package wasm_test

import (
	"context"
	"fmt"
	"os"
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
