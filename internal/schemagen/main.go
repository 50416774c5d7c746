// Command schemagen writes the JSON Schemas under schemas/ from the CUE
// formats under cue/. Run it from the root of the repository, or through
// go generate; its output depends on the CUE sources alone.
//
// CUE's own JSON Schema encoder does the work (generate.go). It is young and
// leaves some constraints out without a word, so improve.go adds what we use
// and it lacks, reading it from the CUE values, never from a list of its own;
// and the tests of package cue hold documents against both CUE and the
// generated schema and fail where the two do not agree. Three shapes are to
// be avoided in the sources, since the encoder loses them: defaults ("*a | b"
// drops the bounds of b; see #ConfigDefaults for the way out), "{...}" inside
// a closed struct (write "[string]: _"), and struct.MinFields anywhere but on
// a definition.
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
