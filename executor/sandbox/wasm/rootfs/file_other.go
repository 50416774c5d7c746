//go:build !unix

package rootfs

import (
	"os"

	wasys "github.com/tetratelabs/wazero/experimental/sys"
)

const openNonblock = 0

func system(error) (wasys.Errno, bool) { return 0, false }

func setAppend(_ *os.File, on bool) wasys.Errno {
	if on {
		return wasys.ENOSYS
	}
	return 0
}

func setTimes(*os.File, int64, int64) wasys.Errno { return wasys.ENOSYS }
