package server

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"hash/fnv"
	"iter"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// List is the tools that one caller sees, by name, as they go over the wire.
// It is encoded once and never changes, so that any number of callers and
// requests can share it; lists that are alike share their segments.
type List struct {
	key      listKey // of its content
	segments []*segment
}

// segment is a run of tools of a list, encoded.
type segment struct {
	key   listKey // of its content, zero where nobody shares it
	names []string
	text  []byte // each entry with a comma behind it
	ends  []int  // where each entry and its comma end in text
}

// NewList encodes tools, sorted by name. The error is of a tool whose input
// schema is not JSON.
func NewList(tools []ToolView) (*List, error) {
	sorted := slices.SortedStableFunc(slices.Values(tools), func(a, b ToolView) int { return cmp.Compare(a.Name, b.Name) })
	l := &List{}
	for run := range runs(sorted, func(v ToolView) string { return v.Name }) {
		s, err := newSegment(run)
		if err != nil {
			return nil, err
		}
		l.segments = append(l.segments, s)
	}
	l.key = l.digest()
	return l, nil
}

// digest names the bytes of a list.
func (l *List) digest() (key listKey) {
	h := sha256.New()
	for _, s := range l.segments {
		_, _ = h.Write(s.text)
	}
	h.Sum(key[:0])
	return key
}

// runs cuts a list into the parts that become segments. Where it cuts follows
// from single names, so that two lists of which one lacks a tool are cut at
// the same places.
func runs[T any](all []T, name func(T) string) iter.Seq[[]T] {
	const about = 128 // tools of a segment
	return func(yield func([]T) bool) {
		start := 0
		for i, v := range all {
			h := fnv.New32a()
			_, _ = h.Write([]byte(name(v)))
			if h.Sum32()%about == 0 || i == len(all)-1 {
				if !yield(all[start : i+1]) {
					return
				}
				start = i + 1
			}
		}
	}
}

func newSegment(tools []ToolView) (*segment, error) {
	s := &segment{}
	var b bytes.Buffer
	for _, v := range tools {
		if err := v.encode(&b); err != nil {
			return nil, err
		}
		b.WriteByte(',')
		s.names, s.ends = append(s.names, v.Name), append(s.ends, b.Len())
	}
	s.text = bytes.Clone(b.Bytes())
	return s, nil
}

// size is about what a segment takes of memory, in bytes.
func (s *segment) size() int {
	const each = 8 + 16 // of an end and the head of a name, whose letters belong to the spec
	return len(s.text) + each*len(s.names) + 256
}

// page gives the entries behind the tool of that name, "" = from the start, as
// the content of a JSON array in parts: as many as fit into limit bytes, and
// one at least. next is the name to go on after, "" at the end. A page begins
// where its name would stand, so that going on works in a list that has
// changed.
func (l *List) page(after string, limit int) (parts [][]byte, next string) {
	at := sort.Search(len(l.segments), func(i int) bool {
		names := l.segments[i].names
		return after == "" || names[len(names)-1] > after
	})
	for _, s := range l.segments[at:] {
		first := sort.Search(len(s.names), func(i int) bool { return after == "" || s.names[i] > after })
		start := 0
		if first > 0 {
			start = s.ends[first-1]
		}
		last, _ := slices.BinarySearch(s.ends, start+limit+2) // the first that does not fit; a comma is no part of the page
		if last = max(last, first); last == first && len(parts) == 0 {
			last++ // one at least
		}
		if last > first {
			parts = append(parts, s.text[start:s.ends[last-1]])
			limit -= s.ends[last-1] - start
			next = s.names[last-1]
		}
		if last < len(s.names) {
			return trim(parts), next
		}
		after = ""
	}
	return trim(parts), ""
}

// trim takes the last comma away.
func trim(parts [][]byte) [][]byte {
	if n := len(parts); n > 0 {
		last := parts[n-1]
		parts[n-1] = last[: len(last)-1 : len(last)-1]
	}
	return parts
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
func (v ToolView) encode(b *bytes.Buffer) error {
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v.wire()); err != nil {
		return err
	}
	b.Truncate(b.Len() - 1) // the line break behind it
	return nil
}

func (v ToolView) wire() *mcp.Tool {
	t := &mcp.Tool{Name: v.Name, Title: v.Title, Description: v.Description, InputSchema: v.InputSchema}
	if len(v.InputSchema) == 0 {
		t.InputSchema = json.RawMessage(`{"type":"object"}`)
	}
	if len(v.OutputSchema) > 0 {
		t.OutputSchema = v.OutputSchema
	}
	if a := v.Annotations; a != (Annotations{}) {
		t.Annotations = &mcp.ToolAnnotations{
			ReadOnlyHint: a.ReadOnly != nil && *a.ReadOnly, IdempotentHint: a.Idempotent != nil && *a.Idempotent,
			DestructiveHint: a.Destructive, OpenWorldHint: a.OpenWorld,
		}
	}
	return t
}
