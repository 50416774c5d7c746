package service

import (
	"context"
	"maps"
	"time"

	"github.com/toolwarrant/toolwarrant/config"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/resolver"
)

// PolicyOptions are what cfg says of the policy.
func PolicyOptions(home string, cfg *config.Config) resolver.Options {
	return resolver.Options{
		Policy: cfg.Policy.Path, Operator: Operator(home, cfg), Proofs: newProofs(home),
		Trust: resolver.Trust{KeyFiles: cfg.Policy.Keys, RequireSignature: cfg.Policy.RequireSignature, MinRevision: cfg.Policy.MinRevision},
	}
}

// OpenPolicy compiles the policy that cfg names, without opening anything
// else of the installation.
func OpenPolicy(ctx context.Context, home string, cfg *config.Config) (*resolver.Resolver, error) {
	p, err := openPolicy(ctx, home, cfg, nil)
	if err != nil {
		return nil, err
	}
	return p.resolver, nil
}

// PolicyStatus is what a server says about its policy.
type PolicyStatus struct {
	Policy      string
	Revision    string
	Bundle      string // revision of the bundle, "" where it is none
	ActivatedAt time.Time
	LastError   *fault.Error // why a newer one is not in force, or nil
	LastErrorAt time.Time
}

// PolicyStatus says which policy is in force, and why a newer one is not.
func (s *Service) PolicyStatus() PolicyStatus { return s.origin.status() }

// vet is Vet with the catalog of this installation.
func (s *Service) vet(ctx context.Context, candidate *resolver.Resolver) error {
	c := s.Catalog
	if c == nil { // at the start the policy is opened first
		var err error
		if c, err = OpenCatalog(ctx, s.Home, s.Config); err != nil {
			return err
		}
	}
	tools, err := c.List(ctx)
	if err != nil {
		return err
	}
	return Vet(ctx, candidate, tools)
}

// RenewPolicy looks for a new policy, as a watch does: what is unchanged is
// left alone, and an outcome that was seen before is not reported again.
func (s *Service) RenewPolicy(ctx context.Context) (news bool, err error) {
	return s.renewOrigin(ctx, s.origin)
}

func (s *Service) renewOrigin(ctx context.Context, p *origin) (news bool, err error) {
	activated, news, err := p.renew(ctx, false)
	if !news || ctx.Err() != nil {
		return false, nil
	}
	return true, s.renewed(ctx, p, activated, err)
}

// Reload reads policies and catalog anew. What cannot be read or does not
// pass its tests changes nothing, and the refusal is on record. A shadow
// policy that is refused keeps nothing else from being reloaded.
func (s *Service) Reload(ctx context.Context) error {
	activated, _, err := s.origin.renew(ctx, true)
	if err := s.renewed(ctx, s.origin, activated, err); err != nil {
		return err
	}
	if err := s.Catalog.Reload(ctx); err != nil {
		return err
	}
	if err := s.event(ctx, "reload", system, map[string]any{"catalogRevision": s.Catalog.Revision()}); err != nil {
		return err
	}
	return s.reloadShadow(ctx)
}

// renewed puts the outcome of a renewal on record.
func (s *Service) renewed(ctx context.Context, p *origin, activated bool, err error) error {
	if err != nil {
		if eventErr := s.refused(ctx, p, err); eventErr != nil {
			return eventErr
		}
		return err
	}
	if !activated {
		return nil
	}
	return s.activated(ctx, p, nil)
}

// activated puts on record which policy came into force, or is asked beside
// it from now on. more goes into the event.
func (s *Service) activated(ctx context.Context, p *origin, more map[string]any) error {
	s.Metrics.activated(p.role)
	detail := p.inForce()
	maps.Copy(detail, more)
	if err := s.event(ctx, string(p.role)+".activate", system, detail); err != nil {
		return err
	}
	return p.keep()
}

func (s *Service) refused(ctx context.Context, p *origin, because error) error {
	s.Metrics.refused(p.role)
	return s.event(ctx, string(p.role)+".refuse", system, map[string]any{"policy": p.resolver.Policy(), "keeps": p.resolver.Revision(), "because": because.Error()})
}

// PolicyEvery is how often RenewPolicy should be called: as the configuration
// says for a URL, otherwise every local.
func (s *Service) PolicyEvery(local time.Duration) time.Duration { return s.every(s.origin, local) }

func (s *Service) every(p *origin, local time.Duration) time.Duration {
	if p.feed != nil {
		return time.Duration(s.Config.Policy.PollSeconds) * time.Second
	}
	return local
}
