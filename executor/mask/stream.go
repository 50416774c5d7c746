package mask

import "io"

// Writer masks what is written to it piece by piece, as String would mask the
// whole: it holds back what may be the beginning of a secret, or what one that
// began there could still make part of a longer occurrence. It is not safe for
// concurrent use. Close writes the rest.
type Writer struct {
	set     *Set
	out     io.Writer
	pending []byte
	longest int
	next    int // how much is held back before it is looked at again
}

// Writer gives a Writer to out.
func (s *Set) Writer(out io.Writer) *Writer {
	w := &Writer{set: s, out: out}
	if !s.Empty() {
		// A beginning before the mark of a cut counts too, so a literal and
		// the mark are decided together.
		w.longest = len(s.literals[0]) + len(CutMark)
		w.next = 4 * w.longest
	}
	return w
}

// Write masks and passes on what is certain by now.
func (w *Writer) Write(p []byte) (int, error) {
	if w.longest == 0 {
		return w.out.Write(p)
	}
	w.pending = append(w.pending, p...)
	// Much is looked at together, so that many small pieces cost no more than
	// one large one, also where secrets overlap without an end.
	if len(w.pending) < w.next {
		return len(p), nil
	}
	if err := w.flush(len(w.pending) - w.longest); err != nil {
		return 0, err
	}
	w.next = max(2*len(w.pending), 4*w.longest)
	return len(p), nil
}

// Close masks and writes what was held back. It does not close the writer
// underneath.
func (w *Writer) Close() error { return w.flush(len(w.pending)) }

// flush writes the text up to end, or less where an occurrence reaches over
// it: nothing that begins before end can change any more.
func (w *Writer) flush(end int) error {
	if end <= 0 || len(w.pending) == 0 {
		return nil
	}
	text := string(w.pending)
	if end < len(text) && len(w.set.wrappable) > 0 {
		if end = blockStart(text, end); end == 0 {
			return nil
		}
	}
	hidden := append(occurrences(text, w.set.literals), w.set.acrossLines(text)...)
	hidden = join(append(hidden, w.set.tails(text, marks(text, CutMark))...))
	for i, sp := range hidden {
		if sp.to > end {
			end, hidden = min(end, sp.from), hidden[:i]
			break
		}
	}
	_, err := io.WriteString(w.out, replace(text[:end], hidden))
	w.pending = append(w.pending[:0], text[end:]...)
	return err
}
