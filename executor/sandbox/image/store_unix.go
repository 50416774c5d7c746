//go:build unix

package image

import (
	"errors"
	"io/fs"
	"os"
	"strconv"
	"syscall"
)

// ownedByUs refuses a folder in which another user could swap an image.
func ownedByUs(info fs.FileInfo) error {
	if st, ok := info.Sys().(*syscall.Stat_t); !ok || int(st.Uid) != os.Geteuid() {
		return errors.New("the folder belongs to another user")
	}
	if info.Mode().Perm()&0o022 != 0 {
		return errors.New("others may write this folder")
	}
	return nil
}

// alive says whether there is a process of this number, ours or not.
func alive(pid string) bool {
	n, err := strconv.Atoi(pid)
	return err == nil && n > 0 && !errors.Is(syscall.Kill(n, 0), syscall.ESRCH)
}
