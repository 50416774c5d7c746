package checkpoint

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"runtime"
	"sync"
	"sync/atomic"

	"golang.org/x/mod/sumdb/note"

	"github.com/toolwarrant/toolwarrant/fault"
)

const (
	// textLines are the lines of a note before its signatures: the text of a
	// checkpoint and the blank line after it.
	textLines = 6
	// maxNoteLine bounds a line, maxSignatures the lines that sign one note.
	maxNoteLine   = 16 << 10
	maxSignatures = 100
	// atOnce is how many notes are verified together.
	atOnce = 1024
)

// signature begins each line of a note that holds one.
var signature = []byte("\u2014 ")

// Signed is a checkpoint with the note that it was read from.
type Signed struct {
	Checkpoint
	Note string
}

// Skipped says what in a file is no checkpoint of the key: torn notes, notes of
// other keys, and everything else that does not belong there.
type Skipped struct {
	Count int   // parts of the file
	Line  int64 // where the first of them begins, 1-based
	Err   error // what is wrong with it
}

func (s *Skipped) add(line int64, err error) {
	if s.Count++; s.Count == 1 {
		s.Line, s.Err = line, err
	}
}

// OpenAll reads the notes that stand one after another, as a file that
// checkpoints are appended to has them. A file outlives full disks and changes
// of the key, so what does not hold is skipped and counted; that nothing holds
// is an error. Each signature is checked, also where a later checkpoint counts
// more: a log that was cut and went on is found with the older ones alone.
func OpenAll(r io.Reader, key note.Verifier) ([]Signed, Skipped, error) {
	var out []Signed
	var skipped Skipped
	err := each(r, key, func(s Signed) { out = append(out, s) }, skipped.add)
	if err == nil && len(out) == 0 && skipped.Count > 0 {
		e := fault.From(skipped.Err)
		err = fault.New(e.Code, e.Reason, "no checkpoint holds; the first one, at line %d: %s", skipped.Line, e.Message).Because(skipped.Err)
	}
	return out, skipped, err
}

// each gives the checkpoints of the key and what is none, in their order and in
// bounded memory.
func each(r io.Reader, key note.Verifier, take func(Signed), skip func(line int64, err error)) (err error) {
	s := scanner{in: bufio.NewReaderSize(r, maxNoteLine)}
	parts := make([]part, 0, atOnce)
	for err == nil {
		parts = parts[:0]
		for len(parts) < atOnce && err == nil {
			var p part
			if p, err = s.next(); err == nil {
				parts = append(parts, p)
			}
		}
		verify(parts, key)
		for i := range parts {
			if p := &parts[i]; p.err != nil {
				skip(p.line, p.err)
			} else {
				take(p.signed)
			}
		}
	}
	if err != io.EOF {
		return fault.New(fault.Usage, ReasonFormat, "the checkpoints cannot be read").Because(err)
	}
	return nil
}

// verify checks signatures on all processors: there may be a million of them.
func verify(parts []part, key note.Verifier) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), (len(parts)+15)/16) {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(parts)); i = next.Add(1) - 1 {
				parts[i].open(key)
			}
		})
	}
	wg.Wait()
}

// part is what may be a note.
type part struct {
	line   int64
	raw    []byte // nil: it is none
	signed Signed
	err    error
}

func (p *part) open(key note.Verifier) {
	if p.raw == nil {
		p.err = fault.New(fault.Usage, ReasonFormat, "there is no whole note")
		return
	}
	if p.signed.Checkpoint, p.err = Open(p.raw, key); p.err != nil {
		own := p.signedBy(key.Name())
		if len(own) == len(p.raw) {
			return
		}
		c, err := Open(own, key)
		if err != nil {
			return
		}
		p.raw, p.signed.Checkpoint, p.err = own, c, nil
	}
	p.signed.Note = string(p.raw)
}

// signedBy is the note without the signatures of others: a damaged line behind
// a note looks like one.
func (p *part) signedBy(name string) []byte {
	var out []byte
	for line := range bytes.Lines(p.raw) {
		by, isSignature := bytes.CutPrefix(line, signature)
		if !isSignature || bytes.HasPrefix(by, []byte(name+" ")) {
			out = append(out, line...)
		}
	}
	return out
}

// scanner finds notes by their signatures: a note is the lines before one, as
// many as a checkpoint has. So whatever comes before a note does not hide it.
type scanner struct {
	in    *bufio.Reader
	at    int64    // lines read
	lines [][]byte // not signed yet; the last textLines of them
	stray int64    // first line of what belongs to no note, 0 = none
	held  *part    // found, and to be given after what is stray
}

// next gives the next part, or io.EOF.
func (s *scanner) next() (part, error) {
	if p := s.held; p != nil {
		s.held = nil
		return *p, nil
	}
	for {
		line, err := s.line()
		if err == io.EOF {
			s.drop(len(s.lines))
			if s.stray == 0 {
				return part{}, io.EOF
			}
			return s.strayed(), nil
		}
		if err != nil {
			return part{}, err
		}
		if !bytes.HasPrefix(line, signature) {
			if s.lines = append(s.lines, line); len(s.lines) > textLines {
				s.drop(1)
			}
			continue
		}
		p := part{line: s.at - int64(len(s.lines)), raw: bytes.Join(append(s.lines, line, nil), []byte("\n"))}
		s.lines = s.lines[:0]
		if err := s.signatures(&p); err != nil {
			return part{}, err
		}
		if s.stray != 0 {
			s.held = &p
			return s.strayed(), nil
		}
		return p, nil
	}
}

// signatures takes the lines that sign the same note.
func (s *scanner) signatures(p *part) error {
	for n := 1; n < maxSignatures; n++ {
		if begin, err := s.in.Peek(len(signature)); err != nil && err != io.EOF {
			return err
		} else if !bytes.Equal(begin, signature) {
			return nil
		}
		line, err := s.line()
		if err != nil {
			return err
		}
		p.raw = append(append(p.raw, line...), '\n')
	}
	return nil
}

// drop gives up the first n lines. Blank ones separate, and are no damage.
func (s *scanner) drop(n int) {
	for i, l := range s.lines[:n] {
		if len(l) > 0 && s.stray == 0 {
			s.stray = s.at - int64(len(s.lines)-i) + 1
		}
	}
	s.lines = s.lines[n:]
}

func (s *scanner) strayed() part {
	p := part{line: s.stray}
	s.stray = 0
	return p
}

// line reads a line without its end; of one that is too long for a note, its
// begin.
func (s *scanner) line() ([]byte, error) {
	raw, err := s.in.ReadSlice('\n')
	line := bytes.Clone(bytes.TrimSuffix(bytes.TrimSuffix(raw, []byte("\n")), []byte("\r")))
	for errors.Is(err, bufio.ErrBufferFull) {
		_, err = s.in.ReadSlice('\n')
	}
	if err == io.EOF && len(line) > 0 {
		err = nil
	}
	if err != nil {
		return nil, err
	}
	s.at++
	return line, nil
}

// maxTail bounds what Last reads at once.
const maxTail = 64 << 20

// Last gives the last checkpoint of the key in a file of notes, nil where there
// is none, and how many parts behind it are none. It reads the end of the
// file, and more of it only while nothing there holds.
func Last(f io.ReaderAt, size int64, key note.Verifier) (last *Signed, behind int, err error) {
	for tail := int64(64 << 10); ; tail *= 8 {
		from := max(0, size-tail)
		if tail > maxTail {
			from = 0
		}
		last, behind, err = lastOf(io.NewSectionReader(f, from, size-from), key, tail > maxTail)
		if last != nil || err != nil || from == 0 {
			return last, behind, err
		}
	}
}

// lastOf verifies from the end on, and what is too large for that from its
// begin.
func lastOf(r io.Reader, key note.Verifier, large bool) (last *Signed, behind int, err error) {
	if large {
		err := each(r, key, func(s Signed) { last, behind = &s, 0 }, func(int64, error) { behind++ })
		return last, behind, err
	}
	s := scanner{in: bufio.NewReaderSize(r, maxNoteLine)}
	var parts []part
	for err == nil {
		var p part
		if p, err = s.next(); err == nil {
			parts = append(parts, p)
		}
	}
	if err != io.EOF {
		return nil, 0, fault.New(fault.Usage, ReasonFormat, "the checkpoints cannot be read").Because(err)
	}
	for behind = range parts {
		p := &parts[len(parts)-1-behind]
		if p.open(key); p.err == nil {
			return &p.signed, behind, nil
		}
	}
	return nil, len(parts), nil
}
