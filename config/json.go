package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// parseJSON reads one JSON document. The places inside a file are its lines;
// a variable or a flag is one place as a whole.
func parseJSON(at place, data []byte) (*node, error) {
	r := jsonReader{
		dec:  jsontext.NewDecoder(bytes.NewReader(data), jsontext.AllowDuplicateNames(true)),
		at:   at,
		data: data,
	}
	n, err := r.node(nil)
	if err != nil {
		return nil, err
	}
	r.dec.PeekKind()
	end := r.place()
	if _, err := r.dec.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, end.fault("bad-syntax", nil, "there is more after the end of the document")
	}
	return n, nil
}

type jsonReader struct {
	dec  *jsontext.Decoder
	at   place
	data []byte
}

func (r jsonReader) node(path []string) (*node, error) {
	k := r.dec.PeekKind()
	at := r.place()
	if len(path) > maxDepth {
		return nil, at.fault("bad-value", path[:1], "nested deeper than %d levels", maxDepth)
	}
	tok, err := r.dec.ReadToken()
	if err != nil {
		return nil, r.bad("the document is not JSON", err)
	}
	n := &node{at: at}
	switch k {
	case '{':
		n.kind = object
		err = r.members(n, path)
	case '[':
		n.kind = list
		for err == nil && r.dec.PeekKind() != ']' {
			var item *node
			if item, err = r.node(extend(path, strconv.Itoa(len(n.items)))); err == nil {
				n.items = append(n.items, item)
			}
		}
		if err == nil {
			if _, err = r.dec.ReadToken(); err != nil {
				err = r.bad("the document is not JSON", err)
			}
		}
	case '"':
		n.kind, n.scalar = text, tok.String()
	case '0':
		n.kind, n.scalar = number, json.Number(tok.String())
	case 't', 'f':
		n.kind, n.scalar = truth, tok.Bool()
	default:
		n.kind = null
	}
	return n, err
}

func (r jsonReader) members(n *node, path []string) error {
	for {
		k := r.dec.PeekKind()
		at := r.place()
		tok, err := r.dec.ReadToken()
		if err != nil {
			return r.bad("the document is not JSON", err)
		}
		if k == '}' {
			return nil
		}
		name := tok.String()
		if n.member(name) != nil {
			return duplicate(at, extend(path, name))
		}
		value, err := r.node(extend(path, name))
		if err != nil {
			return err
		}
		n.members = append(n.members, member{name, at, value})
	}
}

// place is that of the token that PeekKind just saw.
func (r jsonReader) place() place {
	if r.at.file == "" {
		return r.at
	}
	off := int(r.dec.InputOffset())
	// Before a token stand white space and at most one colon or comma.
	for off < len(r.data) && strings.IndexByte(" \t\r\n:,", r.data[off]) >= 0 {
		off++
	}
	return r.offset(off)
}

func (r jsonReader) offset(off int) place {
	before := r.data[:min(off, len(r.data))]
	p := r.at
	p.line = bytes.Count(before, []byte("\n")) + 1
	p.column = len(before) - bytes.LastIndexByte(before, '\n')
	return p
}

func (r jsonReader) bad(what string, err error) error {
	p := r.at
	var at *jsontext.SyntacticError
	if errors.As(err, &at) {
		if p.file != "" {
			p = r.offset(int(at.ByteOffset))
		}
		err = at.Err
	}
	if err == nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return p.fault("bad-syntax", nil, "%s: it ends too early", what)
	}
	return p.fault("bad-syntax", nil, "%s: %v", what, err)
}
