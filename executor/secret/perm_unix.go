//go:build unix

package secret

import (
	"os"
	"syscall"
)

// openFile does not wait for the writer of a named pipe.
func openFile(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}

// tooOpen says why a file is not private enough, or "".
func tooOpen(info os.FileInfo) string {
	if info.Mode().Perm()&0o077 != 0 {
		return "can be used by other users of this machine"
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && st.Uid != 0 && int(st.Uid) != os.Geteuid() {
		return "belongs to another user"
	}
	return ""
}
