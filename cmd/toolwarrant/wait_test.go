package main

import (
	"testing"
	"time"
)

// waitFor polls until done. Its limit only ends a test that has failed.
func waitFor(t *testing.T, what string, done func() bool) {
	t.Helper()
	limit := time.NewTimer(60 * time.Second)
	defer limit.Stop()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-limit.C:
			t.Fatalf("gave up waiting for %s", what)
		case <-tick.C:
		}
	}
}
