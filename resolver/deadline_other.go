//go:build !linux

package resolver

import "time"

// processorTime gives the time by the clock: threads have no clock that all
// these systems share.
func processorTime() func() time.Duration {
	began := time.Now()
	return func() time.Duration { return time.Since(began) }
}
