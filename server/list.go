package server

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// List is the tools that one caller sees, by name, as they go over the wire.
// It is encoded once and never changes, so that any number of callers and
// requests can share it.
type List struct {
	names []string
	text  []byte // the entries with a comma between two
	ends  []int  // where each entry ends in text
}

// NewList encodes tools, sorted by name. The error is of a tool whose input
// schema is not JSON.
func NewList(tools []ToolView) (*List, error) {
	entries := make([]entry, 0, len(tools))
	for _, v := range tools {
		text, err := v.encode()
		if err != nil {
			return nil, err
		}
		entries = append(entries, entry{v.Name, text})
	}
	slices.SortStableFunc(entries, func(a, b entry) int { return cmp.Compare(a.name, b.name) })
	return join(entries), nil
}

// entry is one tool of a list, encoded.
type entry struct {
	name string
	text []byte
}

// join makes a list of entries that are in order.
func join(entries []entry) *List {
	size := 0
	for _, e := range entries {
		size += len(e.text) + 1
	}
	l := &List{names: make([]string, len(entries)), ends: make([]int, len(entries)), text: make([]byte, 0, size)}
	for i, e := range entries {
		if i > 0 {
			l.text = append(l.text, ',')
		}
		l.text = append(l.text, e.text...)
		l.names[i], l.ends[i] = e.name, len(l.text)
	}
	return l
}

// size is about what the list takes of memory, in bytes.
func (l *List) size() int {
	const each = 8 + 16 // of an end and the head of a name; the letters belong to the specs
	return len(l.text) + each*len(l.names)
}

// page gives the entries behind the tool of that name, "" = from the start, as
// the content of a JSON array: as many as fit into limit bytes, and one at
// least. next is the name to go on after, "" at the end. A page begins where
// its name would stand, so that going on works in a list that has changed.
func (l *List) page(after string, limit int) (text []byte, next string) {
	first := 0
	if after != "" {
		at, found := slices.BinarySearch(l.names, after)
		for first = at; found && first < len(l.names) && l.names[first] == after; first++ {
		}
	}
	if first == len(l.names) {
		return nil, ""
	}
	start := 0
	if first > 0 {
		start = l.ends[first-1] + 1 // behind the comma
	}
	last, _ := slices.BinarySearch(l.ends, start+limit+1) // the first that does not fit
	last = max(last, first+1)
	if last < len(l.names) {
		next = l.names[last-1]
	}
	return l.text[start:l.ends[last-1]:l.ends[last-1]], next
}

// cursorMark begins what a cursor of ours holds, so that others are told from it.
const cursorMark = "after:"

// cursorFor names the place in a list behind a tool; "" is the end.
func cursorFor(name string) string {
	if name == "" {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString([]byte(cursorMark + name))
}

// placeOf reads a cursor; "" is the start of the list. A cursor chooses among
// what its bearer may see anyway, so that it is not sealed.
func placeOf(cursor string) (name string, ok bool) {
	if cursor == "" {
		return "", true
	}
	b, err := base64.RawURLEncoding.DecodeString(cursor)
	name, ours := strings.CutPrefix(string(b), cursorMark)
	// Decoding passes over line breaks and spare bits.
	return name, err == nil && ours && name != "" && utf8.ValidString(name) && cursorFor(name) == cursor
}

// encode writes the entry of a tool as the library would: compact, and without
// escapes for HTML.
func (v ToolView) encode() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v.wire()); err != nil {
		return nil, err
	}
	return bytes.Clone(bytes.TrimRight(b.Bytes(), "\n")), nil
}

func (v ToolView) wire() *mcp.Tool {
	t := &mcp.Tool{Name: v.Name, Title: v.Title, Description: v.Description, InputSchema: v.InputSchema}
	if len(v.InputSchema) == 0 {
		t.InputSchema = json.RawMessage(`{"type":"object"}`)
	}
	if a := v.Annotations; a != (Annotations{}) {
		t.Annotations = &mcp.ToolAnnotations{
			ReadOnlyHint: a.ReadOnly != nil && *a.ReadOnly, IdempotentHint: a.Idempotent != nil && *a.Idempotent,
			DestructiveHint: a.Destructive, OpenWorldHint: a.OpenWorld,
		}
	}
	return t
}
