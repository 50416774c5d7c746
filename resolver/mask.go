package resolver

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/spec"
)

// maskMember is where a document says which arguments the log does not show.
const maskMember = "x-toolwarrant-mask"

// masks is what a document says of it.
type masks struct {
	names  []string                 // of the parameters that are not shown
	forms  map[string]decision.Form // of those, how they are kept where that is not "mask"
	unread []string                 // pointers into the document of what could not be read
}

// masksOf reads x-toolwarrant-mask: a list of names, or an object of forms by
// name. Where any of it cannot be read, all arguments are masked: what was
// meant is not known. What is readable then counts only as far as it hides
// more.
func masksOf(s *spec.Spec) masks {
	var m masks
	for _, f := range s.Extra {
		if f.Name == maskMember {
			m.read(f.Value)
		}
	}
	if len(m.unread) == 0 {
		return m
	}
	m.names = m.names[:0]
	for _, p := range s.Params {
		m.names = append(m.names, p.Name)
	}
	for name, form := range m.forms {
		if !form.AtLeast(decision.FormMask) {
			delete(m.forms, name)
		}
	}
	slices.Sort(m.unread)
	return m
}

func (m *masks) read(raw json.RawMessage) {
	unread := func(below ...string) {
		at := jsontext.Pointer("/" + maskMember)
		for _, token := range below {
			at = at.AppendToken(token)
		}
		m.unread = append(m.unread, string(at))
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil { // null too
		for i, entry := range list {
			var name *string
			if json.Unmarshal(entry, &name) != nil || name == nil {
				unread(strconv.Itoa(i))
				continue
			}
			m.names = append(m.names, *name)
		}
		return
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(raw, &object) != nil {
		unread()
		return
	}
	m.forms = map[string]decision.Form{}
	for _, name := range sortedKeys(object) {
		var form decision.Form
		if json.Unmarshal(object[name], &form) != nil || !form.Known() {
			unread(name)
			continue
		}
		m.names = append(m.names, name)
		if form != decision.FormMask {
			m.forms[name] = form
		}
	}
}

// term is input.tool.maskForms; nil where there is nothing to say.
func (m *masks) term() *ast.Term {
	if len(m.forms) == 0 {
		return nil
	}
	var t terms
	for _, name := range sortedKeys(m.forms) {
		t.add(name, stringTerm(string(m.forms[name])))
	}
	return t.object()
}

// HidesArguments reports whether the settings of the policy in force keep any
// argument out of the log: then those of a call that is not decided cannot be
// shown, since nobody says which. What rules hide by themselves it does not see.
func (r *Resolver) HidesArguments() bool { return r.active.Load().layers.hides }

// dropsWhatMayGo refuses a policy that would leave a field out of the record
// which may not go, as far as its text tells. What a rule computes is seen
// when a call is recorded.
func dropsWhatMayGo(name string, c *ast.Compiler) error {
	for _, rule := range c.GetRules(ast.MustParseRef("data.toolwarrant.log.drop")) {
		var fields []*ast.Term
		if rule.Head.Key != nil {
			fields = append(fields, rule.Head.Key)
		}
		if rule.Head.Value != nil {
			switch v := rule.Head.Value.Value.(type) {
			case ast.Set:
				v.Foreach(func(t *ast.Term) { fields = append(fields, t) })
			case *ast.Array:
				v.Foreach(func(t *ast.Term) { fields = append(fields, t) })
			}
		}
		for _, t := range fields {
			field, constant := t.Value.(ast.String)
			if !constant || slices.Contains(decision.Removable, string(field)) {
				continue
			}
			at := rule.Loc()
			return fault.New(fault.PolicyUnavailable, "policy-compile",
				"the policy %s cannot be put into force: log.drop names %q at %s, which no record can do without, or which there is not; what may be left out is %s",
				name, string(field), at, strings.Join(decision.Removable, ", ")).At(at.File, "", at.Row, at.Col)
		}
	}
	return nil
}
