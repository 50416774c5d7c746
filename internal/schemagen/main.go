// Command schemagen writes the JSON Schemas under schemas/ from the CUE
// formats under cue/. Run it from the root of the repository, or through
// go generate; its output depends on the CUE sources alone.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/toolwarrant/toolwarrant/cue"
)

func main() {
	dir := "schemas"
	if len(os.Args) > 1 {
		dir = os.Args[1]
	}
	if err := write(dir); err != nil {
		fmt.Fprintln(os.Stderr, "schemagen:", err)
		os.Exit(1)
	}
}

func write(dir string) error {
	files, err := Generate(cue.FS)
	if err != nil {
		return err
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}
