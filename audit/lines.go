package audit

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
)

// ErrNoLine says that no record begins at an offset, or not of that length:
// the log is another one, became shorter, or lost the file.
var ErrNoLine = errors.New("audit: no record of that length begins there")

// StateDir is the folder of what goes with the log at path. It need not be
// there.
func StateDir(path string) string { return stateOf(path) }

// Lines reads a log by the places of its lines, for what keeps places and not
// lines. A place is an offset in bytes through all files of the log, from the
// first line that it ever had on: it stays what it is when files are rotated,
// compressed or removed. Lines sees the files of the time it was opened at,
// and of the one that grows what comes. It is not safe for concurrent use.
type Lines struct {
	set  sources
	base []int64

	open int // index of the file that r reads, -1 = none
	r    *reader
	at   int64  // of a compressed file: where r stands in it
	prev byte   // the byte before at
	buf  []byte // of the last line
}

// OpenLines opens the log at path. Close must be called. A file that cannot
// be read is a USAGE error.
func OpenLines(ctx context.Context, path string) (*Lines, error) {
	set, err := expand(path)
	if err != nil {
		return nil, err
	}
	l := &Lines{open: -1}
	for i, s := range set {
		base, err := set.base(ctx, i)
		if s.found && errors.Is(err, fs.ErrNotExist) {
			continue // removed meanwhile
		}
		if err != nil {
			set.close()
			return nil, err
		}
		l.set, l.base = append(l.set, s), append(l.base, base)
	}
	return l, nil
}

// Begin is the place of the first line that is left.
func (l *Lines) Begin() int64 {
	if len(l.base) == 0 {
		return 0
	}
	return l.base[0]
}

// Starts are the places where the files that are left begin, ascending.
func (l *Lines) Starts() []int64 { return slices.Clone(l.base) }

// Each gives the records from the line that begins at the place from on, as
// Scan does; Offset of a Line is its place, Number counts from there or from
// the begin of its file. It ends with ErrNoLine where no line begins at from.
func (l *Lines) Each(ctx context.Context, from int64, f func(Line) error) error {
	for i, s := range l.set {
		if i+1 < len(l.set) && l.base[i+1] <= from {
			continue
		}
		_, err := s.lines(ctx, max(0, from-l.base[i]), true, func(n int, at int64, raw rawLine) error {
			return toLine(s, n, l.base[i]+at, raw, f)
		})
		if errors.Is(err, errNoPlace) {
			return ErrNoLine
		}
		if bad := new(damaged); errors.As(err, &bad) {
			return unreadable(s.path, err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// At gives the record of length bytes, without its newline, at a place. A
// compressed file is read forward, so places should ascend. Number is 0, Raw
// is valid until the next call. The error is ErrNoLine where there is no such
// record.
func (l *Lines) At(place int64, length int) (Line, error) {
	i := len(l.set) - 1
	for i >= 0 && place < l.base[i] {
		i--
	}
	if i < 0 || length <= 0 || length > maxLine {
		return Line{}, ErrNoLine
	}
	at := place - l.base[i]
	if i != l.open || l.r.gzip && at < l.at {
		if err := l.turn(i); err != nil {
			return Line{}, err
		}
	}
	if cap(l.buf) < length+2 {
		l.buf = make([]byte, length+2+length/2)
	}
	// The byte before, the line, and its newline.
	b := l.buf[:length+2]
	if err := l.fill(b, at); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return Line{}, ErrNoLine
		}
		return Line{}, l.set[i].failed(l.r, err)
	}
	raw := b[1 : length+1]
	h, ok := parseHead(raw)
	if !ok || b[0] != '\n' || b[length+1] != '\n' || bytes.IndexByte(raw, '\n') >= 0 {
		return Line{}, ErrNoLine
	}
	return Line{File: l.set[i].path, Offset: place, Raw: raw, Head: h}, nil
}

// fill reads the byte before at, as a newline if there is none, and what
// follows it.
func (l *Lines) fill(b []byte, at int64) error {
	if !l.r.gzip {
		if at == 0 {
			b[0] = '\n'
			_, err := l.r.file.ReadAt(b[1:], 0)
			return err
		}
		_, err := l.r.file.ReadAt(b, at-1)
		return err
	}
	if skip := at - l.at; skip > 0 {
		if _, err := io.CopyN(io.Discard, l.r, skip-1); err != nil {
			return err
		}
		if _, err := io.ReadFull(l.r, b[:1]); err != nil {
			return err
		}
		l.prev = b[0]
	}
	b[0] = l.prev
	n, err := io.ReadFull(l.r, b[1:])
	l.at = at + int64(n)
	if n > 0 {
		l.prev = b[n]
	}
	return err
}

// turn goes to the begin of another file.
func (l *Lines) turn(i int) error {
	if l.r != nil {
		_ = l.r.Close()
	}
	l.open, l.r, l.at, l.prev = -1, nil, 0, '\n'
	s := l.set[i]
	r, err := s.open(context.Background(), false)
	if s.found && errors.Is(err, os.ErrNotExist) {
		return ErrNoLine
	}
	if err != nil {
		return err
	}
	l.open, l.r = i, r
	return nil
}

// Close gives the files back.
func (l *Lines) Close() {
	if l.r != nil {
		_ = l.r.Close()
	}
	l.set.close()
}
