package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/toolwarrant/toolwarrant/executor/mask"
	"github.com/toolwarrant/toolwarrant/fault"
)

// watchEvery is how often the files of a tool are looked at.
const watchEvery = 200 * time.Millisecond

// watched calls once, and again whenever a file of the tool at path is another
// one, until ctx ends. What is wrong with the tool, or with a call, is printed
// and ends nothing.
func (a *app) watched(ctx context.Context, path string, once func() error) error {
	if _, err := os.Stat(path); err != nil {
		return fault.New(fault.Usage, "unreadable", "there is no %s to watch; name a file or a folder", path).Because(err)
	}
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		seen := fingerprint(path)
		if err := once(); err != nil && ctx.Err() == nil {
			a.fail(err)
		}
		if ctx.Err() != nil {
			return nil
		}
		fmt.Fprintf(a.std.err, "-- waiting for a change of %s; Ctrl-C ends\n", mask.Visible(path))
		for fingerprint(path) == seen {
			select {
			case <-ctx.Done():
				return nil
			case <-tick.C:
			}
		}
	}
}

// fingerprint names the state of a file, or of the files below a folder that an
// author writes.
func fingerprint(path string) string {
	var b strings.Builder
	err := filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			b.WriteString(p + " " + err.Error() + "\n")
			return nil
		}
		if d.IsDir() {
			if name := d.Name(); p != path && (strings.HasPrefix(name, ".") || name == "node_modules" || name == "types") {
				return fs.SkipDir
			}
			return nil
		}
		if strings.HasPrefix(d.Name(), ".") {
			return nil // what editors keep beside a file
		}
		info, err := d.Info()
		if err != nil {
			b.WriteString(p + " " + err.Error() + "\n")
			return nil
		}
		b.WriteString(fmt.Sprintln(p, info.Size(), info.ModTime().UnixNano()))
		return nil
	})
	if err != nil {
		b.WriteString(err.Error())
	}
	return b.String()
}
