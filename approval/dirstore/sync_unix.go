//go:build unix

package dirstore

import (
	"errors"
	"fmt"
	"os"
)

// syncDir makes a new name survive a power cut.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("approval store: %w", err)
	}
	if err := errors.Join(d.Sync(), d.Close()); err != nil {
		return fmt.Errorf("approval store: %w", err)
	}
	return nil
}
