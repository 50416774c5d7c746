//go:build !linux

package wasm_test

import (
	"runtime"
	"testing"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
)

// Without a process sandbox the runner stands alone.
func inner(t testing.TB) sandbox.Factory { return &host{t: t} }

func closeProcesses() {}

// held is what can be known of this process on any system.
func held() holding { return holding{goroutines: runtime.NumGoroutine()} }

func bounded() bool { return false }
