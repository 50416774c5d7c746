package server

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"encoding/json"
	"io"
	"slices"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The library checks and copies a result twice on its way out, byte by byte,
// also one that is encoded already: for a list of many tools that is some
// fifty times what writing its bytes costs. So the library is given a word
// that stands for the list, encodes its message around it, and frames and
// sends that as any other; where its bytes leave for the client, the list is
// written in the place of the word. A message without a place for that, or one
// too many that waits for it, carries the list itself.

// stand is a list that is written in the place of a word.
type stand struct {
	word []byte   // a JSON string, as it stands in the message
	list [][]byte // content of a JSON array, without line breaks; shared, never changed
}

// newStand makes up a word that nobody can have put into a message before.
func newStand(list [][]byte) stand {
	return stand{word: []byte(`"list-` + rand.Text() + `"`), list: list}
}

// writeTo writes message to w with the list in the place of the word. done is
// false, and all is written as it is, when the message has no such word.
func (s stand) writeTo(w io.Writer, message []byte) (n int, done bool, err error) {
	before, after, found := bytes.Cut(message, s.word)
	if !found {
		n, err = w.Write(message)
		return n, false, err
	}
	b := gatherers.Get().(*bufio.Writer)
	defer gatherers.Put(b)
	b.Reset(w)
	defer b.Reset(nil) // it may wait in the pool for long
	for _, part := range slices.Concat([][]byte{before, {'['}}, s.list, [][]byte{{']'}, after}) {
		if _, err := b.Write(part); err != nil {
			return 0, true, err
		}
	}
	if err := b.Flush(); err != nil {
		return 0, true, err
	}
	return len(message), true, nil
}

// gatherers put the parts of a list together: to copy them costs less than to
// write each by itself.
var gatherers = sync.Pool{New: func() any { return bufio.NewWriterSize(nil, 512<<10) }}

// whole is the list as one JSON value.
func (s stand) whole() []byte {
	return slices.Concat([]byte{'['}, slices.Concat(s.list...), []byte{']'})
}

// listed is the answer to tools/list: that of the library, with the tools in
// the form in which they are written.
type listed struct {
	*mcp.ListToolsResult
	Tools json.RawMessage `json:"tools"` // goes before the field of the same name
}
