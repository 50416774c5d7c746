//go:build !unix

package filesystem

const openFlags = 0
