package audit

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolwarrant/toolwarrant/fault"
)

// source is one file of a log, to be read: plain or compressed.
type source struct {
	path  string
	first uint64   // seq of its first line, 0 when it is not known yet
	found bool     // listed as a closed segment of a log, which may be removed since
	held  *os.File // of the file that grows: the one that the closed files were listed for

	objects string // the folder of the objects of this log, which need not be there
}

// errNoPlace says that no line begins at an offset: the log became shorter, or
// is another one.
var errNoPlace = errors.New("audit: no line begins there")

// damaged is a compressed file that cannot be read to its end.
type damaged struct{ err error }

func (d *damaged) Error() string { return "the compressed file is damaged: " + d.err.Error() }
func (d *damaged) Unwrap() error { return d.err }

// sources are the files of a log in their order.
type sources []*source

func (s sources) close() {
	for _, x := range s {
		if x.held != nil {
			_ = x.held.Close()
		}
	}
}

// expand gives the files of the log at path: its closed segments, then
// itself. Of any other file it gives that file alone.
func expand(path string) (sources, error) {
	f, err := os.Open(path)
	if err != nil {
		if _, e := os.Stat(path + gzipExt); errors.Is(err, fs.ErrNotExist) && e == nil {
			return sources{{path: path + gzipExt, objects: objectsOf(path)}}, nil
		}
		return nil, unreadable(path, err)
	}
	// The file is opened first: whatever it was before is listed then, however
	// often the log is rotated meanwhile.
	own := &source{path: path, held: f, objects: objectsOf(path)}
	closed, err := closedSegments(stateOf(path), path)
	if err == nil && len(closed) > 0 {
		var line []byte
		line, err = firstLine(io.NewSectionReader(f, 0, 1<<62))
		if h, ok := parseHead(line); ok {
			own.first = h.Seq
		}
	}
	if err != nil {
		_ = f.Close()
		return nil, unreadable(path, err)
	}
	var out sources
	for _, c := range closed {
		if own.first == 0 || c.first < own.first {
			out = append(out, &source{path: c.path, first: c.first, found: true, objects: own.objects})
		}
	}
	return append(out, own), nil
}

// movedOn reports whether one of the logs has rotated since its files were
// listed: what became of files that were gone then may stand in one that was
// not listed.
func (s sources) movedOn() bool {
	return slices.ContainsFunc(s, func(x *source) bool {
		if x.held == nil {
			return false
		}
		then, err := x.held.Stat()
		now, err2 := os.Stat(x.path)
		return err == nil && err2 == nil && !os.SameFile(then, now)
	})
}

func unreadable(path string, err error) error {
	e := fault.New(fault.Usage, "unreadable", "cannot read the audit log %s: name a file that this user may read", path).Because(err)
	e.File = path
	return e
}

// reader is an open source.
type reader struct {
	io.Reader
	file   *os.File
	gzip   bool
	borrow bool
}

func (r *reader) Close() error {
	if r.borrow {
		return nil
	}
	return r.file.Close()
}

// open opens a file at its begin. A closed segment that was compressed
// meanwhile is found under its new name. settle waits until no writer is in
// the middle of a write.
func (s *source) open(ctx context.Context, settle bool) (*reader, error) {
	r := &reader{file: s.held, borrow: s.held != nil}
	if s.held == nil {
		var err error
		r.file, err = os.Open(s.path)
		if errors.Is(err, fs.ErrNotExist) && filepath.Ext(s.path) != gzipExt {
			if r.file, err = os.Open(s.path + gzipExt); err == nil {
				s.path += gzipExt
			}
		}
		if err != nil {
			return nil, unreadable(s.path, err)
		}
	}
	var magic [2]byte
	if n, _ := r.file.ReadAt(magic[:], 0); n == 2 && magic == [2]byte{0x1f, 0x8b} {
		// Its own place in the file: a file that is held is opened more than once.
		z, err := gzip.NewReader(bufio.NewReaderSize(io.NewSectionReader(r.file, 0, math.MaxInt64), 256<<10))
		if err != nil {
			_ = r.Close()
			return nil, &damaged{err}
		}
		r.gzip, r.Reader = true, z
		return r, nil
	}
	size, err := s.size(ctx, r.file, settle)
	if err != nil {
		_ = r.Close()
		return nil, unreadable(s.path, err)
	}
	r.Reader = io.NewSectionReader(r.file, 0, size)
	return r, nil
}

func (s *source) size(ctx context.Context, f *os.File, settle bool) (int64, error) {
	if settle {
		return settledSize(ctx, s.path, f)
	}
	st, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return st.Size(), nil
}

// lines gives the lines from the one that begins at offset on, and the offset
// after the last of them, the torn one included.
func (s *source) lines(ctx context.Context, offset int64, settle bool, f func(n int, offset int64, l rawLine) error) (int64, error) {
	r, err := s.open(ctx, settle)
	if s.found && errors.Is(err, fs.ErrNotExist) {
		return offset, nil // removed; the next file and the record of it say so
	}
	if err != nil {
		return offset, err
	}
	defer r.Close()
	if err := r.skip(offset); err != nil {
		return offset, s.failed(r, err)
	}
	lines := newLineReader(r)
	for n := 1; ; n++ {
		l, err := lines.next()
		if err == io.EOF {
			return offset, nil
		}
		if err != nil {
			return offset, s.failed(r, err)
		}
		if err := ctx.Err(); err != nil {
			return offset, err
		}
		if err := f(n, offset, l); err != nil {
			return offset, err
		}
		offset += l.size
	}
}

func (s *source) failed(r *reader, err error) error {
	if errors.Is(err, errNoPlace) {
		return err
	}
	if r.gzip {
		return &damaged{err}
	}
	return unreadable(s.path, err)
}

// skip goes to offset, where a line has to begin.
func (r *reader) skip(offset int64) error {
	if offset == 0 {
		return nil
	}
	var err error
	if plain, ok := r.Reader.(*io.SectionReader); ok {
		_, err = plain.Seek(offset-1, io.SeekStart)
	} else {
		_, err = io.CopyN(io.Discard, r, offset-1)
	}
	var before [1]byte
	if err == nil {
		_, err = io.ReadFull(r, before[:])
	}
	if err == io.EOF || err == nil && before[0] != '\n' {
		return errNoPlace
	}
	return err
}

// origin reads the first line.
func (s *source) origin(ctx context.Context) (origin, error) {
	r, err := s.open(ctx, false)
	if err != nil {
		return origin{base: -1}, err
	}
	defer r.Close()
	line, err := firstLine(r)
	if err != nil {
		return origin{base: -1}, s.failed(r, err)
	}
	o, _ := originOf(line)
	return o, nil
}

// base is the offset of file i in the log: as it says itself, or after the
// one before it.
func (s sources) base(ctx context.Context, i int) (int64, error) {
	o, err := s[i].origin(ctx)
	if err != nil || o.base >= 0 || i == 0 {
		return max(0, o.base), err
	}
	before, err := s.base(ctx, i-1)
	if err != nil {
		return 0, err
	}
	size, err := s[i-1].lines(ctx, 0, false, func(int, int64, rawLine) error { return nil })
	return before + size, err
}

// eachFrom gives the lines of the log at path, closed segments included, from
// the one that begins at offset of the log on. settle is false for who holds
// the lock of the log. It ends with errNoPlace where no line begins there.
func eachFrom(ctx context.Context, path string, offset int64, settle bool, f func(s *source, n int, offset int64, l rawLine) error) error {
	set, err := expand(path)
	if err != nil {
		return err
	}
	defer set.close()
	i := len(set) - 1
	base, err := set.base(ctx, i)
	for err == nil && i > 0 && offset < base {
		i--
		base, err = set.base(ctx, i)
	}
	if err != nil {
		return err
	}
	for at := max(0, offset-base); i < len(set); i++ {
		end, err := set[i].lines(ctx, at, settle, func(n int, at int64, l rawLine) error { return f(set[i], n, base+at, l) })
		if err != nil {
			return err
		}
		base, at = base+end, 0
	}
	return nil
}

// sameName is one name for a file that can be reached by several.
func sameName(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return filepath.Clean(path)
}

// inOrder gives the files of the logs at paths, each once, by the seq of the
// first line that can be read. Files without one keep their place at the end.
func inOrder(ctx context.Context, paths []string) (out sources, err error) {
	defer func() {
		if err != nil {
			out.close()
		}
	}()
	seen := map[string]bool{}
	for _, p := range paths {
		set, err := expand(p)
		if err != nil {
			return out, err
		}
		for _, s := range set {
			name := strings.TrimSuffix(sameName(s.path), gzipExt)
			if seen[name] {
				sources{s}.close()
				continue
			}
			seen[name] = true
			out = append(out, s)
		}
	}
	if len(out) < 2 {
		return out, nil
	}
	enough := errors.New("enough")
	for _, s := range out {
		if s.first > 0 {
			continue
		}
		s.first = ^uint64(0)
		_, err := s.lines(ctx, 0, false, func(_ int, _ int64, l rawLine) error {
			if h, ok := parseHead(l.bytes); ok && !l.torn {
				s.first = h.Seq
				return enough
			}
			return nil
		})
		if bad := new(damaged); err != nil && !errors.Is(err, enough) && !errors.As(err, &bad) {
			return out, err
		}
	}
	slices.SortStableFunc(out, func(a, b *source) int { return cmp.Compare(a.first, b.first) })
	return out, nil
}
