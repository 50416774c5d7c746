package audit

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/toolwarrant/toolwarrant/fault"
)

// Record is a line as a program reads it. Of the fields that are not of its
// phase nothing is set.
type Record struct {
	Time   string  `json:"time"`
	Schema string  `json:"schema"`
	Seq    uint64  `json:"seq"`
	Prev   *string `json:"prev"`
	Writer string  `json:"writer"`

	Call // ask, open, close; of an event the principal

	Kind   *string         `json:"kind"`   // object, event
	Digest *string         `json:"digest"` // object
	Bytes  *int64          `json:"bytes"`  // object
	Detail json.RawMessage `json:"detail"` // event

	Sum string `json:"sum"`
}

// Line is one line of a log.
type Line struct {
	File   string
	Number int   // 1-based
	Offset int64 // of its first byte in the file
	Raw    []byte
	Head   Head
}

// Decode gives the whole record.
func (l Line) Decode() (Record, error) {
	var r Record
	if err := json.Unmarshal(l.Raw, &r); err != nil {
		return Record{}, fault.New(fault.AuditUnavailable, ReasonIO, "line %d of %s is no audit record; run toolwarrant audit verify on it", l.Number, l.File).Because(err)
	}
	return r, nil
}

// Scan gives the lines of the files to f, in the order of the files, without
// checking the chain. A log stands for its closed segments too, which come
// first; compressed files are read as plain ones are. Lines that are no
// records and an unfinished last line are left out: Verify names them. Raw is
// only valid during the call of f. An error of f ends the scan and is returned
// as it is; a file that cannot be read is a USAGE error.
func Scan(ctx context.Context, paths []string, f func(Line) error) error {
	for _, path := range paths {
		set, err := expand(path)
		if err != nil {
			return err
		}
		err = set.scan(ctx, f)
		set.close()
		if err != nil {
			return err
		}
	}
	return nil
}

func (s sources) scan(ctx context.Context, f func(Line) error) error {
	for _, x := range s {
		_, err := x.lines(ctx, 0, true, func(n int, at int64, l rawLine) error { return toLine(x, n, at, l, f) })
		if bad := new(damaged); errors.As(err, &bad) {
			return unreadable(x.path, err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// toLine gives a record to f.
func toLine(s *source, n int, at int64, l rawLine, f func(Line) error) error {
	if l.torn {
		return nil
	}
	h, ok := parseHead(l.bytes)
	if !ok || l.tooLong {
		return nil
	}
	return f(Line{File: s.path, Number: n, Offset: at, Raw: l.bytes, Head: h})
}

// ScanFrom is Scan of one log, from the line that begins at offset on, for
// readers of a log that grows. Offsets count through all files of the log,
// from its first line on, as those of a Line do here; they stay what they are
// when it is rotated. It returns the offset to go on from: where the first
// line begins that is not finished. Line numbers count from offset, or from
// the begin of a file.
func ScanFrom(ctx context.Context, path string, offset int64, f func(Line) error) (next int64, err error) {
	next = offset
	err = eachFrom(ctx, path, offset, true, func(s *source, n int, at int64, l rawLine) error {
		if !l.torn {
			next = at + l.size
		}
		return toLine(s, n, at, l, f)
	})
	if errors.Is(err, errNoPlace) {
		err = nil // it became shorter, and may grow again
	}
	return next, err
}

// settledSize is the size of a log at a moment when no writer is in the
// middle of a write. A log without its lock file, a copy, is at rest.
func settledSize(ctx context.Context, path string, f *os.File) (int64, error) {
	l := flock.New(filepath.Join(stateOf(path), lockName), flock.SetFlag(os.O_RDONLY))
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if ok, err := l.TryRLockContext(ctx, 2*time.Millisecond); err == nil && ok {
		defer func() { _ = l.Unlock() }()
	}
	st, err := f.Stat()
	if err != nil {
		return 0, err
	}
	if st.IsDir() {
		return 0, os.ErrInvalid
	}
	return st.Size(), nil
}

// rawLine is what stands between two newlines.
type rawLine struct {
	bytes   []byte // without the newline; valid until the next call
	size    int64  // with the newline
	torn    bool   // the file ends in it
	tooLong bool   // bytes holds only its begin
}

// lineReader reads lines with bounded memory.
type lineReader struct {
	r   *bufio.Reader
	buf []byte
}

func newLineReader(r io.Reader) *lineReader {
	return &lineReader{r: bufio.NewReaderSize(r, 256<<10)}
}

// next gives the next line, or io.EOF.
func (r *lineReader) next() (rawLine, error) {
	r.buf = r.buf[:0]
	var l rawLine
	for {
		part, err := r.r.ReadSlice('\n')
		l.size += int64(len(part))
		if err == nil && l.size == int64(len(part)) { // the whole line at once
			l.bytes = part[:len(part)-1]
			return l, nil
		}
		if room := maxLine - len(r.buf); len(part) > room {
			l.tooLong = true
			part = part[:room]
		}
		r.buf = append(r.buf, part...)
		switch err {
		case nil:
			l.bytes = r.buf
			if !l.tooLong {
				l.bytes = r.buf[:len(r.buf)-1]
			}
			return l, nil
		case bufio.ErrBufferFull:
		case io.EOF:
			if l.size == 0 {
				return l, io.EOF
			}
			l.bytes, l.torn = r.buf, true
			return l, nil
		default:
			return l, err
		}
	}
}
