//go:build !unix

package wasm

import "io/fs"

// There is no process sandbox on such a system, and so nothing to start.
func trusted(string, string) bool { return false }

func private(st fs.FileInfo) bool { return st.IsDir() }
