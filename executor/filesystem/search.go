package filesystem

import (
	"context"
	"io/fs"
	"unicode/utf8"

	"github.com/toolwarrant/toolwarrant/executor/worker"
)

const (
	maxSearched = 64 << 20 // bytes that one search reads
	maxFound    = 16 << 20 // bytes of lines that one search returns
)

// SearchOptions are the options of SearchInFiles.
type SearchOptions struct {
	CaseInsensitive bool
	Limit           int64 // lines to return; up to MaxEntries, which is also the default
	MaxDepth        int64 // as in FindOptions
}

// Match is one line that a search found.
type Match struct {
	File string // relative to the base
	Line int    // counted from 1
	Text string
}

// SearchInFiles gives the lines in which pattern (RE2 syntax) matches, of all
// files below dir ("" = the base) whose name matches glob ("" = *). Files that
// are no UTF-8 text or larger than MaxFile are passed over, symbolic links are
// not followed.
func (f *FS) SearchInFiles(ctx context.Context, dir, glob, pattern string, opts SearchOptions) ([]Match, *worker.Failure) {
	if dir == "" {
		dir = "."
	}
	if glob == "" {
		glob = "*"
	}
	if pattern == "" {
		return nil, invalid(GrepPatternRequired, "a pattern is required")
	}
	names, ok := compileGlob(glob)
	if !ok {
		return nil, invalid(FindInvalidGlob, "the glob is not valid: "+clip(glob))
	}
	p, ok := compile(pattern, opts.CaseInsensitive)
	if !ok {
		return nil, invalid(GrepInvalidPattern, "the pattern is not valid, is too large, or uses what RE2 lacks (look-around, back-references)")
	}
	root, name, fail := f.enter("searchInFiles", false, dir)
	if fail != nil {
		return nil, fail
	}
	limit := int(min(opts.Limit, MaxEntries))
	if limit <= 0 {
		limit = MaxEntries
	}
	s := search{pattern: p, limit: limit, out: []Match{}}
	fail = walk(ctx, root, name, opts.MaxDepth, func(path string, e fs.DirEntry) *worker.Failure {
		if !e.Type().IsRegular() || !names.MatchString(e.Name()) || len(s.out) == s.limit {
			return nil
		}
		data, fail := readFile(ctx, root, path)
		if fail != nil {
			if fail.Reason == Interrupted || fail.Reason == PathEscapesBase {
				return fail
			}
			return nil // too large, gone meanwhile, or closed to this process
		}
		if s.read += int64(len(data)); s.read > maxSearched {
			return invalid(TooManyEntries, "the files to search are larger than 64 MiB in all; name a deeper folder or a narrower glob")
		}
		if !utf8.Valid(data) {
			return nil
		}
		return s.file(ctx, display(path), string(data))
	})
	f.record("searchInFiles", display(name), s.read)
	if fail == nil {
		// A match that the end of the call cut short may have missed.
		fail = over(ctx)
	}
	if fail != nil {
		return nil, fail
	}
	return s.out, nil
}

type search struct {
	pattern pattern
	limit   int
	read    int64
	size    int
	work    int
	out     []Match
}

func (s *search) file(ctx context.Context, name, text string) *worker.Failure {
	for n := 1; text != "" && len(s.out) < s.limit; n++ {
		var line string
		line, text = cutLine(text)
		if s.work += s.pattern.size * (len(line) + 16); s.work > maxWork {
			if fail := over(ctx); fail != nil {
				return fail
			}
			s.work = 0
		}
		if !s.pattern.match(ctx, line) {
			continue
		}
		if s.size += len(line) + len(name); s.size > maxFound {
			return invalid(FileTooLarge, "the lines found are larger than 16 MiB; name a limit")
		}
		s.out = append(s.out, Match{File: name, Line: n, Text: line})
	}
	return nil
}
