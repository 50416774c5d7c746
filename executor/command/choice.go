package command

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/executor/sandbox"
)

// Sandboxes are the sandboxes of an installation. A nil *Sandboxes has none. It
// is safe for concurrent use.
type Sandboxes struct {
	all *sandbox.Set

	mu      sync.Mutex
	allowed map[string]*sandbox.Set // by the ids that a policy allows
}

// NewSandboxes makes the choice among all. Who made all closes it, after the
// calls have ended.
func NewSandboxes(all *sandbox.Set) *Sandboxes {
	return &Sandboxes{all: all, allowed: map[string]*sandbox.Set{}}
}

// maxChoices bounds what is remembered: policies name few lists.
const maxChoices = 64

// create makes a sandbox: of those that the policy allows the strongest that
// works here and enforces spec, or the one that is named.
func (s *Sandboxes) create(ctx context.Context, policy *decision.Sandbox, named string, spec sandbox.Spec) (sandbox.Sandbox, error) {
	if s == nil || s.all == nil {
		return nil, sandbox.Errorf(sandbox.ErrUnavailable, "this installation has no sandbox")
	}
	if named != "" && !policy.Allows(named) {
		return nil, sandbox.Errorf(sandbox.ErrUnenforceable, "the policy allows the sandboxes %s and not %s", strings.Join(policy.Backends, ", "), named)
	}
	if named == "" && len(policy.Backends) == 1 {
		named = policy.Backends[0]
	}
	if named != "" {
		return s.all.Create(ctx, named, spec)
	}
	return s.among(policy.Backends).Create(ctx, "", spec)
}

// among is the set of the back ends with these ids. Their probes are its own:
// one that failed counts for a short time alone.
func (s *Sandboxes) among(ids []string) *sandbox.Set {
	key := strings.Join(ids, " ")
	s.mu.Lock()
	defer s.mu.Unlock()
	if set := s.allowed[key]; set != nil {
		return set
	}
	var list []sandbox.Factory
	for _, id := range s.all.IDs() {
		if !slices.Contains(ids, id) {
			continue
		}
		if f, err := s.all.ByID(id); err == nil {
			list = append(list, f)
		}
	}
	set := sandbox.NewSet(sandbox.SetOptions{}, list...)
	if len(s.allowed) < maxChoices {
		s.allowed[key] = set
	}
	return set
}
