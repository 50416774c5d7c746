package resolver

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/toolwarrant/toolwarrant/digest"
	"github.com/toolwarrant/toolwarrant/fault"
)

// ArtefactSchema is the version of the form in which a policy is kept.
const ArtefactSchema = "toolwarrant.policy/1"

// Artefact is everything of a policy that decides, as one text: what an audit
// log keeps, so that its decisions can be made again. The tests are no part
// of it, as they are no part of the revision.
type Artefact struct {
	Revision string
	Digest   string // of Content
	Content  []byte // JSON
}

// artefactForm is the text.
type artefactForm struct {
	Schema   string            `json:"schema"`
	Revision string            `json:"revision"`
	Files    map[string]string `json:"files"` // rego/..., cue/...
	// What the Rego may use, as text: a part of the revision.
	Capabilities string `json:"capabilities"`
}

func (s *source) artefact(revision string) (Artefact, error) {
	form := artefactForm{ArtefactSchema, revision, map[string]string{"rego/data.json": string(s.data)}, string(s.capabilitiesText)}
	for _, m := range []map[string][]byte{s.rego, s.cue} {
		for name, text := range m {
			form.Files[name] = string(text)
		}
	}
	content, err := json.Marshal(form)
	if err != nil {
		return Artefact{}, fault.New(fault.Internal, "artefact", "the policy %s cannot be written as one text", s.name).Because(err)
	}
	return Artefact{Revision: revision, Digest: digest.Bytes(content), Content: content}, nil
}

// Artefact gives the policy of a revision that is in force, or was until the
// last swap: a decision may be older than a swap, but not than two.
func (r *Resolver) Artefact(revision string) (Artefact, bool) {
	if a := r.active.Load().artefact; a.Revision == revision {
		return a, true
	}
	if a := r.before.Load(); a != nil && a.Revision == revision {
		return *a, true
	}
	return Artefact{}, false
}

// ArtefactRevision says of which revision a text is the artefact.
func ArtefactRevision(content []byte) (string, error) {
	form, err := readArtefact(content)
	return form.Revision, err
}

func readArtefact(content []byte) (artefactForm, error) {
	var form artefactForm
	if err := json.Unmarshal(content, &form); err != nil || form.Schema != ArtefactSchema {
		return form, fault.New(fault.PolicyUnavailable, "artefact", "the text is no policy of the form %s", ArtefactSchema).Because(err)
	}
	return form, nil
}

// FromArtefact compiles a policy from its artefact. Its revision has to come
// out as it was: a toolwarrant that gives policies other builtins would
// decide by the same text and not the same way.
func FromArtefact(ctx context.Context, content []byte, o Operator) (*Resolver, error) {
	form, err := readArtefact(content)
	if err != nil {
		return nil, err
	}
	s := &source{name: form.Revision, rego: map[string][]byte{}, cue: map[string][]byte{}, tests: map[string][]byte{}}
	s.capabilitiesText = []byte(form.Capabilities)
	if s.capabilities, err = readCapabilities(s.capabilitiesText); err != nil {
		return nil, err
	}
	for _, name := range sortedKeys(form.Files) {
		part, rest, _ := strings.Cut(name, "/")
		put := s.place(part, rest)
		if put == nil {
			return nil, fault.New(fault.PolicyUnavailable, "artefact", "the policy %s holds %s, which no policy consists of", form.Revision, name)
		}
		if err := put(name, []byte(form.Files[name])); err != nil {
			return nil, err
		}
	}
	e, err := newEngine(ctx, s, o)
	if err != nil {
		return nil, err
	}
	if e.revision != form.Revision {
		return nil, fault.New(fault.PolicyUnavailable, "artefact",
			"the policy says that it is %s and is %s: it was altered, or comes from a toolwarrant whose policies have other builtins", form.Revision, e.revision)
	}
	r := &Resolver{options: Options{Policy: form.Revision, Operator: o, Untested: true}}
	r.active.Store(e)
	return r, nil
}
