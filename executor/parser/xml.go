package parser

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"strings"

	"github.com/toolwarrant/toolwarrant/executor/worker"
)

// XML reads one document: {"tag", "attrs", "text", "children"}. Names keep
// their prefix, text is the element's own text and CDATA without the white
// space around it, attrs keeps the order of the document. Document types and
// entities beyond the five of XML are refused; a declared encoding means
// nothing, since the text is text already.
func XML(ctx context.Context, text string) (out json.RawMessage, fail *worker.Failure) {
	if fail := checkInput(ctx, text); fail != nil {
		return nil, fail
	}
	defer guard(&out, &fail)
	x := xmlReader{dec: xml.NewDecoder(strings.NewReader(strings.TrimPrefix(text, "\ufeff")))}
	x.dec.Strict = true
	x.dec.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	for n := 1; ; n++ {
		// Raw tokens keep the prefixes; that tags match is checked here.
		tok, err := x.dec.RawToken()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, x.bad("not well-formed")
		}
		if fail := x.token(tok); fail != nil {
			return nil, fail
		}
		if n%4096 == 0 {
			if fail := over(ctx); fail != nil {
				return nil, fail
			}
		}
	}
	if len(x.open) > 0 || x.root == nil {
		return nil, x.bad("the document ends too early")
	}
	w := writer{ctx: ctx}
	w.element(x.root)
	return w.done()
}

// maxElements bounds the elements of a document.
const maxElements = 300_000

type xmlReader struct {
	dec   *xml.Decoder
	root  *element
	open  []*element // from the root down to where the reader is
	count int
}

type element struct {
	name     string
	attrs    []xml.Attr
	text     []byte
	children []*element
}

func (x *xmlReader) bad(what string) *worker.Failure {
	line, _ := x.dec.InputPos()
	return failed("line %d: %s", line, what)
}

func (x *xmlReader) token(tok xml.Token) *worker.Failure {
	switch tok := tok.(type) {
	case xml.StartElement:
		return x.start(tok)
	case xml.EndElement:
		return x.end(xmlName(tok.Name))
	case xml.CharData:
		if len(x.open) > 0 {
			e := x.open[len(x.open)-1]
			e.text = append(e.text, tok...)
		} else if strings.TrimSpace(string(tok)) != "" {
			return x.bad("text outside the root element")
		}
	case xml.Directive:
		return x.bad("a document type or another directive is refused")
	}
	return nil // comments and processing instructions
}

func (x *xmlReader) start(tok xml.StartElement) *worker.Failure {
	if len(x.open) == 0 && x.root != nil {
		return x.bad("a second root element")
	}
	if len(x.open) == maxDepth {
		return x.bad("elements nest deeper than 256")
	}
	if x.count++; x.count > maxElements {
		return x.bad("too many elements")
	}
	seen := make(map[string]bool, len(tok.Attr))
	for _, a := range tok.Attr {
		name := xmlName(a.Name)
		if seen[name] {
			return x.bad("an attribute appears twice")
		}
		seen[name] = true
	}
	e := &element{name: xmlName(tok.Name), attrs: tok.Attr}
	if n := len(x.open); n > 0 {
		x.open[n-1].children = append(x.open[n-1].children, e)
	} else {
		x.root = e
	}
	x.open = append(x.open, e)
	return nil
}

func (x *xmlReader) end(name string) *worker.Failure {
	n := len(x.open) - 1
	if n < 0 || x.open[n].name != name {
		return x.bad("the end tag has no start tag")
	}
	x.open = x.open[:n]
	return nil
}

func (w *writer) element(e *element) {
	w.raw(`{"tag":`)
	w.str(e.name)
	w.raw(`,"attrs":{`)
	for i, a := range e.attrs {
		if i > 0 {
			w.raw(",")
		}
		w.str(xmlName(a.Name))
		w.raw(":")
		w.str(a.Value)
	}
	w.raw(`},"text":`)
	w.str(strings.TrimFunc(string(e.text), func(r rune) bool { return r <= ' ' }))
	w.raw(`,"children":[`)
	for i, c := range e.children {
		if i > 0 {
			w.raw(",")
		}
		if w.element(c); w.fail != nil {
			return
		}
	}
	w.raw("]}")
}

func xmlName(n xml.Name) string {
	if n.Space == "" {
		return n.Local
	}
	return n.Space + ":" + n.Local
}

// guard turns a panic of a library into a failed parse.
func guard(out *json.RawMessage, fail **worker.Failure) {
	if recover() != nil {
		*out, *fail = nil, failed("the text cannot be read")
	}
}
