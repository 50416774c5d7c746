package resolver

import (
	"bytes"
	"encoding/json"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/toolwarrant/toolwarrant/spec"
	"github.com/toolwarrant/toolwarrant/spec/script"
)

// document is input.document: the texts that lint rules read. Decisions do
// without, so that they stay as fast as they are and no rule of theirs depends
// on prose.
type document struct {
	Description string          `json:"description"`
	Tags        []string        `json:"tags"`
	Hosts       []string        `json:"hosts"`
	Params      []documentParam `json:"params"`
	Statics     []documentPair  `json:"staticVariables"`
	Members     []string        `json:"members"`
	Mentions    []string        `json:"mentions"`
	UnreadMasks []string        `json:"unreadMasks"`
	ToolSafety  json.RawMessage `json:"toolSafety,omitempty"`
	Strings     []script.Piece  `json:"strings"`
	Identifiers []script.Piece  `json:"identifiers"`
	Loops       []script.Piece  `json:"endlessLoops"`
}

type documentParam struct {
	Name        string  `json:"name"`
	Description string  `json:"description"`
	Type        string  `json:"type"`
	TestValue   *string `json:"testValue,omitempty"`
}

type documentPair struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

func documentTerm(s *spec.Spec, mentions []string) (*ast.Term, error) {
	outline := script.Read(s.Code)
	d := document{
		Description: s.Description, Tags: list(s.Tags), Hosts: []string{}, Members: list(s.Members()), Mentions: list(mentions), UnreadMasks: list(masksOf(s).unread), ToolSafety: s.StoredSafety(),
		Params: []documentParam{}, Statics: []documentPair{},
		Strings: list(outline.Strings), Identifiers: list(outline.Foreign), Loops: list(outline.EndlessLoops),
	}
	if s.Overrides != nil {
		d.Hosts = list(s.Overrides.HostsAllow)
	}
	for _, p := range s.Params {
		d.Params = append(d.Params, documentParam{p.Name, p.Description, string(p.Type), p.TestValue})
	}
	for _, v := range s.StaticVariables {
		d.Statics = append(d.Statics, documentPair{v.Key, v.Value})
	}
	raw, err := json.Marshal(d)
	if err != nil {
		return nil, unavailable("eval-error", "the document cannot be read").Because(err)
	}
	v, err := ast.ValueFromReader(bytes.NewReader(raw))
	if err != nil {
		return nil, unavailable("eval-error", "the document cannot be read").Because(err)
	}
	return ast.NewTerm(v), nil
}

// list is never nil: an empty list is a list, and null is left out of inputs.
func list[T any](values []T) []T { return append([]T{}, values...) }
