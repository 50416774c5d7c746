package audit

import (
	"os"

	"golang.org/x/sys/unix"
)

// syncFile makes what was written durable. fdatasync also carries the size of
// the file, which is all the metadata that reading the lines back needs.
func syncFile(f *os.File) error {
	for {
		err := unix.Fdatasync(int(f.Fd()))
		if err == nil || !isInterrupted(err) {
			return err
		}
	}
}
