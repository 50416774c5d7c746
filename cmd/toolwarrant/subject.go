package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/toolwarrant/toolwarrant/catalog"
	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/spec"
)

// subject is what SPEC|NAME on a command line means: a tool of the catalog,
// or a document that is in none.
type subject struct {
	tool *catalog.Tool
	// unpublished is set for a document named by its path.
	unpublished bool
}

// lookupper is the part of a catalog that subjects need.
type lookupper interface {
	Lookup(ctx context.Context, nameOrID string) (*catalog.Tool, error)
}

// subject finds SPEC|NAME. A plain name is looked for in the catalog first,
// so that a folder of the same name does not change what "run base64" means;
// "./base64" is always the path.
func (a *app) subject(ctx context.Context, tools lookupper, arg string) (subject, error) {
	plain := arg != "-" && !strings.ContainsAny(arg, `/\`) && !strings.HasSuffix(arg, ".json")
	if plain && tools != nil {
		t, err := tools.Lookup(ctx, arg)
		if err == nil {
			return subject{tool: t}, nil
		}
		if _, statErr := os.Stat(arg); statErr != nil {
			return subject{}, err
		}
	}
	doc, err := a.document(arg)
	if err != nil {
		return subject{}, err
	}
	if wrong := doc.Spec.CheckCode(); len(wrong) > 0 {
		return subject{}, wrong[0]
	}
	path := doc.File
	if info, err := os.Stat(arg); err == nil && info.IsDir() {
		path = arg // the document is the folder: its code is another file of it
	}
	t := &catalog.Tool{Spec: doc.Spec, Source: catalog.SourceUser, Path: path, State: catalog.StateDraft, Why: "a document that is in no catalog"}
	return subject{tool: t, unpublished: true}, nil
}

// document reads the one spec at path; more than one is an error here.
func (a *app) document(path string) (spec.Loaded, error) {
	var docs []spec.Loaded
	var err error
	if path == "-" {
		docs, err = spec.LoadReader("-", a.std.in)
	} else {
		docs, err = spec.Load(path)
	}
	switch {
	case err != nil:
		return spec.Loaded{}, err
	case len(docs) != 1:
		return spec.Loaded{}, fault.New(fault.Usage, "many-documents", "%s holds %d specs; this verb takes one", path, len(docs))
	case len(docs[0].Errors) > 0:
		return docs[0], docs[0].Errors[0]
	}
	return docs[0], nil
}

// argument reads JSON|@F.
func argument(v string) (json.RawMessage, error) {
	if !strings.HasPrefix(v, "@") {
		if v == "" {
			return nil, nil
		}
		return json.RawMessage(v), nil
	}
	data, err := readCapped(strings.TrimPrefix(v, "@"))
	if err != nil {
		return nil, fault.New(fault.Usage, "unreadable", "%v", err)
	}
	return data, nil
}

// maxArgumentFile bounds what is read for --args and --principal.
const maxArgumentFile = 4 << 20

func readCapped(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxArgumentFile+1))
	if err == nil && len(data) > maxArgumentFile {
		err = errors.New(path + " is larger than 4 MiB")
	}
	return data, err
}

// principalFile reads --principal F: a Principal as JSON. Without a file it
// is the person at the terminal.
func principalFile(path string) (decision.Principal, error) {
	p := principal()
	if path == "" {
		return p, nil
	}
	data, err := readCapped(path)
	if err != nil {
		return p, fault.New(fault.Usage, "unreadable", "%v", err)
	}
	p = decision.Principal{Groups: []string{}, Scopes: []string{}}
	dec := json.NewDecoder(strings.NewReader(string(data)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&p); err != nil {
		return p, fault.New(fault.Usage, "principal", "the principal is not valid: %v; want {\"subject\",\"method\",\"clientId\",\"groups\",\"scopes\"}", err).At(path, "", 0, 0)
	}
	if p.Subject == "" {
		return p, fault.New(fault.Usage, "principal", "the principal has no subject").At(path, "/subject", 0, 0)
	}
	if p.Groups == nil {
		p.Groups = []string{}
	}
	if p.Scopes == nil {
		p.Scopes = []string{}
	}
	return p, nil
}
