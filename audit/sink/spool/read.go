package spool

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	damagedPrefix = "damaged-"
	// damagedMax is how many files are kept for whoever looks into it.
	damagedMax = 8
)

// batch is what the destination gets next.
type batch struct {
	lines     [][]byte
	next      uint64 // record after the last one
	to        position
	damages   []*Damage // on the way there
	following time.Time // of the last line, a lower bound for the next one
}

// read gives the next lines, at least one if there is one, at most n and
// about size bytes. It changes nothing; done does. Only one goroutine calls
// it.
func (s *store) read(n int, size int64) (batch, error) {
	s.mu.Lock()
	segments := make([]segment, len(s.segments))
	for i, g := range s.segments {
		segments[i] = *g
	}
	end := s.next
	b := batch{next: s.st.Next, to: s.at}
	s.mu.Unlock()

	i := 0
	for j, g := range segments {
		if g.path == b.to.path || b.to.path == "" && g.first <= b.next {
			i = j
		}
	}
	for ; i < len(segments); i++ {
		g := segments[i]
		if b.to.path != g.path {
			b.to = position{path: g.path}
		}
		until := end // the number that follows the last record of this segment
		if i+1 < len(segments) {
			until = segments[i+1].first
		}
		full, err := b.segment(s, g, until, n, size)
		if err != nil || full {
			return b, err
		}
	}
	return b, nil
}

// segment reads on in one segment, and reports whether the batch is full.
func (b *batch) segment(s *store, g segment, until uint64, n int, size int64) (full bool, err error) {
	bad := 0
	from := b.next
	got := uint64(0)
	note := func(what string) {
		if missing := b.next - from - got; missing > 0 || bad > 0 {
			b.damages = append(b.damages, &Damage{File: s.setAside(g.path), What: what, Lines: int64(missing), active: true})
		}
	}
	f, err := os.Open(g.path)
	if errors.Is(err, fs.ErrNotExist) {
		bad, b.next = 1, max(b.next, until)
		if b.next > from {
			note("the file is gone")
		}
		b.to.offset = g.size
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	r := bufio.NewReaderSize(io.NewSectionReader(f, b.to.offset, g.size-b.to.offset), 64<<10)
	for len(b.lines) < n && size > 0 {
		raw, err := r.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return false, err
		}
		if len(raw) == 0 {
			if b.to.offset < g.size { // the file is shorter than it was
				bad++
				b.to.offset = g.size
			}
			b.next = max(b.next, until)
			note(fmt.Sprintf("%d of its records are not as they were written, or are missing", max(int(b.next-from-got), bad)))
			return false, nil
		}
		b.to.offset += int64(len(raw))
		number, line, perr := parseRecord(raw[:len(raw)-1])
		if err != nil { // EOF: no newline
			perr = errRecord
		}
		switch {
		case perr != nil || number >= until:
			bad++
			continue
		case number < b.next:
			continue // the destination has it
		}
		b.next = number + 1
		got++
		size -= int64(len(line))
		b.lines = append(b.lines, line)
		b.following = timeOf(line)
	}
	note(fmt.Sprintf("%d of its records are not as they were written, or are missing", max(int(b.next-from-got), bad)))
	return true, nil
}

// timeOf is the time of a line of the log, zero if it says none.
func timeOf(line []byte) time.Time {
	const key = `{"time":"`
	text, ok := strings.CutPrefix(string(line[:min(len(line), 64)]), key)
	if !ok {
		return time.Time{}
	}
	text, _, _ = strings.Cut(text, `"`)
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return time.Time{}
	}
	return t
}

// setAside copies a damaged file for whoever looks into it, and gives the
// name of the copy, or of the file where there are copies enough.
func (s *store) setAside(path string) string {
	old, err := filepath.Glob(filepath.Join(s.dir, damagedPrefix+"*"))
	if err != nil || len(old) >= damagedMax {
		return path
	}
	in, err := os.Open(path)
	if err != nil {
		return path
	}
	defer in.Close()
	kept := filepath.Join(s.dir, damagedPrefix+time.Now().UTC().Format("20060102T150405.000000Z-")+filepath.Base(path))
	out, err := os.OpenFile(kept, os.O_WRONLY|os.O_CREATE|os.O_EXCL, filePerm)
	if err != nil {
		return path
	}
	_, err = io.Copy(out, in)
	if err = errors.Join(err, out.Close()); err != nil {
		return path
	}
	return kept
}
