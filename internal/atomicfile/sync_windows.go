package atomicfile

// SyncDir does nothing: Windows has no way to sync a folder, and changes of
// names are written through by the file system's own log.
func SyncDir(string) error { return nil }
