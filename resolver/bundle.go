package resolver

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/bundle"

	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/keyring"
)

// A bundle is a policy in one file: an OPA bundle, so that OPA's own tools
// read, sign and verify it. OPA keeps Rego and data of a bundle and drops
// every other file; what else a policy consists of therefore travels as data,
// under these members of data.toolwarrant.
const (
	bundleCUE          = "cue"          // path -> text of a layer
	bundleTests        = "tests"        // path -> text of a test module
	bundleCapabilities = "capabilities" // text: what the Rego may use
	bundleText         = "text"         // rego/data.json as it was written, which its revision and positions need
)

var bundleMembers = []string{bundleCUE, bundleTests, bundleCapabilities, bundleText}

// bundleVersion is the newest version of the format that is understood.
const bundleVersion = 1

// Bundle is what a bundle says of itself. It is true as far as the bundle is
// signed.
type Bundle struct {
	Revision string `json:"revision"` // of its author: "42", "2026.1.7", a commit
	Signed   bool   `json:"signed"`
	Key      string `json:"key"` // id of the key that verified it, or ""
}

// bundleFault is a bundle that is not put into force. The name of the bundle
// is put before the sentence where it is known (named).
func bundleFault(reason, format string, args ...any) *fault.Error {
	return fault.New(fault.PolicyUnavailable, reason, format, args...)
}

// WriteBundle makes a bundle of a policy that compiles and passes its own
// tests. The same policy, revision and key give the same bytes. An empty
// revision is that of the content. key may be nil.
func WriteBundle(ctx context.Context, o Options, revision string, key *keyring.SigningKey) ([]byte, error) {
	s, err := readSource(ctx, o)
	if err != nil {
		return nil, err
	}
	if _, err := o.activate(ctx, s); err != nil {
		return nil, err
	}
	if revision == "" {
		revision = s.revision()
	}
	if !validRevision(revision) {
		return nil, fault.New(fault.Usage, "revision", "the revision %q is not one word of at most 128 printable characters", revision)
	}
	b, err := s.toBundle(revision)
	if err != nil {
		return nil, err
	}
	if key != nil {
		if err := sign(b, key); err != nil {
			return nil, err
		}
	}
	var out bytes.Buffer
	if err := bundle.NewWriter(&out).UseModulePath(true).Write(*b); err != nil {
		return nil, fault.New(fault.Internal, "bundle-write", "the bundle cannot be written").Because(err)
	}
	if out.Len() > MaxBundleBytes {
		return nil, bundleFault("bundle-too-large", "the bundle of %s would have %d bytes, more than the %d that are read", s.name, out.Len(), MaxBundleBytes)
	}
	return out.Bytes(), nil
}

// toBundle puts the parts of a policy where the format wants them.
func (s *source) toBundle(revision string) (*bundle.Bundle, error) {
	modules, err := parse(s, s.rego)
	if err != nil {
		return nil, err
	}
	data, err := s.decodeData()
	if err != nil {
		return nil, err
	}
	ours, ok := data["toolwarrant"].(map[string]any)
	if !ok {
		return nil, compileFault(s.name, "rego/data.json has no object at toolwarrant")
	}
	for _, m := range bundleMembers {
		if _, taken := ours[m]; taken {
			return nil, bundleFault("bundle-reserved", "rego/data.json of %s has toolwarrant.%s, which a bundle needs for itself; give it another name", s.name, m)
		}
	}
	ours[bundleCUE], ours[bundleTests] = texts(s.cue), texts(s.tests)
	ours[bundleCapabilities], ours[bundleText] = string(s.capabilitiesText), string(s.data)
	b := &bundle.Bundle{Data: data, Manifest: s.manifest(revision, modules, data)}
	for _, name := range sortedKeys(s.rego) {
		b.Modules = append(b.Modules, bundle.ModuleFile{URL: "/" + name, Path: "/" + name, RelativePath: "/" + name, Parsed: modules[name], Raw: s.rego[name]})
	}
	return b, nil
}

// manifest states what the bundle holds, so that another content is noticed
// also without a signature.
func (s *source) manifest(revision string, modules map[string]*ast.Module, data map[string]any) bundle.Manifest {
	roots := sortedKeys(data)
	for _, m := range modules {
		if root, ok := m.Package.Path[1].Value.(ast.String); ok {
			roots = append(roots, string(root))
		}
	}
	slices.Sort(roots)
	roots = slices.Compact(roots)
	version := ast.RegoV1.Int()
	return bundle.Manifest{Revision: revision, Roots: &roots, RegoVersion: &version, Metadata: map[string]any{
		"toolwarrant": map[string]any{"version": bundleVersion, "policyRevision": s.revision(), "tests": s.testDigest()},
	}}
}

func (s *source) decodeData() (map[string]any, error) {
	dec := json.NewDecoder(bytes.NewReader(s.data))
	dec.UseNumber()
	var data map[string]any
	if err := dec.Decode(&data); err != nil {
		return nil, compileFault(s.name, "%s", notJSON(s.data)).Because(err)
	}
	return data, nil
}

func texts(files map[string][]byte) map[string]any {
	out := make(map[string]any, len(files))
	for name, text := range files {
		out[name] = string(text)
	}
	return out
}

// Contents is what a policy consists of.
type Contents struct {
	Policy         string  `json:"policy"`
	PolicyRevision string  `json:"policyRevision"`
	Bundle         *Bundle `json:"bundle"` // null for a folder
	Modules        int     `json:"modules"`
	Layers         int     `json:"layers"`
	TestModules    int     `json:"testModules"`
}

// Inspect says what a policy consists of, without compiling it. For a bundle
// the error says why it is not trusted.
func Inspect(ctx context.Context, o Options) (*Contents, error) {
	s, err := readSource(ctx, o)
	if err != nil {
		return nil, err
	}
	return &Contents{Policy: s.name, PolicyRevision: s.revision(), Bundle: s.bundle,
		Modules: len(s.rego), Layers: len(s.cue), TestModules: len(s.tests)}, nil
}

// validRevision reports whether a text can name the revision of a bundle.
func validRevision(r string) bool {
	return r != "" && len(r) <= 128 && !strings.ContainsFunc(r, func(c rune) bool { return c <= ' ' || c > '~' })
}
