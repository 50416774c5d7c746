package spec

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/toolwarrant/toolwarrant/fault"
)

// Patch names the members that an edit replaces; nil leaves one as it is.
type Patch struct {
	ToolID          *string
	Name            *string
	Draft           *bool
	ToolSafety      *ToolSafety
	CreateTimestamp *int64 // milliseconds since 1970
	UpdateTimestamp *int64 // milliseconds since 1970
	Code            *string
	// HITLMode is the mode of humanInTheLoop, "" = the block does not say one.
	HITLMode *string
}

// Bytes is the saved form of the document. One that was not edited is the
// input byte for byte; in the folder form it is spec.json, without the code.
// The slice must not be changed. Nil for a Spec without text.
func (s *Spec) Bytes() []byte {
	if s.src == nil {
		return nil
	}
	return s.src.data
}

// Edit gives a new Spec in which the members of the patch have new values.
// Everything else stays byte for byte: order, white space, unknown members. A
// member that was absent is added at the end in the style of the document. In
// the folder form the code goes to action.js. The result is validated like any
// document. s itself does not change.
func (s *Spec) Edit(p Patch) (*Spec, *fault.Error) {
	if s.src == nil {
		return nil, fault.New(fault.Internal, "no-text", "a tool without a document cannot be edited")
	}
	src, act := *s.src, s.act
	set := func(name string, value func(indent string) []byte) {
		src.data = setMember(src.data, name, value)
	}
	plain := func(b []byte) func(string) []byte { return func(string) []byte { return b } }
	if p.ToolID != nil {
		set("toolId", plain(encodeText(*p.ToolID)))
	}
	if p.Name != nil {
		set("name", plain(encodeText(*p.Name)))
	}
	if p.Code != nil {
		if act != nil {
			act = &action{file: act.file, code: *p.Code}
		} else {
			set("code", plain(encodeText(*p.Code)))
		}
	}
	if p.ToolSafety != nil {
		set("toolSafety", p.ToolSafety.encode)
	}
	if p.HITLMode != nil {
		src.data = setHITLMode(src.data, *p.HITLMode)
	}
	if p.Draft != nil {
		set("draft", plain(strconv.AppendBool(nil, *p.Draft)))
	}
	if p.CreateTimestamp != nil {
		set("createTimestamp", plain(strconv.AppendInt(nil, *p.CreateTimestamp, 10)))
	}
	if p.UpdateTimestamp != nil {
		set("updateTimestamp", plain(strconv.AppendInt(nil, *p.UpdateTimestamp, 10)))
	}
	parsed := parseSource(&src, act)
	edited, errs := parsed.Spec, parsed.Errors
	if len(errs) > 0 {
		return nil, errs[0]
	}
	edited.loaded = s.loaded
	if edited.loaded == nil {
		edited.loaded = s.src.data
	}
	return edited, nil
}

// setHITLMode replaces the mode within the block, which keeps whatever else it
// says; "" takes it out. A block that would be new and empty is not added.
func setHITLMode(data []byte, mode string) []byte {
	root, _ := readTree(data)
	block := root.get("humanInTheLoop")
	if block == nil || block.kind != '{' {
		if mode == "" {
			return data
		}
		return setMember(data, "humanInTheLoop", func(string) []byte {
			return append(append([]byte(`{"mode": `), encodeText(mode)...), '}')
		})
	}
	inner := data[block.start:block.end]
	if mode == "" {
		if block.get("mode") == nil {
			return data
		}
		return splice(data, block.start, block.end, setMember(inner, "mode", func(string) []byte { return []byte("null") }))
	}
	return splice(data, block.start, block.end, setMember(inner, "mode", func(string) []byte { return encodeText(mode) }))
}

// encode is the JSON of the block, on one line or, for an indent, on several.
func (t *ToolSafety) encode(indent string) []byte {
	c := *t
	if c.Runtime.Helpers == nil {
		c.Runtime.Helpers = []string{}
	}
	if c.Capabilities.Network.Hosts == nil {
		c.Capabilities.Network.Hosts = []string{}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if indent != "" {
		enc.SetIndent(indent, indent)
	}
	_ = enc.Encode(c) // texts, booleans and lists of texts always encode
	return bytes.TrimRight(b.Bytes(), "\n")
}

// setMember replaces the value of a top-level member, or adds the member at
// the end. value is given the indentation of the members, "" when they stand
// on one line. data is a valid object and is not changed.
func setMember(data []byte, name string, value func(indent string) []byte) []byte {
	root, _ := readTree(data)
	before, indent, colon := style(data, root)
	if v := root.get(name); v != nil {
		return splice(data, v.start, v.end, value(indent))
	}
	text := append(append(append([]byte(before), encodeText(name)...), colon...), value(indent)...)
	if len(root.members) == 0 {
		return splice(data, root.start+1, root.start+1, text)
	}
	end := root.members[len(root.members)-1].val.end
	return splice(data, end, end, append([]byte{','}, text...))
}

// style gives what stands before the last member's name, the indentation in
// it, and what stands between a name and its value.
func style(data []byte, root *node) (before, indent, colon string) {
	if len(root.members) == 0 {
		return "", "", ":"
	}
	m := &root.members[len(root.members)-1]
	from := m.at
	for from > root.start+1 && strings.IndexByte(" \t\r\n", data[from-1]) >= 0 {
		from--
	}
	before = string(data[from:m.at])
	if i := strings.LastIndexByte(before, '\n'); i >= 0 {
		indent = before[i+1:]
	}
	// The name ends where the colon or white space before the value begins.
	to := m.val.start
	for to > m.at && strings.IndexByte(" \t\r\n:", data[to-1]) >= 0 {
		to--
	}
	return before, indent, string(data[to:m.val.start])
}

func splice(data []byte, from, to int, text []byte) []byte {
	out := make([]byte, 0, len(data)-(to-from)+len(text))
	return append(append(append(out, data[:from]...), text...), data[to:]...)
}
