package checkpoint

import (
	"errors"
	"io/fs"
	"os"
)

// Append adds a note to the file at path, for good; nil only tries whether that
// is possible. A note that is not written as a whole is taken back. What cannot
// be taken back, or is there from before, is given an end of its line, so that
// the note stands apart from it.
func Append(path string, msg []byte, perm fs.FileMode) (err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, perm)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	st, err := f.Stat()
	if err != nil {
		return err
	}
	if !st.Mode().IsRegular() { // no end to look at, and nothing to take back
		_, err := f.Write(msg)
		return err
	}
	before := st.Size()
	if before > 0 {
		var last [1]byte
		if _, err := f.ReadAt(last[:], before-1); err != nil {
			return err
		}
		if last[0] != '\n' {
			msg = append([]byte("\n"), msg...)
		}
	}
	if len(msg) == 0 {
		return nil
	}
	n, err := f.Write(msg)
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		return nil
	}
	// Another process may share the file: nothing of it is cut off.
	if st, e := f.Stat(); e == nil && st.Size() == before+int64(n) {
		err = errors.Join(err, f.Truncate(before))
	}
	return err
}
