package index

import (
	"bytes"
	"context"
	"math"

	"github.com/toolwarrant/toolwarrant/audit"
)

// Want says which closes are searched for: of the time, and with a term that
// fits one choice of each list.
type Want struct {
	Since, Until int64 // in microseconds since 1970; Since <= t < Until; Until 0 = no end
	All          [][]Choice
}

// Choice is a term of a kind, or whatever Fits says.
type Choice struct {
	Kind Kind
	Text string
	Fits func(text string) bool // nil = Text is meant
}

// An Index is open for searches. It is not safe for concurrent use.
type Index struct{ s *store }

// Open opens the index of the log at path, and holds it against the log. The
// error says why it cannot be used; a reader of the log goes on without it.
func Open(ctx context.Context, path string, lines *audit.Lines) (*Index, error) {
	s, err := open(ctx, File(path), "ro")
	if err != nil {
		return nil, err
	}
	if err := s.of(lines); err != nil {
		s.close()
		return nil, err
	}
	return &Index{s}, nil
}

// Close gives the index back.
func (x *Index) Close() { x.s.close() }

// Search gives the places of the closes that may fit, in the order of the
// log: all that do, and perhaps others. done is called when everything before
// a place was given. The error is that of found, or says that the index is
// damaged; what comes behind the last done has to be read without it then.
func (x *Index) Search(ctx context.Context, w Want, found func(place int64, length int) error, done func(place int64)) error {
	if w.Until == 0 {
		w.Until = math.MaxInt64
	}
	blocks, err := x.s.headers(ctx)
	if err != nil {
		return err
	}
	at := int64(-1)
	for _, b := range blocks {
		if err := ctx.Err(); err != nil {
			return err
		}
		if at >= 0 && b.begin != at {
			return errDamaged
		}
		// The last block may have grown since the index was opened.
		at = min(b.end, x.s.meta.next)
		if b.last >= w.Since && b.first < w.Until {
			if err := x.block(ctx, b, w, found); err != nil {
				return err
			}
		}
		done(at)
	}
	if at >= 0 && at != x.s.meta.next {
		return errDamaged
	}
	return nil
}

// set is a set of closes of a block.
type set [blockCalls / 64]uint64

func (s *set) add(n uint64) {
	if n < blockCalls {
		s[n/64] |= 1 << (n % 64)
	}
}

func (x *Index) block(ctx context.Context, b *block, w Want, found func(int64, int) error) error {
	id := b.number * partsOf
	var fits set
	for i := range fits {
		fits[i] = ^uint64(0)
	}
	for _, choices := range w.All {
		var some set
		if err := x.terms(ctx, id, choices, &some); err != nil {
			return err
		}
		for i := range fits {
			fits[i] &= some[i]
		}
		if fits == (set{}) {
			break
		}
	}
	if len(w.All) > 0 {
		if err := x.terms(ctx, id, []Choice{{Kind: Odd}}, &fits); err != nil {
			return err
		}
	}
	if fits == (set{}) {
		return nil
	}
	data, err := x.s.part(ctx, id+documents)
	if err == nil {
		err = b.readDocs(data)
	}
	if err != nil {
		return err
	}
	for i, d := range b.docs {
		if fits[i/64]&(1<<(i%64)) == 0 || d.place >= x.s.meta.next || d.micros != anyTime && (d.micros < w.Since || d.micros >= w.Until) {
			continue
		}
		if err := found(d.place, d.length); err != nil {
			return err
		}
	}
	return nil
}

// terms adds the closes of a block that have a term which is chosen.
func (x *Index) terms(ctx context.Context, id int64, choices []Choice, to *set) error {
	for k := Tool; int(k) < kinds; k++ {
		var exact [][]byte
		var other []func(string) bool
		for _, c := range choices {
			switch {
			case c.Kind != k:
			case c.Fits != nil:
				other = append(other, c.Fits)
			default:
				exact = append(exact, []byte(c.Text))
			}
		}
		if len(exact)+len(other) == 0 {
			continue
		}
		data, err := x.s.part(ctx, id+int64(k))
		if err != nil {
			return err
		}
		if err := eachTerm(data, func(text []byte) bool {
			for _, t := range exact {
				if bytes.Equal(text, t) {
					return true
				}
			}
			for _, fits := range other {
				if fits(string(text)) {
					return true
				}
			}
			return false
		}, to.add); err != nil {
			return err
		}
	}
	return nil
}
