// Command isstatic says whether ELF executables need nothing from the machine
// that they run on: no interpreter and no shared library.
package main

import (
	"debug/elf"
	"fmt"
	"os"
)

func main() {
	ok := len(os.Args) > 1
	for _, path := range os.Args[1:] {
		needs, err := dynamic(path)
		switch {
		case err != nil:
			fmt.Fprintln(os.Stderr, "isstatic:", err)
			ok = false
		case needs != "":
			fmt.Printf("%s: %s\n", path, needs)
			ok = false
		default:
			fmt.Printf("%s: static\n", path)
		}
	}
	if !ok {
		os.Exit(1)
	}
}

// dynamic says what an executable needs, or "".
func dynamic(path string) (string, error) {
	f, err := elf.Open(path)
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			return "has an interpreter", nil
		}
	}
	libs, err := f.ImportedLibraries()
	if err != nil || len(libs) == 0 {
		return "", nil // an error here only says that there is no dynamic section
	}
	return fmt.Sprintf("needs %v", libs), nil
}
