package spec

import (
	"slices"

	"github.com/toolwarrant/toolwarrant/fault"
)

// memberOrder is the order in which the specification shows a document. What
// it does not define follows, in the order of the author.
var memberOrder = []string{
	"$schema", "toolId", "name", "description", "category", "tags", "params", "staticVariables", "code", "codeType",
	"sandboxOverrides", "toolSafety", "humanInTheLoop", "draft", "createTimestamp", "updateTimestamp",
}

// Tidy gives the document in the form in which documents are kept: members in
// the order of the specification, the toolId and the defaults written out, and
// with safety, that toolSafety block in place of the stored one. The text of
// every other value, and the white space between members, stays byte for byte.
// The digest stays too, since nothing changes what the tool is.
func (s *Spec) Tidy(safety *ToolSafety) (*Spec, *fault.Error) {
	if s.src == nil {
		return nil, fault.New(fault.Internal, "no-text", "a tool without a document cannot be edited")
	}
	data := s.src.data
	root, _ := readTree(data)
	missing := func(name string) bool { v := root.get(name); return v == nil || v.kind == 'n' }
	fill := func(name string, value []byte) {
		if missing(name) {
			data = setMember(data, name, func(string) []byte { return value })
		}
	}
	if v := root.get("toolId"); v == nil || v.text() == "" {
		data = setMember(data, "toolId", func(string) []byte { return encodeText(s.ToolID) })
	}
	for _, list := range []string{"tags", "params", "staticVariables"} {
		fill(list, []byte("[]"))
	}
	fill("draft", []byte("true"))
	if safety != nil {
		data = setMember(data, "toolSafety", safety.encode)
	}
	src := *s.src
	src.data = ordered(data)
	parsed := parseSource(&src, s.act)
	edited, errs := parsed.Spec, parsed.Errors
	if len(errs) > 0 {
		return nil, errs[0]
	}
	if edited.loaded = s.loaded; edited.loaded == nil {
		edited.loaded = s.src.data
	}
	return edited, nil
}

// ordered puts the members of an object into memberOrder: each takes the place
// of another, and what stands between them stays.
func ordered(data []byte) []byte {
	root, _ := readTree(data)
	rank := func(name string) int {
		if i := slices.Index(memberOrder, name); i >= 0 {
			return i
		}
		return len(memberOrder)
	}
	sorted := slices.Clone(root.members)
	slices.SortStableFunc(sorted, func(a, b member) int { return rank(a.name) - rank(b.name) })
	out := make([]byte, 0, len(data))
	from := 0
	for i := range root.members {
		out = append(out, data[from:root.members[i].at]...)
		out = append(out, data[sorted[i].at:sorted[i].val.end]...)
		from = root.members[i].val.end
	}
	return append(out, data[from:]...)
}
