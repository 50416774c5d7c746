//go:build !linux

package netns

import "errors"

var errNone = errors.New("network namespaces are a thing of Linux")

// Up fails: there are no network namespaces here.
func Up() error { return errNone }

// Listen fails: there are no network namespaces here.
func Listen([]int, []string) ([]int, error) { return nil, errNone }
