package resolver

import (
	"math/big"
	"strings"

	"github.com/open-policy-agent/opa/v1/bundle"

	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/keyring"
)

// Trust says which policies may be put into force. The embedded policy always
// may: it is part of the program.
type Trust struct {
	// KeyFiles are public keys, as PEM files. With one, every bundle has to
	// carry a signature that one of them verifies. They are read anew with
	// each policy, so that a key is changed without a restart.
	KeyFiles []string
	// RequireSignature refuses what is not signed, folders among it.
	RequireSignature bool
	// MinRevision is the least revision of a bundle, "" = any: numbers with
	// dots between them. Folders have none and are refused with it.
	MinRevision string
}

// admitsFolder says whether a policy folder may be used.
func (t Trust) admitsFolder(name string) error {
	switch {
	case t.RequireSignature:
		return bundleFault("bundle-unsigned", "the policy %s is a folder, and only a signed bundle may be used here (policy.require-signature)", name)
	case t.MinRevision != "":
		return bundleFault("bundle-rolled-back", "the policy %s is a folder, which has no revision, and at least %s is wanted (policy.min-revision)", name, t.MinRevision)
	}
	return nil
}

// verified says which key verified the signatures, or why a bundle without a
// valid one is refused. nil without an error: no key is configured.
func (t Trust) verified(s bundle.SignaturesConfig) (*bundle.VerificationConfig, *Bundle, error) {
	info := &Bundle{Signed: len(s.Signatures) > 0}
	if len(t.KeyFiles) == 0 {
		if t.RequireSignature {
			return nil, nil, fault.New(fault.Usage, "key-missing", "a signature is required (policy.require-signature) and no key to check it with is given; name one in policy.keys")
		}
		return nil, info, nil
	}
	if !info.Signed {
		return nil, nil, bundleFault("bundle-unsigned", "it is not signed, and only what one of policy.keys has signed may be used here")
	}
	if s.Plugin != "" && s.Plugin != "_default" {
		return nil, nil, bundleFault("bundle-signature", "it is signed in a way that is not known, %q", s.Plugin)
	}
	var first error
	for _, file := range t.KeyFiles {
		key, err := keyring.ReadVerifyKey(file)
		if err != nil {
			return nil, nil, err
		}
		// The key is ours to choose: the id that the signature names counts
		// for nothing.
		c := bundle.NewVerificationConfig(map[string]*bundle.KeyConfig{
			key.ID: {Key: key.Public, Algorithm: key.Algorithm},
		}, key.ID, "", nil)
		if _, err = bundle.VerifyBundleSignature(s, c); err == nil {
			info.Key = key.ID
			return c, info, nil
		}
		if first == nil {
			first = err
		}
	}
	return nil, nil, bundleFault("bundle-signature", "its signature is not valid for any key of policy.keys").Because(first)
}

// admitsRevision refuses what is older than the least revision wanted.
func (t Trust) admitsRevision(revision string) error {
	if t.MinRevision == "" {
		return nil
	}
	want, ok := numbers(t.MinRevision)
	if !ok {
		return fault.New(fault.Usage, "min-revision", "the least revision %q cannot be compared; give numbers with dots between them, such as 42 or 2026.1.7", t.MinRevision)
	}
	have, ok := numbers(revision)
	if !ok {
		return bundleFault("bundle-rolled-back", "its revision %s cannot be compared with %s, the least that is wanted (policy.min-revision); number revisions, such as 42 or 2026.1.7", revision, t.MinRevision)
	}
	for i := range max(len(have), len(want)) {
		var h, w big.Int
		if i < len(have) {
			h = *have[i]
		}
		if i < len(want) {
			w = *want[i]
		}
		switch h.Cmp(&w) {
		case 1:
			return nil
		case -1:
			return bundleFault("bundle-rolled-back", "its revision %s is below %s, the least that is wanted (policy.min-revision)", revision, t.MinRevision)
		}
	}
	return nil
}

// numbers reads "2026.1.7". A leading v does not count.
func numbers(revision string) ([]*big.Int, bool) {
	var out []*big.Int
	for part := range strings.SplitSeq(strings.TrimPrefix(revision, "v"), ".") {
		if part == "" || strings.Trim(part, "0123456789") != "" || len(part) > 64 {
			return nil, false
		}
		n, ok := new(big.Int).SetString(part, 10)
		if !ok {
			return nil, false
		}
		out = append(out, n)
	}
	return out, true
}
