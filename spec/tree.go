package spec

import (
	"bytes"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/toolwarrant/toolwarrant/fault"
)

// maxDepth bounds the nesting of every JSON text that this package reads.
const maxDepth = 64

// node is one JSON value with its place in the text: a document is read once
// into a tree of these, from which come the values, the positions of findings
// and the byte ranges that an edit replaces.
type node struct {
	kind       jsontext.Kind // 'n' 't' 'f' '"' '0' '{' '['
	start, end int           // byte range in the text
	str        string        // decoded text of a string
	num        float64       // value of a number
	members    []member      // of an object, in their order
	elems      []node        // of an array
}

type member struct {
	name string
	at   int // where the name stands
	val  node
}

// get gives the member of that name, or nil.
func (n *node) get(name string) *node {
	if n == nil {
		return nil
	}
	for i := range n.members {
		if n.members[i].name == name {
			return &n.members[i].val
		}
	}
	return nil
}

// find follows an RFC 6901 pointer.
func (n *node) find(pointer string) *node {
	for _, tok := range tokens(pointer) {
		if n == nil {
			return nil
		}
		if n.kind == '[' {
			i, err := strconv.Atoi(tok)
			if err != nil || i < 0 || i >= len(n.elems) {
				return nil
			}
			n = &n.elems[i]
			continue
		}
		n = n.get(tok)
	}
	return n
}

// value is the form that the schema validator takes.
func (n *node) value() any {
	switch n.kind {
	case '"':
		return n.str
	case '0':
		return n.num
	case 't':
		return true
	case 'f':
		return false
	case '{':
		m := make(map[string]any, len(n.members))
		for i := range n.members {
			m[n.members[i].name] = n.members[i].val.value()
		}
		return m
	case '[':
		a := make([]any, len(n.elems))
		for i := range n.elems {
			a[i] = n.elems[i].value()
		}
		return a
	}
	return nil
}

// tokens splits a pointer into its unescaped reference tokens.
func tokens(pointer string) []string {
	if pointer == "" {
		return nil
	}
	toks := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	for i, t := range toks {
		toks[i] = strings.ReplaceAll(strings.ReplaceAll(t, "~1", "/"), "~0", "~")
	}
	return toks
}

// join appends a reference token to a pointer.
func join(pointer, token string) string {
	return pointer + "/" + strings.ReplaceAll(strings.ReplaceAll(token, "~", "~0"), "/", "~1")
}

func index(pointer string, i int) string { return pointer + "/" + strconv.Itoa(i) }

// textError is a finding about JSON text before it means anything.
type textError struct {
	reason, message, pointer string
	offset                   int
}

// readTree reads one JSON text. It stops at the first syntax error; duplicate
// names do not stop it, so that all of them are found.
func readTree(data []byte) (*node, []textError) {
	r := &treeReader{data: data, dec: jsontext.NewDecoder(bytes.NewReader(data), jsontext.AllowDuplicateNames(true))}
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, []textError{{"syntax", "the text is empty; want one JSON value", "", 0}}
	}
	root := &node{}
	if r.read(root, "", 0) {
		if _, err := r.dec.ReadToken(); !errors.Is(err, io.EOF) {
			r.fail("trailing-data", "more text follows the end of the JSON value", "", r.skip(int(r.dec.InputOffset())))
		}
	}
	return root, r.errs
}

type treeReader struct {
	data []byte
	dec  *jsontext.Decoder
	errs []textError
}

func (r *treeReader) fail(reason, message, pointer string, offset int) bool {
	r.errs = append(r.errs, textError{reason, message, pointer, offset})
	return false
}

// skip gives the offset of the next token after off.
func (r *treeReader) skip(off int) int {
	for off < len(r.data) && strings.IndexByte(" \t\r\n,:", r.data[off]) >= 0 {
		off++
	}
	return off
}

// token reads the next token and its place.
func (r *treeReader) token(pointer string) (tok jsontext.Token, start int, ok bool) {
	start = r.skip(int(r.dec.InputOffset()))
	tok, err := r.dec.ReadToken()
	if err == nil {
		return tok, start, true
	}
	var se *jsontext.SyntacticError
	if !errors.As(err, &se) {
		return tok, start, r.fail("syntax", "the JSON text ends too early", pointer, len(r.data))
	}
	off := min(int(se.ByteOffset), len(r.data))
	if strings.Contains(se.Err.Error(), "UTF-8") || strings.Contains(se.Err.Error(), "surrogate") {
		return tok, start, r.fail("invalid-utf8", "the JSON text holds bytes or an escape that are not valid Unicode", string(se.JSONPointer), off)
	}
	if errors.Is(se.Err, io.ErrUnexpectedEOF) {
		return tok, start, r.fail("syntax", "the JSON text ends too early", string(se.JSONPointer), off)
	}
	return tok, start, r.fail("syntax", "not valid JSON: "+cleanSyntax(se.Err.Error())+hintOf(se.Err, r.data[off:]), string(se.JSONPointer), off)
}

// cleanSyntax keeps the reason of a syntax error and drops the library's name.
func cleanSyntax(s string) string {
	return strings.TrimPrefix(s, "jsontext: ")
}

// hintOf says what is usually wrong where rest begins in the place of a value.
func hintOf(err error, rest []byte) string {
	const quotes = "; names and texts stand in double quotes"
	if strings.Contains(err.Error(), "in literal") { // {name: 1} begins as null does
		return quotes
	}
	if len(rest) == 0 || !strings.HasSuffix(err.Error(), "at start of value") {
		return ""
	}
	switch c := rest[0]; {
	case c == ',':
		return "; no comma stands before a closing bracket"
	case bytes.HasPrefix(rest, []byte("//")), bytes.HasPrefix(rest, []byte("/*")):
		return "; JSON has no comments"
	case bytes.HasPrefix(rest, []byte("\ufeff")):
		return "; save the file without a byte order mark"
	case c == '\'', c == '_', 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', bytes.HasPrefix(rest, []byte("“")), bytes.HasPrefix(rest, []byte("‘")):
		return quotes
	}
	return ""
}

func (r *treeReader) read(n *node, pointer string, depth int) bool {
	tok, start, ok := r.token(pointer)
	if !ok {
		return false
	}
	n.kind, n.start = tok.Kind(), start
	switch n.kind {
	case '"':
		n.str = tok.String()
	case '0':
		// RFC 8785 and JavaScript know binary64 alone: a number beyond it has
		// no meaning that two readers share.
		f, err := strconv.ParseFloat(string(r.data[start:r.dec.InputOffset()]), 64)
		if err != nil || math.IsInf(f, 0) {
			return r.fail("number-range", "the number is too large for a 64-bit float", pointer, start)
		}
		n.num = f
	case '{', '[':
		if depth >= maxDepth {
			return r.fail("too-deep", "the value is nested more than "+strconv.Itoa(maxDepth)+" levels deep", pointer, start)
		}
		if n.kind == '{' {
			ok = r.object(n, pointer, depth)
		} else {
			ok = r.array(n, pointer, depth)
		}
		if !ok {
			return false
		}
	}
	n.end = int(r.dec.InputOffset())
	return true
}

func (r *treeReader) object(n *node, pointer string, depth int) bool {
	var seen map[string]bool
	for r.dec.PeekKind() != '}' {
		tok, at, ok := r.token(pointer)
		if !ok {
			return false
		}
		name := tok.String()
		p := join(pointer, name)
		if len(n.members) == 8 {
			seen = make(map[string]bool)
			for i := range n.members {
				seen[n.members[i].name] = true
			}
		}
		if seen[name] || seen == nil && n.get(name) != nil {
			if len(r.errs) >= maxFindings {
				return false
			}
			r.fail("duplicate-member", "the member "+strconv.Quote(name)+" occurs twice in one object; keep one", p, at)
		}
		if seen != nil {
			seen[name] = true
		}
		n.members = append(n.members, member{name: name, at: at})
		if !r.read(&n.members[len(n.members)-1].val, p, depth+1) {
			return false
		}
	}
	_, _, ok := r.token(pointer)
	return ok
}

func (r *treeReader) array(n *node, pointer string, depth int) bool {
	for r.dec.PeekKind() != ']' {
		n.elems = append(n.elems, node{})
		if !r.read(&n.elems[len(n.elems)-1], index(pointer, len(n.elems)-1), depth+1) {
			return false
		}
	}
	_, _, ok := r.token(pointer)
	return ok
}

// maxFindings bounds what is reported about one document.
const maxFindings = 50

// source is the text of one document and where it stands: a file, or a member
// of a bundle file.
type source struct {
	file    string
	data    []byte // the document alone; for a file with one document, the whole file
	prefix  string // pointer of the document inside the file, "" for the whole file
	line    int    // 1-based place of data[0] in the file
	column  int
	bundled bool
}

// position turns an offset into data into a place in the file.
func (s *source) position(offset int) Position {
	before := s.data[:min(max(offset, 0), len(s.data))]
	nl := bytes.Count(before, []byte("\n"))
	col := len(before) - bytes.LastIndexByte(before, '\n')
	if nl == 0 {
		col += s.column - 1
	}
	return Position{Line: s.line + nl, Column: col}
}

// at places e at an offset and at a pointer relative to the document.
func (s *source) at(e *fault.Error, pointer string, offset int) *fault.Error {
	p := s.position(offset)
	return e.At(s.file, s.prefix+pointer, p.Line, p.Column)
}
