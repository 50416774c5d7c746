package secret

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"sync"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/internal/handed"
)

// maxFileBytes bounds the secrets file.
const maxFileBytes = 1 << 20

// nameSyntax is what a placeholder can name, and so what the file may hold.
var nameSyntax = regexp.MustCompile(`^[A-Z_]+[A-Z0-9_]*$`)

// file is the secrets file: one YAML or JSON mapping of NAME to a scalar,
// taken as its text is written. It is read again when the size, the time or
// the identity of the file changes.
type file struct {
	path string

	mu      sync.Mutex
	info    os.FileInfo
	stamp   stamp
	entries map[string]string
}

type stamp struct {
	size int64
	mod  time.Time
	mode fs.FileMode
}

func stampOf(i os.FileInfo) stamp { return stamp{i.Size(), i.ModTime(), i.Mode()} }

// load gives the entries as they stand in the file now. The map is shared
// and must not be changed.
func (f *file) load() (map[string]string, error) {
	if f.path == "" {
		return nil, nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	info, err := os.Stat(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		f.info, f.entries = nil, nil
		return nil, nil
	}
	if err != nil {
		return nil, f.unreadable(err)
	}
	if f.info != nil && os.SameFile(info, f.info) && stampOf(info) == f.stamp {
		return f.entries, nil
	}
	f.info, f.entries = nil, nil
	h, err := openFile(f.path)
	if err != nil {
		return nil, f.unreadable(err)
	}
	defer h.Close()
	if info, err = h.Stat(); err != nil {
		return nil, f.unreadable(err)
	}
	if !info.Mode().IsRegular() {
		return nil, fault.New(fault.Usage, "secrets-unreadable", "the secrets file is not a regular file").At(f.path, "", 0, 0)
	}
	if why := tooOpen(info); why != "" && !handed.BySystemd(f.path, info.Mode()) {
		return nil, fault.New(fault.Usage, "secrets-permissions", "the secrets file %s; make it yours alone: chmod 600", why).At(f.path, "", 0, 0)
	}
	data, err := io.ReadAll(io.LimitReader(h, maxFileBytes+1))
	if err != nil {
		return nil, f.unreadable(err)
	}
	if len(data) > maxFileBytes {
		return nil, f.invalid(0, fmt.Sprintf("is larger than %d bytes", maxFileBytes))
	}
	entries, err := f.parse(data)
	if err != nil {
		return nil, err
	}
	f.info, f.stamp, f.entries = info, stampOf(info), entries
	return entries, nil
}

// parse reads the mapping. No message may repeat what the file says: it is
// all secret.
func (f *file) parse(data []byte) (entries map[string]string, err error) {
	defer func() {
		if recover() != nil {
			entries, err = nil, f.invalid(0, "cannot be read as YAML or JSON")
		}
	}()
	var doc yaml.Node
	if yaml.Unmarshal(data, &doc) != nil {
		return nil, f.invalid(0, "is not valid YAML or JSON")
	}
	entries = map[string]string{}
	if doc.Kind == 0 {
		return entries, nil // an empty file
	}
	root := doc.Content[0]
	if root.Kind == yaml.ScalarNode && root.ShortTag() == "!!null" {
		return entries, nil
	}
	if root.Kind != yaml.MappingNode {
		return nil, f.invalid(root.Line, "must be one mapping of NAME: value")
	}
	for i := 0; i+1 < len(root.Content); i += 2 {
		k, v := root.Content[i], root.Content[i+1]
		switch {
		case k.Kind != yaml.ScalarNode || !nameSyntax.MatchString(k.Value):
			return nil, f.invalid(k.Line, "has a name that no placeholder can refer to (capital letters, digits and _ only)")
		case v.Kind != yaml.ScalarNode:
			return nil, f.invalid(v.Line, "has a value that is not plain text")
		}
		if _, twice := entries[k.Value]; twice {
			return nil, f.invalid(k.Line, "has the same name twice")
		}
		if v.ShortTag() == "!!null" {
			entries[k.Value] = ""
			continue
		}
		entries[k.Value] = v.Value
	}
	return entries, nil
}

func (f *file) invalid(line int, what string) error {
	col := 0
	if line > 0 {
		col = 1
	}
	return fault.New(fault.Usage, "secrets-invalid", "the secrets file %s", what).At(f.path, "", line, col)
}

func (f *file) unreadable(cause error) error {
	return fault.New(fault.Usage, "secrets-unreadable", "the secrets file cannot be read").At(f.path, "", 0, 0).Because(cause)
}
