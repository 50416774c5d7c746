package spool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"os"
)

// stateFile is the one file of a spool that is overwritten: how far the
// destination is, and what it will not get.
const stateFile = "state"

// stateBytes is its fixed size, so that one write replaces it as a whole.
const stateBytes = 512

// The ways to lose a line.
const (
	lostFull    = "full"    // the spool was at its bound
	lostDamaged = "damaged" // it cannot be read from the spool any more
	lostRefused = "refused" // the destination will not take it
	lostSpool   = "spool"   // the disk of the spool did not take it
)

var reasons = []string{lostFull, lostDamaged, lostRefused, lostSpool}

// state is the content. Lost counts ever since; Told is what of it the chain
// tells.
type state struct {
	Version int              `json:"version"`
	Next    uint64           `json:"next"` // first record that the destination does not have
	Lost    map[string]int64 `json:"lost"`
	Told    map[string]int64 `json:"told"`

	// Writer and Seq are those of the last line that did not enter the spool.
	Writer string `json:"writer"`
	Seq    int64  `json:"seq"`
}

func newState() state {
	return state{Version: 1, Lost: map[string]int64{}, Told: map[string]int64{}}
}

func (s *state) lost() (n int64) {
	for _, v := range s.Lost {
		n += v
	}
	return n
}

// write puts the state in place. It is not synced: what a power cut takes
// back of it is sent again.
func (s *state) write(f *os.File) error {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	b := fmt.Appendf(nil, "%08x %s", crc32.Checksum(text, castagnoli), text)
	if len(b) >= stateBytes {
		return fmt.Errorf("a state of %d bytes", len(b))
	}
	b = append(b, bytes.Repeat([]byte{' '}, stateBytes-1-len(b))...)
	_, err = f.WriteAt(append(b, '\n'), 0)
	return err
}

// parseState reads what write wrote.
func parseState(b []byte) (state, error) {
	s := newState()
	text := bytes.TrimRight(b, " \n")
	if len(text) < 9 || text[8] != ' ' {
		return s, errRecord
	}
	if fmt.Sprintf("%08x", crc32.Checksum(text[9:], castagnoli)) != string(text[:8]) {
		return s, errRecord
	}
	if err := json.Unmarshal(text[9:], &s); err != nil || s.Version != 1 || s.Lost == nil || s.Told == nil {
		return newState(), errRecord
	}
	return s, nil
}
