package spool

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/toolwarrant/toolwarrant/audit/sink"
)

const (
	dirPerm  fs.FileMode = 0o700
	filePerm fs.FileMode = 0o600

	segmentExt   = ".spool"
	segmentBytes = 4 << 20 // after which a segment is followed by another
)

// Damage is what was found wrong in a spool. The lines that it cost are
// counted; the file, as it was found, is kept beside, under a name that begins
// with "damaged-".
type Damage struct {
	File  string // as it is kept
	What  string
	Lines int64 // lost by it, as far as it is known

	active bool // the file is written to
}

// Error names the file and what is wrong.
func (d *Damage) Error() string {
	return fmt.Sprintf("the spool of an audit sink is damaged: %s: %s; %d lines are lost to this sink, the audit log has them", d.File, d.What, d.Lines)
}

// store is the files of one spool. Append and the reader work on them at one
// time: mu guards what both use.
type store struct {
	dir   string
	bound int64 // bytes of records that wait

	mu       sync.Mutex
	segments []*segment // oldest first, the last one is written to
	w        *os.File   // of the last one, nil before the first append
	anew     bool       // the next record begins a segment
	next     uint64     // number of the next record
	unsynced bool
	st       state
	f        *os.File // of st
	at       position // of record st.Next
	full     bool     // the last append did not fit
	oldest   time.Time
	damages  []*Damage

	last sink.Head // of the last line that was found at the start
	torn *Damage   // of the end of the last segment
}

type segment struct {
	path  string
	first uint64
	size  int64
}

// position is a place in a segment; without a path, the begin of the spool.
type position struct {
	path   string
	offset int64
}

// openStore opens the spool in dir, which is locked by the caller. Damage is
// no error: it is kept for take.
func openStore(dir string, bound int64) (*store, error) {
	s := &store{dir: dir, bound: bound, st: newState()}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		hex, ok := strings.CutSuffix(e.Name(), segmentExt)
		if !ok || len(hex) != 16 {
			continue
		}
		first, err := strconv.ParseUint(hex, 16, 64)
		if err != nil {
			continue
		}
		info, err := e.Info()
		if err != nil {
			return nil, err
		}
		s.segments = append(s.segments, &segment{path: filepath.Join(dir, e.Name()), first: first, size: info.Size()})
	}
	slices.SortFunc(s.segments, func(a, b *segment) int { return strings.Compare(a.path, b.path) })
	if err := s.openState(); err != nil {
		return nil, err
	}
	if err := s.openLast(); err != nil {
		_ = s.f.Close()
		return nil, err
	}
	// What was sent may be known better than what was written, after a power
	// cut: its numbers are not given again.
	s.next = max(s.next, s.st.Next)
	s.drop()
	return s, s.st.write(s.f)
}

func (s *store) openState() error {
	path := filepath.Join(s.dir, stateFile)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, filePerm)
	if err != nil {
		return err
	}
	b, err := io.ReadAll(io.LimitReader(f, 2*stateBytes))
	if err != nil {
		_ = f.Close()
		return err
	}
	s.f = f
	if st, err := parseState(b); err == nil {
		s.st = st
		return nil
	}
	if len(s.segments) > 0 {
		s.st.Next = s.segments[0].first
	}
	if len(b) > 0 {
		s.damages = append(s.damages, &Damage{File: s.setAside(path), What: "how far the destination is cannot be read; what is in the spool is sent again"})
	}
	return s.st.write(f)
}

// openLast finds the end of the last segment. What a crash tore off there is
// set aside.
func (s *store) openLast() error {
	if len(s.segments) == 0 {
		return nil
	}
	last := s.segments[len(s.segments)-1]
	content, err := os.ReadFile(last.path)
	if err != nil {
		return err
	}
	next, line, whole := lastRecord(content, last.first)
	s.next = next
	s.last, _ = sink.HeadOf(line)
	if whole < len(content) {
		s.torn = &Damage{File: s.setAside(last.path), What: "the last record has no end", Lines: 1}
		s.damages = append(s.damages, s.torn)
		if err := os.Truncate(last.path, int64(whole)); err != nil {
			return err
		}
		s.st.Lost[lostDamaged]++
		last.size = int64(whole)
	}
	s.anew = len(s.damages) > 0
	return nil
}

// waiting gives how many records wait and how many bytes they have at most.
// The caller holds mu.
func (s *store) waiting() (records uint64, bytes int64) {
	for _, g := range s.segments {
		bytes += g.size
		if g.path == s.at.path {
			bytes -= s.at.offset
		}
	}
	if s.next > s.st.Next {
		records = s.next - s.st.Next
	}
	return records, bytes
}

var errFull = errors.New("the spool is full")

// append adds lines, all or as many as fit; those that do not are counted.
// With durable they are synced.
func (s *store) append(lines [][]byte, durable bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.next
	_, used := s.waiting()
	var buf []byte
	var err error
	for i, line := range lines {
		size := int64(recordHead + len(line) + 1)
		if used+int64(len(buf))+size > s.bound {
			s.lose(lostFull, lines[i:])
			err = errFull
			break
		}
		buf = appendRecord(buf, s.next+uint64(i), line)
	}
	s.full = err != nil
	if len(buf) == 0 {
		return err
	}
	added := uint64(len(lines))
	if err != nil {
		added = uint64(strings.Count(string(buf), "\n"))
	}
	if e := s.write(buf, durable); e != nil {
		s.lose(lostSpool, lines[:added])
		return e
	}
	if before == s.st.Next {
		s.oldest = time.Now()
	}
	s.next += added
	return err
}

// write puts buf at the end of the last segment, as a whole or not at all.
func (s *store) write(buf []byte, durable bool) error {
	if err := s.roll(); err != nil {
		return err
	}
	last := s.segments[len(s.segments)-1]
	if _, err := s.w.WriteAt(buf, last.size); err != nil {
		_ = s.w.Truncate(last.size)
		return err
	}
	s.unsynced = true
	if durable {
		if err := s.w.Sync(); err != nil {
			_ = s.w.Truncate(last.size)
			return err
		}
		s.unsynced = false
	}
	last.size += int64(len(buf))
	return nil
}

// roll makes the file for the next record.
func (s *store) roll() error {
	if n := len(s.segments); n > 0 {
		last := s.segments[n-1]
		if last.size == 0 || last.size < segmentBytes && !s.anew {
			if s.w != nil {
				return nil
			}
			w, err := os.OpenFile(last.path, os.O_WRONLY, filePerm)
			if err == nil {
				s.w = w
				return nil
			}
			if !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	path := filepath.Join(s.dir, fmt.Sprintf("%016x%s", s.next, segmentExt))
	w, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, filePerm)
	if err != nil {
		return err
	}
	if s.w != nil {
		_ = s.w.Sync()
		_ = s.w.Close()
	}
	s.w, s.anew = w, false
	s.segments = append(s.segments, &segment{path: path, first: s.next})
	return nil
}

// flush makes durable what was appended without. It does not hold mu: nobody
// waits for it.
func (s *store) flush() {
	s.mu.Lock()
	w, need := s.w, s.unsynced
	s.unsynced = false
	s.mu.Unlock()
	if need && w.Sync() != nil { // or closed, and synced by that
		s.mu.Lock()
		s.unsynced = true
		s.mu.Unlock()
	}
}

// lose counts lines that the destination will not get. The caller holds mu.
func (s *store) lose(reason string, lines [][]byte) {
	s.st.Lost[reason] += int64(len(lines))
	if h, ok := sink.HeadOf(lines[len(lines)-1]); ok && len(h.Writer) <= writerMax {
		s.st.Writer, s.st.Seq = h.Writer, h.Seq
	}
	_ = s.st.write(s.f)
}

// done says that the destination has every record of a batch, except for
// refused ones, which it never gets.
func (s *store) done(b batch, refused int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.st.Next, s.at = b.next, b.to
	s.st.Lost[lostRefused] += refused
	for _, d := range b.damages {
		s.st.Lost[lostDamaged] += d.Lines
		if d.active {
			s.anew = true
		}
	}
	s.damages = append(s.damages, b.damages...)
	_ = s.st.write(s.f)
	s.drop()
	if _, used := s.waiting(); used < s.bound-s.bound/4 {
		s.full = false
	}
	s.oldest = b.following
	if s.next <= b.next {
		s.oldest = time.Time{}
	}
}

// drop removes the segments that the destination has, except for the last.
func (s *store) drop() {
	for len(s.segments) > 1 && s.segments[1].first <= s.st.Next {
		if err := os.Remove(s.segments[0].path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return // tried again; at a start it is skipped as sent
		}
		s.segments = s.segments[1:]
	}
}

// close syncs and gives everything back.
func (s *store) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	if s.w != nil {
		if s.unsynced {
			errs = append(errs, s.w.Sync())
		}
		errs = append(errs, s.w.Close())
	}
	errs = append(errs, s.st.write(s.f), s.f.Close())
	return errors.Join(errs...)
}
