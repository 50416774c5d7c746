package process

import (
	"testing"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
	"github.com/toolwarrant/toolwarrant/executor/worker"
	"github.com/toolwarrant/toolwarrant/fault"
)

// TestHealthy: a worker goes on after what was not its own, and not after what
// may still run in it.
func TestHealthy(t *testing.T) {
	tests := []struct {
		code   fault.Code
		reason string
		want   bool
	}{
		{fault.JSError, "throw", true},
		{fault.Security, "host", true},
		{fault.ResourceLimit, "output", true},
		{fault.ResourceLimit, "memory", false},
		{fault.Timeout, "deadline", false},
		{fault.Interrupted, "cancelled", false},
		{fault.RuntimeError, "engine-panic", false},
		{fault.RuntimeError, "", false},
	}
	for _, tt := range tests {
		if got := healthy(&worker.Failure{Code: string(tt.code), Reason: tt.reason}); got != tt.want {
			t.Errorf("%s %s: %v", tt.code, tt.reason, got)
		}
	}
	for _, f := range []*fault.Error{sandbox.ErrUnavailable, sandbox.ErrBusy, sandbox.ErrClosed, sandbox.ErrFailed, sandbox.ErrImage} {
		if !healthy(&worker.Failure{Code: string(f.Code), Reason: f.Reason}) {
			t.Errorf("%s %s: no sandbox, and the worker is to blame", f.Code, f.Reason)
		}
	}
	if !healthy(nil) {
		t.Error("no failure")
	}
}
