// Package checkpoint makes and checks what proves that a log was once so
// long: signed statements about its size, its Merkle root and its head, and
// proofs that one record is in it. Both are checked with a public key alone,
// without the log and without the network.
package checkpoint

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/toolwarrant/toolwarrant/fault"
)

// Reasons of USAGE errors of this package.
const (
	ReasonFormat    = "checkpoint-format"    // no checkpoint, or a damaged one
	ReasonSignature = "checkpoint-signature" // not signed by the key, or altered
)

var emptyRoot = tlog.Hash(sha256.Sum256(nil))

// A Checkpoint says what a log was at a time. Its text, three lines of a
// transparency log's checkpoint and two of ours, is the text of a signed note.
type Checkpoint struct {
	Origin string // names the log: the name of the key that signs
	Size   int64  // in lines
	Root   tlog.Hash
	Head   string    // leaf hash of the last line, "sha256:<hex>"; "" of an empty log
	Time   time.Time // when it was made, in UTC and whole microseconds
}

const timeLayout = "2006-01-02T15:04:05.000000Z"

func (c Checkpoint) text() string {
	return fmt.Sprintf("%s\n%d\n%s\nhead %s\ntime %s\n", c.Origin, c.Size, c.Root, c.Head, c.Time.UTC().Format(timeLayout))
}

// Sign gives the signed note of c, whose origin is the name of the key.
func Sign(c Checkpoint, key note.Signer) ([]byte, error) {
	c.Origin = key.Name()
	return note.Sign(&note.Note{Text: c.text()}, key)
}

// Open checks the signature of a note and reads it.
func Open(msg []byte, key note.Verifier) (Checkpoint, error) {
	n, err := note.Open(msg, note.VerifierList(key))
	if unknown, invalid := new(note.UnverifiedNoteError), new(note.InvalidSignatureError); err != nil && !errors.As(err, &unknown) && !errors.As(err, &invalid) {
		return Checkpoint{}, fault.New(fault.Usage, ReasonFormat, "this is no signed note, as a checkpoint is").Because(err)
	}
	if err != nil {
		return Checkpoint{}, fault.New(fault.Usage, ReasonSignature, "the checkpoint is not one that %s signed: another key, or altered since", key.Name()).Because(err)
	}
	c, err := parse(n.Text)
	if err != nil {
		return Checkpoint{}, err
	}
	if c.Origin != key.Name() {
		return Checkpoint{}, fault.New(fault.Usage, ReasonSignature, "the checkpoint is of the log %s, and %s signed it", c.Origin, key.Name())
	}
	return c, nil
}

func parse(text string) (Checkpoint, error) {
	bad := fault.New(fault.Usage, ReasonFormat, "the note is signed but is no checkpoint of an audit log")
	lines := strings.Split(text, "\n")
	if len(lines) != 6 || lines[5] != "" {
		return Checkpoint{}, bad
	}
	head, isHead := strings.CutPrefix(lines[3], "head ")
	at, isTime := strings.CutPrefix(lines[4], "time ")
	size, err := strconv.ParseInt(lines[1], 10, 64)
	root, rootErr := tlog.ParseHash(lines[2])
	when, timeErr := time.Parse(timeLayout, at)
	if !isHead || !isTime || err != nil || rootErr != nil || timeErr != nil || size < 0 || (size == 0) != (head == "") {
		return Checkpoint{}, bad
	}
	c := Checkpoint{Origin: lines[0], Size: size, Root: root, Head: head, Time: when}
	if c.text() != text { // one checkpoint has one spelling
		return Checkpoint{}, bad
	}
	return c, nil
}
