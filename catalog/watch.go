package catalog

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/toolwarrant/toolwarrant/digest"
)

// Watch reloads at every tick at which the files of the catalog are others
// than at the tick before, so that what another process published or drafted
// takes effect here. It returns when ctx ends. report is told of each reload
// that changed something, failed, or followed a failed one; after a failed one the last good content stays, and the reload is
// tried again at the next tick.
func (c *Catalog) Watch(ctx context.Context, ticks <-chan time.Time, report func(error)) {
	failed := false
	last := "" // unknown, so that what happened since Open is not missed
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks:
		}
		now := c.fingerprint()
		if now == last {
			continue
		}
		before := c.Revision()
		err := c.Reload(ctx)
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			last = now
			if !failed && c.Revision() == before {
				continue // the files say what they said
			}
		}
		failed = err != nil
		report(err)
	}
}

// fingerprint names the files of the catalog by path, size and time of
// change. It is taken before a reload: a change during the reload differs
// from it at the next tick.
func (c *Catalog) fingerprint() string {
	var b strings.Builder
	add := func(path string) {
		if st, err := os.Stat(path); err == nil {
			fmt.Fprintf(&b, "%q %d %d %v\n", path, st.Size(), st.ModTime().UnixNano(), st.Mode())
		}
	}
	dirs := c.folders()
	if c.options.Home != "" {
		dirs = append(dirs, userDir(c.options.Home))
		add(c.statePath())
	}
	for _, dir := range dirs {
		paths, err := toolPaths(dir)
		if err != nil {
			fmt.Fprintf(&b, "%q %v\n", dir, err)
		}
		for _, path := range append(paths, dir) {
			add(path)
			add(filepath.Join(path, "spec.json"))
			add(filepath.Join(path, "action.js"))
			add(filepath.Join(path, passesFile))
		}
	}
	return digest.Bytes([]byte(b.String()))
}
