package runner

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	wasys "github.com/tetratelabs/wazero/experimental/sys"

	"github.com/toolwarrant/toolwarrant/executor/sandbox/wasm/rootfs"
)

// maxScript bounds a script, in bytes.
const maxScript = 8 << 20

// errUsage is a command line that names no script.
var errUsage = errors.New("usage: NAME -e CODE [ARGUMENT...], NAME FILE [ARGUMENT...], or NAME with the script on standard input")

// source is where the text of a script comes from.
type source struct {
	name string // in traces
	code string // of -e
	file string // absolute, in the module's folders; "" = code, or input
	args []string
	read bool // from standard input
}

// readArgs finds the script that a command line asks for: -e CODE, a file, or
// nothing or - for standard input. dir is the folder of the command, for a
// relative name.
func readArgs(argv []string, dir string) (source, error) {
	switch {
	case len(argv) < 2:
		return source{name: "<stdin>", read: true}, nil
	case argv[1] == "-":
		return source{name: "<stdin>", read: true, args: argv[2:]}, nil
	case argv[1] == "-e" && len(argv) > 2:
		return source{name: "<code>", code: argv[2], args: argv[3:]}, nil
	case argv[1] == "" || argv[1][0] == '-':
		return source{}, errUsage
	}
	file := argv[1]
	if !path.IsAbs(file) {
		file = path.Join("/", dir, file)
	}
	return source{name: argv[1], file: path.Clean(file), args: argv[2:]}, nil
}

// text reads the script.
func (s source) text(folders []folder, in io.Reader) (string, error) {
	switch {
	case s.read:
		b, err := io.ReadAll(io.LimitReader(in, maxScript+1))
		if err != nil {
			return "", err
		}
		return bounded(string(b))
	case s.file != "":
		return readFile(folders, s.file)
	}
	return bounded(s.code)
}

func bounded(code string) (string, error) {
	if len(code) > maxScript {
		return "", fmt.Errorf("the script has more than %d bytes", maxScript)
	}
	return code, nil
}

// readFile reads a file as the module itself would: below one of its folders,
// by the rules of rootfs.
func readFile(folders []folder, file string) (string, error) {
	var in *folder
	rest := ""
	for _, f := range slices.SortedFunc(slices.Values(folders), func(a, b folder) int { return cmp.Compare(len(b.mount.Guest), len(a.mount.Guest)) }) {
		var ok bool
		if rest, ok = strings.CutPrefix(file, strings.TrimSuffix(f.mount.Guest, "/")+"/"); ok {
			in = &f
			break
		}
	}
	if in == nil {
		return "", fmt.Errorf("the file is in none of the folders of this sandbox: %q", file)
	}
	f, errno := rootfs.New(in.root, false).OpenFile(rest, wasys.O_RDONLY, 0)
	if errno != 0 {
		return "", fmt.Errorf("the script %q cannot be opened: %v", file, errno)
	}
	defer f.Close()
	var text []byte
	buf := make([]byte, 64<<10)
	for len(text) <= maxScript {
		n, errno := f.Read(buf)
		if errno != 0 {
			return "", fmt.Errorf("the script %q cannot be read: %v", file, errno)
		}
		if n == 0 {
			break
		}
		text = append(text, buf[:n]...)
	}
	return bounded(string(text))
}
