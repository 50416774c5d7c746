package js

import "time"

// Warm does once what would otherwise be done, with files of the host, at the
// first call: a process that is about to lose its files calls it before.
func Warm() {
	_, _ = time.LoadLocation("Etc/UTC")
}
