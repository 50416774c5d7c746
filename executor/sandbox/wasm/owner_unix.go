//go:build unix

package wasm

import (
	"io/fs"
	"os"
	"syscall"
)

// trusted tells whether the program at path belongs to whom the program self
// belongs, or to root, and nobody else can write it.
func trusted(path, self string) bool {
	st, err := os.Lstat(path)
	if err != nil || !st.Mode().IsRegular() || st.Mode().Perm()&0o022 != 0 || st.Mode().Perm()&0o111 == 0 {
		return false
	}
	own, err := os.Stat(self)
	return err == nil && (owner(st) == 0 || owner(st) == owner(own))
}

// private tells whether a folder is this user's and nobody else can write it.
func private(st fs.FileInfo) bool {
	return st.IsDir() && st.Mode().Perm()&0o022 == 0 && owner(st) == os.Geteuid()
}

func owner(st fs.FileInfo) int {
	if sys, ok := st.Sys().(*syscall.Stat_t); ok {
		return int(sys.Uid)
	}
	return -1
}
