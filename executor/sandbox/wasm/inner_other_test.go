//go:build !linux

package wasm_test

import (
	"testing"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
)

// Without a process sandbox the runner stands alone.
func inner(t testing.TB) sandbox.Factory { return &host{t: t} }

func bounded() bool { return false }
