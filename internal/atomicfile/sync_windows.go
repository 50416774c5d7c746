package atomicfile

// syncDir does nothing: Windows has no way to sync a folder, and its rename is
// written through by the file system's own log.
func syncDir(string) error { return nil }
