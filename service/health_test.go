package service

import (
	"errors"
	"fmt"
	"testing"

	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/fault"
)

func TestNeedsHand(t *testing.T) {
	replaced := fault.New(fault.AuditUnavailable, audit.ReasonReplaced, "x")
	full := fault.New(fault.AuditUnavailable, audit.ReasonDiskFull, "x")
	for _, c := range []struct {
		err  error
		want bool
	}{
		{nil, false}, {errors.New("x"), false}, {full, false}, {errors.Join(full, errors.New("x")), false},
		{fault.New(fault.Usage, audit.ReasonFileCut, "x"), false}, {replaced, true}, {errors.Join(full, replaced), true},
		{fault.New(fault.AuditUnavailable, audit.ReasonFileCut, "x"), true}, {fmt.Errorf("x: %w", errors.Join(replaced)), true},
	} {
		if got := NeedsHand(c.err); got != c.want {
			t.Errorf("%v: %v", c.err, got)
		}
	}
}
