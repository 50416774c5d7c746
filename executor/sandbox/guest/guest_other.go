//go:build !linux

package guest

import (
	"fmt"
	"os"
	"runtime"
)

// Main is for Linux only.
func Main() {
	fmt.Fprintln(os.Stderr, Program+": there is no guest for "+runtime.GOOS)
	os.Exit(2)
}
