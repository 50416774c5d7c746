package service

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/resolver"
)

// A policy that does not decide about the catalog within the bound is not put
// into force: not at a start, and not in the place of one that was. The bound
// is given, so that no clock decides how this ends.
func TestPolicyThatIsTooSlow(t *testing.T) {
	p := newPublisher(t)
	catalog, err := OpenCatalog(t.Context(), t.TempDir(), settings(t, map[string]any{}))
	check(t, err)
	tools, err := catalog.List(t.Context())
	check(t, err)
	within := time.Duration(0) // over before the first decision
	o := resolver.Options{Policy: p.dir, Vet: func(ctx context.Context, candidate *resolver.Resolver) error {
		return vet(ctx, candidate, tools, within)
	}}
	slow := func(err error) {
		t.Helper()
		f := fault.From(err)
		if err == nil || f.Code != fault.PolicyUnavailable || f.Reason != "policy-too-slow" || !strings.Contains(f.Message, p.dir) {
			t.Errorf("%v", err)
		}
	}
	_, err = resolver.New(t.Context(), o)
	slow(err)

	within = time.Hour
	r, err := resolver.New(t.Context(), o)
	check(t, err)
	before := r.Revision()
	name := filepath.Join("rego", "access", "access.rego")
	access, err := os.ReadFile(filepath.Join(p.dir, name))
	check(t, err)
	p.write("rego/access/access.rego", string(access)+"\n# Another text.\n")
	within = 0
	changed, err := r.Reload(t.Context())
	slow(err)
	if changed || r.Revision() != before {
		t.Error("a policy that is too slow came into force")
	}
	within = time.Hour
	if changed, err = r.Reload(t.Context()); err != nil || !changed || r.Revision() == before {
		t.Errorf("in time: %v, %v", changed, err)
	}

	// A caller that goes away is no slow policy.
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if f := fault.From(vet(gone, r, tools, time.Hour)); f.Reason != "canceled" {
		t.Errorf("a caller that is gone: %v", f)
	}
}
