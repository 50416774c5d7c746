package spec

import (
	"encoding/json"
	"strings"

	"github.com/toolwarrant/toolwarrant/digest"
)

// digestForm is the part of a document that decides what the tool is and may
// do. The order of fields does not matter: RFC 8785 sorts them.
type digestForm struct {
	Name             string              `json:"name"`
	Description      string              `json:"description,omitempty"`
	Params           []Param             `json:"params,omitempty"`
	Code             string              `json:"code"`
	CodeType         string              `json:"codeType"`
	StaticVariables  []map[string]string `json:"staticVariables,omitempty"`
	SandboxOverrides map[string]any      `json:"sandboxOverrides,omitempty"`
	HumanInTheLoop   map[string]string   `json:"humanInTheLoop,omitempty"`
	Category         string              `json:"category,omitempty"`
	Tags             []string            `json:"tags,omitempty"`
}

// Digest is the specDigest: "sha256:" and the SHA-256 of the RFC 8785 form of
// an object with the members name, description, params, code, codeType,
// staticVariables, sandboxOverrides, humanInTheLoop, category, tags and every
// x-toolwarrant-* member.
//
// Members without value are left out: null, an empty text, list or block. So
// {"sandboxOverrides":{}} and no block have one digest, as they have one
// meaning; an explicit false stays, since it is not the absence of a value.
// Lists keep their order. staticVariables are objects of one member with the
// placeholders as written. The code of action.js counts as if it were in the
// document. toolId, draft, toolSafety, the timestamps and the fields of others
// do not count: they change without the tool changing.
//
// It is computed once and is safe for concurrent use.
func (s *Spec) Digest() string {
	s.digestOnce.Do(func() {
		if c := s.Canonical(); c != nil {
			s.digest = digest.Bytes(c)
		}
	})
	return s.digest
}

// Canonical is the text whose SHA-256 is the Digest. It is made anew at each
// call; nil only for an Extra that did not come from Parse.
func (s *Spec) Canonical() []byte {
	form := digestForm{
		Name: s.Name, Description: s.Description, Params: s.Params, Code: s.Code, CodeType: s.CodeType,
		SandboxOverrides: s.Overrides.members(), Category: s.Category, Tags: s.Tags,
	}
	for _, sv := range s.StaticVariables {
		form.StaticVariables = append(form.StaticVariables, map[string]string{sv.Key: sv.Value})
	}
	if h := s.HumanInTheLoop; h != nil {
		form.HumanInTheLoop = map[string]string{}
		if h.Mode != nil {
			form.HumanInTheLoop["mode"] = *h.Mode
		}
		if h.PromptTemplate != nil {
			form.HumanInTheLoop["promptTemplate"] = *h.PromptTemplate
		}
	}
	raw, err := json.Marshal(form)
	if err != nil {
		return nil // strings, lists and maps of them always encode
	}
	// The extension members join as they stand; the canonical form sorts them.
	var b strings.Builder
	b.Write(raw[:len(raw)-1])
	for _, f := range s.Extra {
		if !strings.HasPrefix(f.Name, "x-toolwarrant-") || string(f.Value) == "null" {
			continue
		}
		b.WriteByte(',')
		name, _ := json.Marshal(f.Name) // a string always encodes
		b.Write(name)
		b.WriteByte(':')
		b.Write(f.Value)
	}
	b.WriteByte('}')
	c, err := digest.Canonical(json.RawMessage(b.String()))
	if err != nil {
		return nil
	}
	return c
}

// members are the explicit values of the block.
func (o *Overrides) members() map[string]any {
	if o.empty() {
		return nil
	}
	m := map[string]any{}
	list := func(name string, v []string) {
		if len(v) > 0 {
			m[name] = v
		}
	}
	list("addAllowClasses", o.AddAllowClasses)
	list("removeAllowClasses", o.RemoveAllowClasses)
	list("addDenyClasses", o.AddDenyClasses)
	list("removeDenyClasses", o.RemoveDenyClasses)
	list("hostsAllow", o.HostsAllow)
	if o.NetworkMode != nil {
		m["networkMode"] = *o.NetworkMode
	}
	if o.FSBasePath != nil {
		m["fsBasePath"] = *o.FSBasePath
	}
	for name, v := range map[string]*bool{"fileRead": o.FileRead, "fileWrite": o.FileWrite, "destructive": o.Destructive} {
		if v != nil {
			m[name] = *v
		}
	}
	return m
}
