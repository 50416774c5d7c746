//go:build !unix

package dirstore

// syncDir does nothing: the system has no sync of a folder (on Windows, NTFS
// journals names itself).
func syncDir(string) error { return nil }
