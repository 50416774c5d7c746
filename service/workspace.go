package service

import (
	_ "embed"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/internal/atomicfile"
)

//go:embed welcome/README.md
var welcome []byte

// seedWorkspace makes the default workspace, with a first file that the file
// tools can be tried on. One that is there is left alone.
func seedWorkspace(dir string) error {
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		return nil // whatever is wrong with it, the file gate says so at a call
	}
	err := os.Mkdir(dir, 0o700)
	if errors.Is(err, fs.ErrExist) {
		return nil // another process was faster
	}
	if err == nil {
		err = atomicfile.WriteFile(filepath.Join(dir, "README.md"), welcome, 0o600)
	}
	if err != nil {
		return fault.New(fault.Usage, "workspace", "the workspace %s cannot be made: %v", dir, err)
	}
	return nil
}
