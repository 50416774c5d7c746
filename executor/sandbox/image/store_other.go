//go:build !unix

package image

import "io/fs"

// ownedByUs has nothing to ask here.
func ownedByUs(fs.FileInfo) error { return nil }

// alive takes every process for alive: nothing is swept.
func alive(string) bool { return true }
