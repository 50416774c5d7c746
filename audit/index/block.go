// Package index keeps an index of an audit log, so that a search reads the
// records that may fit and not all of them. It is a SQLite file beside the
// log, made from the log and from nothing else, at any time; a server lets it
// follow the log in a goroutine that no call waits for.
//
// The index has the values that searches choose by, as far as the masked
// lines have them, and the places of the records. It proves nothing: what it
// finds is read from the log, and held against the search again. What it says
// is checked as far as it can be: each part has a checksum, parts follow each
// other without a gap, and the last line that it knows has to be in the log
// as it was. If anything does not hold, searches read the log without it, and
// the next update makes it anew.
//
// A block is up to 4,096 closes of one file of the log. Its parts, a row
// each, are the places and times of the closes and, for each kind of value,
// the values with the numbers of the closes that have them. So a search by
// one kind reads about a tenth of the index, and the index is a fiftieth of
// the log.
package index

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"maps"
	"math"
	"slices"
)

// Kind is what a term is about.
type Kind uint8

// The kinds of terms. Each of a block is a part of its own, so that a search
// reads no more than it asks for.
const (
	Tool Kind = iota + 2
	Principal
	Outcome
	Code
	Level
	Rule
	Host
	Path
	Call
	Odd // lines that could not be decoded: they fit every search, and reading them tells

	documents = 1
	kinds     = int(Odd) + 1
	partsOf   = 16 // room for the parts of a block in the numbers of parts
)

// headerPart is the number of the header of a block. Headers stand together,
// so that a search reads them all at once.
func headerPart(block int64) int64 { return metaPart - 1 - block }

// blockCalls is how many closes a block has at most.
const blockCalls = 4096

// doc is one close: where it stands, and when it was.
type doc struct {
	place  int64
	length int
	micros int64 // since 1970; anyTime if its time cannot be read
}

const anyTime = -1

// block is the closes of a part of the log, and where each term occurs.
type block struct {
	begin, end  int64 // places
	first, last int64 // the times of its closes lie between
	docs        []doc
	terms       [kinds]map[string][]uint32 // of the numbers of closes, ascending
	number      int64
	dirty       bool // it has lines that are not in the file
}

func newBlock(number, begin int64) *block {
	return &block{number: number, begin: begin, end: begin, first: math.MaxInt64, last: math.MinInt64}
}

func (b *block) add(d doc, terms func(put func(Kind, string))) {
	n := uint32(len(b.docs))
	b.docs = append(b.docs, d)
	if d.micros == anyTime {
		b.first, b.last = math.MinInt64, math.MaxInt64
	} else {
		b.first, b.last = min(b.first, d.micros), max(b.last, d.micros)
	}
	terms(func(k Kind, text string) {
		m := b.terms[k]
		if m == nil {
			m = map[string][]uint32{}
			b.terms[k] = m
		}
		if list := m[text]; len(list) == 0 || list[len(list)-1] != n {
			m[text] = append(list, n)
		}
	})
}

// parts encodes the block: the data of each part by its number.
func (b *block) parts() map[int64][]byte {
	out := map[int64][]byte{}
	h := binary.AppendVarint(nil, b.begin)
	for _, v := range []int64{b.end, b.first, b.last} {
		h = binary.AppendVarint(h, v)
	}
	out[headerPart(b.number)] = h
	var d []byte
	place, micros := b.begin, int64(0)
	for _, x := range b.docs {
		d = binary.AppendUvarint(d, uint64(x.place-place))
		d = binary.AppendUvarint(d, uint64(x.length))
		d = binary.AppendVarint(d, x.micros-micros)
		place, micros = x.place, x.micros
	}
	out[b.number*partsOf+documents] = d
	for k := Tool; int(k) < kinds; k++ {
		var t []byte
		for _, text := range slices.Sorted(maps.Keys(b.terms[k])) {
			var list []byte
			at := uint32(0)
			for _, n := range b.terms[k][text] {
				list = binary.AppendUvarint(list, uint64(n-at))
				at = n
			}
			t = append(binary.AppendUvarint(t, uint64(len(text))), text...)
			t = append(binary.AppendUvarint(t, uint64(len(list))), list...)
		}
		out[b.number*partsOf+int64(k)] = t
	}
	return out
}

// errDamaged says that the index is not what was written.
var errDamaged = errors.New("it is damaged")

// reading takes values off encoded data. Whatever is wrong with them makes it
// bad, and then all values are zero.
type reading struct {
	b   []byte
	bad bool
}

func (r *reading) unsigned() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 || r.bad {
		r.bad = true
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *reading) signed() int64 {
	v, n := binary.Varint(r.b)
	if n <= 0 || r.bad {
		r.bad = true
		return 0
	}
	r.b = r.b[n:]
	return v
}

// bytes gives a length and so many bytes.
func (r *reading) bytes() []byte {
	if len(r.b) > 0 && r.b[0] < 0x80 && int(r.b[0]) < len(r.b) && !r.bad { // nearly all
		n := int(r.b[0]) + 1
		out := r.b[1:n]
		r.b = r.b[n:]
		return out
	}
	n := r.unsigned()
	if r.bad || n > uint64(len(r.b)) {
		r.bad = true
		return nil
	}
	out := r.b[:n]
	r.b = r.b[n:]
	return out
}

// readHeader gives a block without its closes.
func readHeader(number int64, data []byte) (*block, error) {
	r := reading{b: data}
	b := &block{number: number, begin: r.signed(), end: r.signed(), first: r.signed(), last: r.signed()}
	if r.bad || len(r.b) > 0 || b.end < b.begin {
		return nil, errDamaged
	}
	return b, nil
}

func (b *block) readDocs(data []byte) error {
	r := reading{b: data}
	place, micros := b.begin, int64(0)
	for len(r.b) > 0 {
		place += int64(r.unsigned())
		d := doc{place: place, length: int(r.unsigned())}
		micros += r.signed()
		d.micros = micros
		if r.bad || len(b.docs) == blockCalls {
			return errDamaged
		}
		b.docs = append(b.docs, d)
	}
	return nil
}

// eachTerm gives the closes that have a term which is wanted.
func eachTerm(data []byte, want func(text []byte) bool, found func(n uint64)) error {
	r := reading{b: data}
	for len(r.b) > 0 {
		text, list := r.bytes(), r.bytes()
		if r.bad {
			return errDamaged
		}
		if !want(text) {
			continue
		}
		l := reading{b: list}
		for n := uint64(0); len(l.b) > 0; {
			n += l.unsigned()
			if l.bad {
				return errDamaged
			}
			found(n)
		}
	}
	return nil
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// seal adds a checksum to data, which also says of which index and which part
// of it they are.
func seal(generation, part int64, data []byte) []byte {
	return binary.BigEndian.AppendUint32(data, checksum(generation, part, data))
}

func unseal(generation, part int64, data []byte) ([]byte, error) {
	n := len(data) - 4
	if n < 0 || binary.BigEndian.Uint32(data[n:]) != checksum(generation, part, data[:n]) {
		return nil, errDamaged
	}
	return data[:n:n], nil
}

func checksum(generation, part int64, data []byte) uint32 {
	var place [16]byte
	binary.BigEndian.PutUint64(place[:8], uint64(generation))
	binary.BigEndian.PutUint64(place[8:], uint64(part))
	return crc32.Update(crc32.Checksum(place[:], castagnoli), castagnoli, data)
}
