//go:build !linux

package agent

import "os"

// Main says that there is no agent for this system, and ends.
func Main() {
	_, _ = os.Stderr.WriteString("toolwarrant-agent: sandboxes of this kind exist on Linux only\n")
	os.Exit(70)
}
