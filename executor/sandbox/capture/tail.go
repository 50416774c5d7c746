package capture

import (
	"strings"
	"sync"
	"unicode"
)

// A Tail keeps the end of what is written to it, for messages: what a runtime,
// a console or a runner said last. The zero value keeps TailBytes. It is safe
// for concurrent use.
type Tail struct {
	mu   sync.Mutex
	text []byte
}

// TailBytes is how much a Tail keeps.
const TailBytes = 2 << 10

// Write never fails.
func (t *Tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b[max(0, len(b)-TailBytes):]...)
	t.text = t.text[max(0, len(t.text)-TailBytes):]
	return len(b), nil
}

// String is the text in one line, without what acts on a terminal: who wrote it
// may be hostile.
func (t *Tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	shown := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r) || r == unicode.ReplacementChar:
			return -1
		}
		return r
	}, string(t.text))
	return strings.Join(strings.Fields(shown), " ")
}
