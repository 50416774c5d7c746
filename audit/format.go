package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"strconv"
	"time"
)

const (
	timeLayout = "2006-01-02T15:04:05.000000Z"
	hashPrefix = "sha256:"
	hashText   = len(hashPrefix) + 2*sha256.Size

	sumOpen  = `,"sum":"`
	sumClose = `"}`
	// sumTail is the length of everything from `,"sum"` to the end of a line.
	sumTail = len(sumOpen) + hashText + len(sumClose)

	// maxLine bounds a line, so that a reader needs bounded memory. What goes
	// into a line is capped far below it (see limits.go).
	maxLine = 4 << 20
)

// link is the place of the next line in a chain: the number of lines so far
// and the leaf hash of the last one.
type link struct {
	seq  uint64
	head [sha256.Size]byte
}

// hashString writes a hash as "sha256:<hex>".
func hashString(h [sha256.Size]byte) string {
	var b [hashText]byte
	copy(b[:], hashPrefix)
	hex.Encode(b[len(hashPrefix):], h[:])
	return string(b[:])
}

// parseHash is the opposite of hashString. Only lower-case digits count, so
// that one hash has one spelling.
func parseHash(s []byte) (h [sha256.Size]byte, ok bool) {
	if len(s) != hashText || string(s[:len(hashPrefix)]) != hashPrefix {
		return h, false
	}
	for _, c := range s[len(hashPrefix):] {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return h, false
		}
	}
	_, err := hex.Decode(h[:], s[len(hashPrefix):])
	return h, err == nil
}

// hasher computes leaf hashes without allocating. Not for concurrent use.
type hasher struct{ h hash.Hash }

func newHasher() *hasher { return &hasher{sha256.New()} }

var leafPrefix = []byte{0}

// leaf is the RFC 6962 leaf hash of a line without its newline.
func (h *hasher) leaf(line []byte) (out [sha256.Size]byte) {
	h.h.Reset()
	h.h.Write(leafPrefix)
	h.h.Write(line)
	h.h.Sum(out[:0])
	return out
}

// appendSum ends a line: b holds everything of it up to the last member
// before sum, from offset start on.
func appendSum(b []byte, start int) []byte {
	sum := sha256.Sum256(b[start:])
	b = append(b, sumOpen...)
	b = append(b, hashPrefix...)
	b = hex.AppendEncode(b, sum[:])
	return append(b, sumClose...)
}

// sumHolds reports whether a line ends with the sum of its own bytes.
func sumHolds(line []byte) bool {
	cut := len(line) - sumTail
	if cut < 1 {
		return false
	}
	tail := line[cut:]
	if string(tail[:len(sumOpen)]) != sumOpen || string(tail[len(tail)-len(sumClose):]) != sumClose {
		return false
	}
	want, ok := parseHash(tail[len(sumOpen) : len(tail)-len(sumClose)])
	return ok && want == sha256.Sum256(line[:cut])
}

// Head is what every line begins with.
type Head struct {
	Time   string
	Schema string
	Seq    uint64
	Prev   string // "" on the first line of a chain
	Phase  Phase
	Writer string
	CallID string // of ask, open and close
}

// parseHead reads the beginning of a line. It accepts exactly the spelling
// that the writer uses, since any other line was not written by it; and it
// does not allocate for what it does not return.
func parseHead(line []byte) (h Head, ok bool) {
	p := headParser{rest: line, ok: true}
	h.Time = p.str(`{"time":"`)
	h.Schema = p.str(`,"schema":"`)
	h.Seq = p.num(`,"seq":`)
	if p.ok && bytes.HasPrefix(p.rest, []byte(`,"prev":null`)) {
		p.rest = p.rest[len(`,"prev":null`):]
	} else {
		h.Prev = p.str(`,"prev":"`)
	}
	h.Phase = Phase(p.str(`,"phase":"`))
	h.Writer = p.str(`,"writer":"`)
	switch h.Phase {
	case PhaseAsk, PhaseOpen, PhaseClose:
		h.CallID = p.str(`,"callId":"`)
	case PhaseObject, PhaseEvent:
		p.str(`,"kind":"`)
	default:
		return h, false
	}
	if !p.ok || h.Seq == 0 {
		return h, false
	}
	if _, err := time.Parse(timeLayout, h.Time); err != nil {
		return h, false
	}
	return h, true
}

type headParser struct {
	rest []byte
	ok   bool
}

// str takes a JSON string without escapes that follows want.
func (p *headParser) str(want string) string {
	if !p.ok || !bytes.HasPrefix(p.rest, []byte(want)) {
		p.ok = false
		return ""
	}
	p.rest = p.rest[len(want):]
	end := bytes.IndexByte(p.rest, '"')
	if end < 0 || bytes.IndexByte(p.rest[:end], '\\') >= 0 {
		p.ok = false
		return ""
	}
	s := string(p.rest[:end])
	p.rest = p.rest[end+1:]
	return s
}

// num takes a positive integer that follows want.
func (p *headParser) num(want string) uint64 {
	if !p.ok || !bytes.HasPrefix(p.rest, []byte(want)) {
		p.ok = false
		return 0
	}
	p.rest = p.rest[len(want):]
	end := bytes.IndexByte(p.rest, ',')
	if end < 0 || end > 20 {
		p.ok = false
		return 0
	}
	n, err := strconv.ParseUint(string(p.rest[:end]), 10, 64)
	if err != nil || (end > 1 && p.rest[0] == '0') {
		p.ok = false
		return 0
	}
	p.rest = p.rest[end:]
	return n
}
