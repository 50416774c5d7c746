package spec

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/toolwarrant/toolwarrant/fault"
)

// Parse reads one document: syntax, JSON Schema, decoding, invariants, in this
// order, each step only when the one before found nothing. The findings are in
// text order. With any of them the Spec is nil. The code is not parsed here,
// since that costs more than all of the rest; see CheckCode.
//
// file is the name that findings carry. data is kept, and must not change.
func Parse(file string, data []byte) (*Spec, []*fault.Error) {
	l := parseOne(file, data)
	return l.Spec, l.Errors
}

// action is the code of the folder form, which stands in a file of its own.
type action struct {
	file string // as shown to people
	code string
}

func parseSource(src *source, act *action) Loaded {
	p := &parsing{src: src, act: act}
	s := p.run()
	if len(p.errs) == 0 {
		return Loaded{Spec: s, File: src.file}
	}
	slices.SortStableFunc(p.errs, func(a, b *fault.Error) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return Loaded{Broken: s, File: src.file, Errors: p.errs[:min(len(p.errs), maxFindings)]}
}

// parsing is one run of Parse.
type parsing struct {
	src  *source
	act  *action
	root *node
	errs []*fault.Error
}

func (p *parsing) run() *Spec {
	if len(p.src.data) > MaxDocumentBytes {
		p.add(fault.New(fault.SpecParse, "too-large", "the document has %d bytes, at most %d are read", len(p.src.data), MaxDocumentBytes), "", 0)
		return nil
	}
	root, problems := readTree(p.src.data)
	for _, t := range problems {
		p.add(fault.New(fault.SpecParse, t.reason, "%s", t.message), t.pointer, t.offset)
	}
	if len(problems) > 0 {
		return nil
	}
	p.root = root
	if root.kind != '{' {
		p.add(fault.New(fault.SpecParse, "type", "want one JSON object, got %s", kindName(root)), "", root.start)
		return nil
	}
	if p.schema(); len(p.errs) > 0 {
		return nil
	}
	s := decode(root, p.src.data)
	s.src, s.act = p.src, p.act
	if p.act != nil {
		s.Code = p.act.code
	}
	p.invariants(s)
	return s
}

// schema applies the JSON Schema. The code of the folder form is put in first,
// and a document that has code as well is refused, since one of the two would
// be ignored.
func (p *parsing) schema() {
	v := p.root.value().(map[string]any) // the caller saw an object
	if p.act != nil {
		if code := p.root.get("code"); code != nil && code.kind != 'n' {
			p.invariant("code-twice", "/code", "the code stands in spec.json and in action.js; keep one of them")
		}
		v["code"] = p.act.code
	}
	found, ferr := validate(v)
	if ferr != nil {
		p.errs = append(p.errs, ferr.At(p.src.file, p.src.prefix, p.src.line, p.src.column))
		return
	}
	for _, f := range found {
		e := fault.New(fault.SpecParse, f.reason, "%s", f.message)
		if f.missing && f.pointer == "/code" {
			e.Message += "; write it, or put it into action.js beside a spec.json"
		}
		p.add(e, f.pointer, p.offset(f.pointer, f.atName))
	}
}

// offset is where a finding about pointer stands: at the value, at the name of
// the member, or at the closest ancestor that exists.
func (p *parsing) offset(pointer string, atName bool) int {
	n, at := p.root, p.root.start
	for _, tok := range tokens(pointer) {
		next := n.find("/" + escape(tok))
		if next == nil {
			return at
		}
		at = next.start
		if atName && n.kind == '{' {
			for i := range n.members {
				if n.members[i].name == tok {
					at = n.members[i].at
				}
			}
		}
		n = next
	}
	return at
}

// add records e at an offset of the document.
func (p *parsing) add(e *fault.Error, pointer string, offset int) {
	p.errs = append(p.errs, p.src.at(e, pointer, offset))
}

// invariant records a broken rule between fields.
func (p *parsing) invariant(reason, pointer, format string, args ...any) {
	p.add(fault.New(fault.SpecInvariant, reason, format, args...), pointer, p.offset(pointer, false))
}

func kindName(n *node) string {
	switch n.kind {
	case '{':
		return "object"
	case '[':
		return "array"
	case '"':
		return "string"
	case '0':
		return "number"
	case 't', 'f':
		return "boolean"
	}
	return "null"
}

func escape(token string) string { return join("", token)[1:] }

// quote shows text of an author inside a message.
func quote(s string) string { return fmt.Sprintf("%q", clip(s)) }
