package resolver

import (
	"bytes"
	"encoding/json"
	"slices"

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
	Reasons     []string        `json:"reasons"`
	Strings     []script.Piece  `json:"strings"`
	Named       []script.Named  `json:"namedStrings"`
	Identifiers []script.Piece  `json:"identifiers"`
	Missing     []script.Piece  `json:"missingNames"`
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
		Params: []documentParam{}, Statics: []documentPair{}, Reasons: []string{},
		Strings: list(outline.Strings), Named: list(outline.Named), Missing: missing(s, outline), Identifiers: list(outline.Foreign), Loops: list(outline.EndlessLoops),
	}
	if s.Overrides != nil {
		d.Hosts = list(s.Overrides.HostsAllow)
	}
	for _, e := range s.Suppressions() {
		d.Reasons = append(d.Reasons, e.Reason)
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

// missing leaves the names out that the tool is run with.
func missing(s *spec.Spec, outline script.Outline) []script.Piece {
	given := map[string]bool{}
	for _, p := range s.Params {
		given[p.Name] = true
	}
	for _, v := range s.StaticVariables {
		given[v.Key] = true
	}
	return slices.DeleteFunc(list(outline.Missing), func(p script.Piece) bool { return given[p.Text] })
}

// list is never nil: an empty list is a list, and null is left out of inputs.
func list[T any](values []T) []T { return append([]T{}, values...) }
