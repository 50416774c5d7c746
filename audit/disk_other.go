//go:build !linux

package audit

import "os"

// syncFile makes what was written durable (F_FULLFSYNC on darwin).
func syncFile(f *os.File) error { return f.Sync() }
