package checkpoint

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/toolwarrant/toolwarrant/fault"
)

// A Removal says which files of a log its operator removed. Its text is the
// text of a signed note, which no checkpoint can be taken for.
type Removal struct {
	Origin   string // the name of the key that signs
	Segments []Segment
	Time     time.Time // in UTC and whole microseconds
}

// A Segment is a closed file of a log.
type Segment struct {
	File   string `json:"file"`   // its name, of the file as it was not compressed
	First  uint64 `json:"first"`  // seq of its first line
	Last   uint64 `json:"last"`   // seq of its last line
	Head   string `json:"head"`   // leaf hash of its last line, "sha256:<hex>"
	Bytes  int64  `json:"bytes"`  // of all lines, not compressed
	Digest string `json:"digest"` // of all lines, not compressed, "sha256:<hex>"
}

func (r Removal) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\nremoved %d\n", r.Origin, len(r.Segments))
	for _, s := range r.Segments {
		fmt.Fprintf(&b, "%d %d %s %d %s %s\n", s.First, s.Last, s.Head, s.Bytes, s.Digest, s.File)
	}
	fmt.Fprintf(&b, "time %s\n", r.Time.UTC().Format(timeLayout))
	return b.String()
}

// SignRemoval gives the signed note of r, whose origin is the name of the key.
func SignRemoval(r Removal, key note.Signer) ([]byte, error) {
	r.Origin = key.Name()
	return note.Sign(&note.Note{Text: r.text()}, key)
}

// OpenRemoval checks the signature of a note and reads it.
func OpenRemoval(msg []byte, key note.Verifier) (Removal, error) {
	n, err := note.Open(msg, note.VerifierList(key))
	if err != nil {
		return Removal{}, fault.New(fault.Usage, ReasonSignature, "the removal is not one that %s signed: another key, or altered since", key.Name()).Because(err)
	}
	bad := fault.New(fault.Usage, ReasonFormat, "the note is signed but tells of no removal")
	lines := strings.Split(n.Text, "\n")
	if len(lines) < 4 {
		return Removal{}, bad
	}
	r := Removal{Origin: lines[0]}
	for _, line := range lines[2 : len(lines)-2] {
		f := strings.Split(line, " ")
		if len(f) != 6 {
			return Removal{}, bad
		}
		s := Segment{Head: f[2], Digest: f[4], File: f[5]}
		s.First, _ = strconv.ParseUint(f[0], 10, 64)
		s.Last, _ = strconv.ParseUint(f[1], 10, 64)
		s.Bytes, _ = strconv.ParseInt(f[3], 10, 64)
		r.Segments = append(r.Segments, s)
	}
	at, ok := strings.CutPrefix(lines[len(lines)-2], "time ")
	r.Time, err = time.Parse(timeLayout, at)
	if !ok || err != nil || r.Origin != key.Name() || r.text() != n.Text { // one removal has one spelling
		return Removal{}, bad
	}
	return r, nil
}
