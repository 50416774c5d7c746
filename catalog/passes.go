package catalog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/internal/atomicfile"
)

// passesFile says, beside the documents of a folder outside the home, which of
// them passed their Local Pass. It is no tool.
const (
	passesFile     = "passed.json"
	maxPassesBytes = 8 << 20
)

// passes is passed.json: the passes of the documents in its folder, by toolId.
type passes struct {
	Version int             `json:"version"`
	Tools   map[string]Pass `json:"tools"`
}

// passesPath is where the pass of the document at path stands: in the tool's
// own folder, or beside the file.
func passesPath(path string) string {
	if st, err := os.Stat(path); err == nil && st.IsDir() {
		return filepath.Join(path, passesFile)
	}
	return filepath.Join(filepath.Dir(path), passesFile)
}

// readPasses reads a file of passes; one that does not exist is empty.
func readPasses(file string) (passes, error) {
	none := passes{Version: dataVersion, Tools: map[string]Pass{}}
	st, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return none, nil
	}
	if err == nil && !st.Mode().IsRegular() {
		return none, badPasses(file, "it is no regular file", nil)
	}
	if err == nil && st.Size() > maxPassesBytes {
		return none, badPasses(file, "it is larger than 8 MiB", nil)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return none, badPasses(file, "it is not readable", err)
	}
	var p passes
	if err := jsonv2.Unmarshal(data, &p, jsonv2.RejectUnknownMembers(true)); err != nil {
		return none, badPasses(file, err.Error(), err)
	}
	if p.Version != dataVersion {
		return none, badPasses(file, fmt.Sprintf("it has version %d, this build reads version %d", p.Version, dataVersion), nil)
	}
	if p.Tools == nil {
		p.Tools = none.Tools
	}
	return p, nil
}

func badPasses(file, what string, cause error) *fault.Error {
	return fault.New(fault.Usage, "bad-passes", "%s does not say which tools passed: %s; delete it, and publish them again with: toolwarrant test SPEC --write", file, what).
		At(file, "", 0, 0).Because(cause)
}

// PassBeside records a Local Pass of exactly that digest beside the document of
// t, so that every installation whose operator names the folder knows of it;
// nil takes the pass back. Tools of the home and bundled ones are left alone:
// state.json speaks of them.
func (c *Catalog) PassBeside(ctx context.Context, t *Tool, pass *Pass) error {
	if t.Source == SourceBuiltin || t.Path == "" || c.inHome(t.Path) {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	file := passesPath(t.Path)
	change := func() error {
		p, err := readPasses(file)
		if err != nil {
			return err
		}
		if pass == nil {
			delete(p.Tools, t.Spec.ToolID)
		} else {
			p.Tools[t.Spec.ToolID] = nextPass(Pass{}, pass, c.now())
		}
		if err := p.write(file); err != nil {
			return err
		}
		return c.learn(ctx, t)
	}
	if c.options.Home == "" {
		return change()
	}
	// The lock is that of the home, as for the document. Of two homes that
	// publish into one folder at once, one pass may get lost: that tool stays
	// a draft.
	return locked(ctx, userDir(c.options.Home), change)
}

// learn reads the folders anew if t is of this catalog; c.mu is held.
func (c *Catalog) learn(ctx context.Context, t *Tool) error {
	for i := range c.docs {
		if c.docs[i].path == t.Path {
			return c.reload(ctx)
		}
	}
	return nil
}

func (p *passes) write(file string) error {
	var b bytes.Buffer
	err := jsonv2.MarshalWrite(&b, p, jsonv2.Deterministic(true), jsontext.WithIndent("  "))
	if err != nil {
		return fault.New(fault.Internal, "passes-unwritable", "%s cannot be written", file).At(file, "", 0, 0).Because(err)
	}
	b.WriteByte('\n')
	// 0o644: it is no secret, and whoever serves the folder has to read it.
	if err := atomicfile.WriteFile(file, b.Bytes(), 0o644); err != nil {
		return fault.New(fault.Usage, "passes-unwritable",
			"the pass cannot be written to %s: make the folder writable, or have its operator serve it with catalog.trust-folders; nothing was published: %v", file, err).
			At(file, "", 0, 0).Because(err)
	}
	return nil
}

// inHome reports whether path is in the folder under the home, where
// state.json says what passed.
func (c *Catalog) inHome(path string) bool {
	if c.options.Home == "" {
		return false
	}
	real := func(p string) string {
		if abs, err := filepath.Abs(p); err == nil {
			p = abs
		}
		if followed, err := filepath.EvalSymlinks(p); err == nil {
			p = followed
		}
		return p
	}
	rel, err := filepath.Rel(real(userDir(c.options.Home)), real(path))
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}
