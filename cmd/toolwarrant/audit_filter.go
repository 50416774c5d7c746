package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/audit/query"
	"github.com/toolwarrant/toolwarrant/executor/mask"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/keyring"
)

// logFiles are the files that a verb of audit reads: those that are named, or
// the log of this installation.
func (a *app) logFiles(named []string) ([]string, error) {
	if len(named) > 0 {
		return named, nil
	}
	home, cfg, err := a.settings(nil)
	if err != nil {
		return nil, err
	}
	if cfg.Audit.File != "" {
		return []string{cfg.Audit.File}, nil
	}
	return []string{filepath.Join(home, "audit", audit.FileName)}, nil
}

// filterFlags are the flags that choose records.
type filterFlags struct {
	query.Filter
	since, until string
	params       []string
	noIndex      bool
}

func (f *filterFlags) add(c *cobra.Command) {
	p := c.Flags()
	p.StringVar(&f.since, "since", "", "closes at or after a `TIME`: RFC 3339, a date, or how long ago, such as 24h")
	p.StringVar(&f.until, "until", "", "closes before a `TIME`")
	p.StringSliceVar(&f.Tools, "tool", nil, "of the tool, by name or toolId")
	p.StringSliceVar(&f.Principals, "principal", nil, "of the caller, by subject or client")
	p.StringSliceVar(&f.Outcomes, "outcome", nil, "OK, DENIED or ERROR")
	p.StringSliceVar(&f.Codes, "code", nil, "with this error, as CODE or CODE/reason")
	p.StringSliceVar(&f.Levels, "level", nil, "of this risk level")
	p.StringSliceVar(&f.Rules, "rule", nil, "that this rule had a part in, by the id of its signal, its reason or its choice to ask a human")
	p.StringSliceVar(&f.Hosts, "host", nil, "that talked to this host, or tried to; * stands for any part")
	p.StringSliceVar(&f.Paths, "path", nil, "that touched this file; a folder ends in /")
	p.StringSliceVar(&f.Changed, "changed", nil, "that wrote, copied, moved or deleted this file, or a folder above it, or tried to; a folder ends in /")
	p.StringArrayVar(&f.params, "param", nil, "with this argument, as `NAME=VALUE` or /name/member=VALUE; also where it is recorded as a digest")
	p.StringSliceVar(&f.CallIDs, "call", nil, "with this callId, or that goes on with it")
}

// addIndex is of the verbs that use the index of a log.
func (f *filterFlags) addIndex(c *cobra.Command) {
	c.Flags().BoolVar(&f.noIndex, "no-index", false, "read the files alone; the answer is the same")
}

// options say how to search; why an index was not used goes to the terminal.
func (a *app) options(f *filterFlags) query.Options {
	return query.Options{NoIndex: f.noIndex, Note: func(text string) { fmt.Fprintln(a.std.err, mask.Visible(text)) }}
}

// filter gives the filter of the flags.
func (f *filterFlags) filter(now time.Time) (query.Filter, error) {
	if err := span(f.since, f.until, now, &f.Since, &f.Until); err != nil {
		return query.Filter{}, err
	}
	for _, text := range f.params {
		p, err := query.ParseParam(text)
		if err != nil {
			return query.Filter{}, err
		}
		f.Params = append(f.Params, p)
	}
	return f.Filter, f.Check()
}

// span reads --since and --until.
func span(since, until string, now time.Time, from, to *time.Time) error {
	for _, t := range []struct {
		flag, text string
		at         *time.Time
	}{{"since", since, from}, {"until", until, to}} {
		if t.text == "" {
			continue
		}
		var err error
		if *t.at, err = moment(t.text, now); err != nil {
			return fault.New(fault.Usage, t.flag, "--%s %q is no time; write 2026-11-28T10:00:00Z, 2026-11-28, or how long ago, such as 24h", t.flag, t.text)
		}
	}
	return nil
}

// asked is what a verb of audit looks for, and where.
func (a *app) asked(flags *filterFlags, named []string) (query.Filter, []string, error) {
	f, err := flags.filter(time.Now())
	if err != nil {
		return f, nil, err
	}
	if len(f.Params) > 0 {
		if f.Key, err = a.paramKeys(); err != nil {
			return f, nil, err
		}
	}
	files, err := a.logFiles(named)
	if err == nil {
		err = areLogs(files)
	}
	return f, files, err
}

// areLogs refuses files that begin with something else than a log: that no call
// is found in one is no answer. Lines are not looked at further, since a log may
// be damaged, nor is what cannot be read, which is told later.
func areLogs(files []string) error {
	for _, file := range files {
		if !isLog(file) {
			return fault.New(fault.Usage, "no-log", "%s is no audit log: no record stands at its begin", file)
		}
	}
	return nil
}

// logHead is how much of a file is looked at for a record: two of the largest,
// of which most have it in the first bytes.
const logHead = 8 << 20

// isLog looks into no pipe: what is read of one is gone.
func isLog(file string) bool {
	if st, err := os.Stat(file); err != nil || st.Mode()&(fs.ModeNamedPipe|fs.ModeSocket) != 0 {
		return true
	}
	f, err := os.Open(file)
	if err != nil {
		return true
	}
	defer f.Close()
	var head []byte
	for size := int64(4 << 10); ; size = logHead - size {
		more, err := io.ReadAll(io.LimitReader(f, size))
		head = append(head, more...)
		if err != nil || len(head) == 0 || bytes.HasPrefix(head, []byte{0x1f, 0x8b}) || bytes.Contains(head, []byte(`"schema":"toolwarrant.audit/`)) {
			return true
		}
		if int64(len(more)) < size || len(head) == logHead {
			return false
		}
	}
}

// paramKeys gives the keys of the keyed digests of arguments. A home that has
// no keyring knows none, and is not given one for a search.
func (a *app) paramKeys() (func(id string) ([]byte, bool), error) {
	home, _, err := a.settings(nil)
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(home, "keys")
	if _, err := os.Stat(filepath.Join(dir, keyring.FileName)); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	keys, err := keyring.Open(dir)
	if err != nil {
		return nil, err
	}
	return func(id string) ([]byte, bool) {
		key, known, err := keys.Lookup(keyring.ParamValue, id)
		return key.Bytes, known && err == nil
	}, nil
}

// moment reads a time, or how long ago it was.
func moment(s string, now time.Time) (time.Time, error) {
	if d, err := time.ParseDuration(s); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	if t, err := time.Parse(time.DateOnly, s); err == nil {
		return t, nil
	}
	return time.Parse(time.RFC3339, s)
}
