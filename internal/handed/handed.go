// Package handed knows the credentials that systemd hands to a service
// (LoadCredential), whose mode looks as if others could read them. It imports
// nothing; whoever holds a file of a secret against its mode may ask it.
package handed

import (
	"os"
	"path/filepath"
)

// BySystemd reports whether the file at path, which has this mode, is a
// credential of this service. Where the service is not root's, the file is, and
// an access control list lets the service read it, which shows as the bits of
// the group: 0440. The folder is the service's alone.
func BySystemd(path string, mode os.FileMode) bool {
	dir := os.Getenv("CREDENTIALS_DIRECTORY")
	if !filepath.IsAbs(dir) || filepath.Dir(filepath.Clean(path)) != filepath.Clean(dir) || mode.Perm()&^0o440 != 0 {
		return false
	}
	st, err := os.Lstat(dir)
	return err == nil && st.IsDir() && st.Mode().Perm()&0o027 == 0
}
