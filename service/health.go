package service

import (
	"context"
	"time"
)

// healthPatience bounds one look at the parts.
const healthPatience = 2 * time.Second

// Health is nil while calls can be decided and recorded; otherwise the error
// that calls are refused with.
func (s *Service) Health() error {
	ctx, cancel := context.WithTimeout(context.Background(), healthPatience)
	defer cancel()
	return s.Audit.Health(ctx)
}

// Started puts on record that this process serves, and under which policy. From
// here on checkpoints are made, where the configuration asks for them.
func (s *Service) Started(ctx context.Context, version string) error {
	if err := s.notarize(); err != nil {
		return err
	}
	detail := s.inForce()
	detail["version"] = version
	if err := s.event(ctx, "policy.activate", system, detail); err != nil {
		return err
	}
	if failed := s.PolicyStatus().LastError; failed != nil {
		return s.event(ctx, "policy.refuse", system, map[string]any{"policy": s.Policy.Policy(), "keeps": s.Policy.Revision(), "because": failed.Error()})
	}
	return s.origin.keep()
}

// Reload reads policy and catalog anew. What cannot be read or does not pass
// its tests changes nothing, and the refusal is on record.
func (s *Service) Reload(ctx context.Context) error {
	activated, _, err := s.origin.renew(ctx, true)
	if err := s.renewed(ctx, activated, err); err != nil {
		return err
	}
	if err := s.Catalog.Reload(ctx); err != nil {
		return err
	}
	return s.event(ctx, "reload", system, map[string]any{"catalogRevision": s.Catalog.Revision()})
}
