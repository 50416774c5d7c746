package catalog

import (
	"github.com/toolwarrant/toolwarrant/digest"
	"github.com/toolwarrant/toolwarrant/fault"
)

// Verify computes the digest of the tool anew and compares it with the one
// that was vouched for: by the manifest for a bundled tool, by the document as
// it was loaded (which is what passed, where the tool is ACTIVE for its pass)
// for any other. It is asked before each call, so that what changed in memory
// after it was loaded does not run. The error is of code REVOKED. A tool that
// is of no catalog has nobody who vouched for it, and passes.
func (t *Tool) Verify() error {
	if t.vouched == "" {
		return nil
	}
	if t.State == StateRevoked {
		return fault.New(fault.Revoked, "manifest-mismatch",
			"the tool %q is revoked: %s; install toolwarrant anew from a trusted source", t.Spec.Name, t.Why)
	}
	if now := digest.Bytes(t.Spec.Canonical()); now != t.vouched {
		return fault.New(fault.Revoked, "changed-in-memory",
			"the tool %q is not what was loaded: its digest is %s, vouched for is %s; start toolwarrant anew, and find out what changed it", t.Spec.Name, now, t.vouched)
	}
	return nil
}
