//go:build !unix

package script

import "errors"

func mkfifo(string) error { return errors.ErrUnsupported }
