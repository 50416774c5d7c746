package resolver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/bundle"

	"github.com/toolwarrant/toolwarrant/fault"
)

// readBundle makes the source of a bundle, the same as that of the folder
// that it was made of. In this order: bounds and paths, the signature over
// every file, the content against what the manifest says of it, the revision.
func readBundle(name string, raw []byte, t Trust) (s *source, err error) {
	defer func() {
		if p := recover(); p != nil {
			s, err = nil, bundleFault("bundle-unreadable", "it cannot be read").Because(fmt.Errorf("panic: %v", p))
		}
		var f *fault.Error
		if errors.As(err, &f) && strings.HasPrefix(f.Reason, "bundle-") {
			c := *f
			c.Message = "the policy bundle " + name + " is refused: " + c.Message
			s, err = nil, &c
		}
	}()
	files, err := unpack(raw)
	if err != nil {
		return nil, err
	}
	var signatures bundle.SignaturesConfig
	if text, ok := files[signaturesFile]; ok {
		if err := json.Unmarshal(text, &signatures); err != nil || len(signatures.Signatures) == 0 {
			return nil, bundleFault("bundle-signature", "its %s cannot be read", signaturesFile).Because(err)
		}
	}
	verification, info, err := t.verified(signatures)
	if err != nil {
		return nil, err
	}
	b, err := bundle.NewReader(bytes.NewReader(raw)).WithSizeLimitBytes(maxUnpackedBytes + 1).
		WithBundleVerificationConfig(verification).WithSkipBundleVerification(verification == nil).
		WithRegoVersion(ast.RegoV1).Read()
	if err != nil {
		if verification != nil {
			return nil, bundleFault("bundle-signature", "it is not what was signed: %s", firstLine(err)).Because(err)
		}
		return nil, bundleFault("bundle-format", "it is no bundle that OPA reads: %s", firstLine(err)).Because(err)
	}
	if s, err = fromBundle(name, files, b); err != nil {
		return nil, err
	}
	info.Revision = b.Manifest.Revision
	if !validRevision(info.Revision) {
		return nil, bundleFault("bundle-format", "its revision is not a word of at most 128 characters")
	}
	if err := t.admitsRevision(info.Revision); err != nil {
		return nil, err
	}
	s.bundle = info
	return s, nil
}

// fromBundle finds the parts of a policy again.
func fromBundle(name string, files map[string][]byte, b bundle.Bundle) (*source, error) {
	s := newSource(name)
	for file, text := range files {
		if strings.HasPrefix(file, "rego/") {
			s.rego[file] = text
		}
	}
	ours, _ := b.Data["toolwarrant"].(map[string]any)
	text, isText := ours[bundleText].(string)
	capabilities, hasCapabilities := ours[bundleCapabilities].(string)
	if !isText || !hasCapabilities {
		return nil, bundleFault("bundle-format", "it lacks the parts of a policy that OPA keeps as data; \"toolwarrant policy bundle\" makes one of a policy folder")
	}
	s.data, s.capabilitiesText = []byte(text), []byte(capabilities)
	for member, part := range map[string]map[string][]byte{bundleCUE: s.cue, bundleTests: s.tests} {
		if err := s.takeTexts(member, ours[member], part); err != nil {
			return nil, err
		}
	}
	size := 0
	for _, part := range []map[string][]byte{s.rego, s.cue, s.tests, {"": s.data}} {
		for _, text := range part {
			size += len(text)
		}
	}
	if size > maxPolicyBytes || len(s.rego)+len(s.cue)+len(s.tests) > maxPolicyFiles {
		return nil, bundleFault("bundle-too-large", "its policy has more than %d files or %d MiB", maxPolicyFiles, maxPolicyBytes>>20)
	}
	var err error
	if s.capabilities, err = readCapabilities(s.capabilitiesText); err != nil {
		return nil, err
	}
	for _, m := range bundleMembers {
		delete(ours, m)
	}
	if want, err := s.decodeData(); err != nil || !reflect.DeepEqual(want, b.Data) {
		return nil, bundleFault("bundle-content", "its data is not what its rego/data.json says").Because(err)
	}
	if err := s.matches(b.Manifest); err != nil {
		return nil, err
	}
	return s, s.complete()
}

// takeTexts takes files that travelled as data. Each has to be one that the
// folder would have held at its path.
func (s *source) takeTexts(member string, v any, into map[string][]byte) error {
	all, ok := v.(map[string]any)
	if !ok {
		return bundleFault("bundle-format", "it has no files at toolwarrant.%s of its data", member)
	}
	for name, v := range all {
		text, ok := v.(string)
		part, p, _ := strings.Cut(name, "/")
		where := s.place(part, p)
		if !ok || where == nil || strings.ContainsAny(name, "\\\x00") || slices.Contains(strings.Split(name, "/"), "..") {
			return bundleFault("bundle-member", "%q in toolwarrant.%s of its data has no place in a policy", name, member)
		}
		before := len(into)
		if err := where(name, []byte(text)); err != nil || len(into) == before {
			return bundleFault("bundle-member", "%q does not belong into toolwarrant.%s of its data", name, member).Because(err)
		}
	}
	return nil
}

// matches holds the content against the manifest, which finds an accident in
// a bundle without a signature, and a bundle of a newer format in any.
func (s *source) matches(m bundle.Manifest) error {
	var says struct {
		Version        int    `json:"version"`
		PolicyRevision string `json:"policyRevision"`
		Tests          string `json:"tests"`
	}
	text, err := json.Marshal(m.Metadata["toolwarrant"])
	if err == nil {
		err = json.Unmarshal(text, &says)
	}
	if err != nil || says.Version < 1 {
		return bundleFault("bundle-format", "its manifest does not say which version of the format it has").Because(err)
	}
	if says.Version > bundleVersion {
		return bundleFault("bundle-format", "it has version %d of the format, this program knows %d; use a newer toolwarrant", says.Version, bundleVersion)
	}
	if tests := s.testDigest(); says.PolicyRevision == s.revision() && says.Tests != tests {
		return bundleFault("bundle-content", "its manifest says that its tests are %s, it has %d with %s: its tests were changed after it was made", says.Tests, len(s.tests), tests)
	}
	if says.PolicyRevision != s.revision() {
		return bundleFault("bundle-content", "its manifest says policy %s, its content is %s: it was changed after it was made", says.PolicyRevision, s.revision())
	}
	modules, err := parse(s, s.rego)
	if err != nil {
		return err
	}
	data, err := s.decodeData()
	if err != nil {
		return err
	}
	want := s.manifest(m.Revision, modules, data)
	// Metadata was compared above; the rest is a function of the content.
	want.Metadata = m.Metadata
	if !want.Equal(m) || len(m.WasmResolvers) > 0 {
		return bundleFault("bundle-format", "its manifest states other roots or another version of Rego than its content has")
	}
	return nil
}
