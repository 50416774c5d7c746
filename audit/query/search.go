package query

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/audit/index"
)

// Options say how records are searched for. The answer is the same with all
// of them.
type Options struct {
	NoIndex bool              // read the files alone
	Note    func(text string) // gets why an index was not used, nil = nobody
	// Places makes Offset of each line its place in the log, as audit.Lines
	// counts places, and not in its file.
	Places bool
	// From is the place at which the search begins, which is the begin of a
	// line; 0 = the whole log. It is for one log and with Places. From a place
	// at which no line begins, nothing may be found.
	From int64
}

// Select gives the closes of the files that fit to each, in the order of the
// files. The record and the line are valid during the call alone. An error of
// each ends the search and is returned.
func Select(ctx context.Context, files []string, f Filter, each func(audit.Record, audit.Line) error) error {
	return Search(ctx, files, f, Options{}, each)
}

// Search is Select with options. An index that is absent, damaged or of
// another log is no error: the files are read then, from the place on up to
// which it was of use.
func Search(ctx context.Context, files []string, f Filter, o Options, each func(audit.Record, audit.Line) error) error {
	if err := f.Check(); err != nil {
		return err
	}
	m := newMatcher(f)
	for _, file := range files {
		if err := m.search(ctx, file, o, each); err != nil {
			return err
		}
	}
	m.strangers(o.Note)
	return nil
}

func (m *matcher) search(ctx context.Context, file string, o Options, each func(audit.Record, audit.Line) error) error {
	read := func(l audit.Line) error {
		r, ok, err := m.match(l)
		if err != nil || !ok {
			return err
		}
		return each(r, l)
	}
	if o.NoIndex && !o.Places {
		return audit.Scan(ctx, []string{file}, read)
	}
	lines, err := audit.OpenLines(ctx, file)
	if err != nil {
		return audit.Scan(ctx, []string{file}, read) // which says what is wrong
	}
	defer lines.Close()
	at, why, err := m.indexed(ctx, file, lines, o.From, each)
	if err != nil {
		return err
	}
	if why != nil && o.Note != nil {
		o.Note(fmt.Sprintf("the index of %s was not used: %v; toolwarrant audit index makes it", file, why))
	}
	if at = max(at, o.From); at == 0 && !o.Places {
		return audit.Scan(ctx, []string{file}, read)
	}
	if err := lines.Each(ctx, max(at, lines.Begin()), read); !errors.Is(err, audit.ErrNoLine) {
		return err
	}
	return nil // it became shorter meanwhile
}

// indexed gives what the index of a log knows. Up to the place at all closes
// were given, but those before from; why says what hindered it.
func (m *matcher) indexed(ctx context.Context, file string, lines *audit.Lines, from int64, each func(audit.Record, audit.Line) error) (at int64, why, err error) {
	x, why := index.Open(ctx, file, lines)
	if why != nil {
		return 0, why, ctx.Err()
	}
	defer x.Close()
	begin := max(lines.Begin(), from)
	why = x.Search(ctx, m.want(), func(place int64, length int) error {
		if place < begin {
			return nil // removed, or not asked for
		}
		l, bad := lines.At(place, length)
		if bad != nil {
			return bad
		}
		r, ok, bad := m.match(l)
		if bad != nil {
			return bad // told with its line number by who reads on from here
		}
		if ok {
			if err = each(r, l); err != nil {
				return err
			}
		}
		at = place + int64(length) + 1
		return nil
	}, func(place int64) { at = place })
	if err == nil {
		err = ctx.Err()
	}
	return at, why, err
}

// want is the filter in the words of the index.
func (m *matcher) want() index.Want {
	var w index.Want
	if !m.Since.IsZero() {
		w.Since = m.Since.UnixMicro()
	}
	if !m.Until.IsZero() {
		w.Until = m.Until.UnixMicro()
	}
	for _, list := range []struct {
		kind  index.Kind
		texts []string
		fits  func(text string) func(string) bool
	}{
		{index.Tool, m.Tools, nil}, {index.Principal, m.Principals, nil}, {index.Outcome, m.Outcomes, nil}, {index.Code, m.Codes, nil},
		{index.Level, m.Levels, nil}, {index.Rule, m.Rules, nil}, {index.Host, m.Hosts, hostFits}, {index.Path, m.Paths, pathFits},
		{index.Path, m.Changed, changeFits}, {index.Call, m.CallIDs, nil},
	} {
		var choices []index.Choice
		for _, t := range list.texts {
			c := index.Choice{Kind: list.kind, Text: t}
			switch {
			case list.kind == index.Call:
				c.Text = index.CallTerm(t)
			case list.fits != nil:
				c.Fits = list.fits(t)
			}
			choices = append(choices, c)
		}
		if choices != nil {
			w.All = append(w.All, choices)
		}
	}
	return w
}

// moreEnd is how the entry of a record ends that stands for those which it has
// no room for. Any host and any file may be one of them: a call that touched
// more than a record holds is found by each, since the rest could hide one.
const moreEnd = " more)"

func isMore(text string) bool {
	return strings.HasPrefix(text, "(") && strings.HasSuffix(text, moreEnd)
}

// hostFits says which hosts a pattern is for.
func hostFits(pattern string) func(string) bool {
	return func(host string) bool { ok, _ := path.Match(pattern, host); return ok || isMore(host) }
}

// pathFits says which files a pattern, or a folder, is for.
func pathFits(pattern string) func(string) bool {
	return func(file string) bool {
		ok, _ := path.Match(pattern, file)
		return ok || strings.HasSuffix(pattern, "/") && strings.HasPrefix(file, pattern) || isMore(file)
	}
}

// changeFits is pathFits, and says which folders are above such a file: whoever
// moves or deletes one changes the file.
func changeFits(pattern string) func(string) bool {
	fits, parts := pathFits(pattern), strings.Split(strings.TrimSuffix(pattern, "/"), "/")
	return func(file string) bool {
		n := strings.Count(file, "/") + 1
		if n > len(parts) || fits(file) {
			return fits(file)
		}
		ok, _ := path.Match(strings.Join(parts[:n], "/"), file)
		return ok
	}
}
