package service

import (
	"context"
	"time"

	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/config"
	"github.com/toolwarrant/toolwarrant/executor"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/resolver"
)

// openShadow opens the shadow policy by the means of the other one, and under
// the same conditions. Who asks for a shadow wants to know what it says, so
// that there is no start without it.
func openShadow(ctx context.Context, home string, cfg *config.Config, vet func(context.Context, *resolver.Resolver) error) (*origin, error) {
	own := *cfg
	own.Policy.Path = cfg.Policy.Shadow
	p, err := openPolicy(ctx, home, &own, vet)
	if err != nil {
		return nil, ofShadow(err)
	}
	p.role = shadowed
	return p, nil
}

// ofShadow says which of the two policies an error is about.
func ofShadow(err error) error {
	f := *fault.From(err)
	f.Message = "the shadow policy cannot be used: " + f.Message
	return &f
}

// shadowPolicy is what the pipeline asks; nil = nothing.
func (s *Service) shadowPolicy() executor.Shadow {
	if s.shadow == nil {
		return nil
	}
	return s.shadow.resolver
}

// origins are the policies of this installation, the one in force first.
func (s *Service) origins() []*origin {
	if s.shadow == nil {
		return []*origin{s.origin}
	}
	return []*origin{s.origin, s.shadow}
}

// ShadowStatus says which shadow policy is asked, and why a newer one is not;
// nil where there is none.
func (s *Service) ShadowStatus() *PolicyStatus {
	if s.shadow == nil {
		return nil
	}
	st := s.shadow.status()
	return &st
}

// RenewShadow is RenewPolicy for the shadow policy.
func (s *Service) RenewShadow(ctx context.Context) (news bool, err error) {
	if s.shadow == nil {
		return false, nil
	}
	news, err = s.renewOrigin(ctx, s.shadow)
	if err != nil {
		return news, ofShadow(err)
	}
	return news, s.enterShadow(ctx)
}

// ShadowEvery is PolicyEvery for the shadow policy, 0 where there is none.
func (s *Service) ShadowEvery(local time.Duration) time.Duration {
	if s.shadow == nil {
		return 0
	}
	return s.every(s.shadow, local)
}

func (s *Service) reloadShadow(ctx context.Context) error {
	if s.shadow == nil {
		return nil
	}
	activated, _, err := s.shadow.renew(ctx, true)
	if err := s.renewed(ctx, s.shadow, activated, err); err != nil {
		return ofShadow(err)
	}
	return s.enterShadow(ctx)
}

// enterShadow puts the text of the shadow policy into the log, so that what it
// said can be understood later. The one in force is entered by the pipeline,
// before its first decision.
func (s *Service) enterShadow(ctx context.Context) error {
	if s.shadow == nil {
		return nil
	}
	a, ok := s.shadow.resolver.Artefact(s.shadow.resolver.Revision())
	if !ok {
		return nil // swapped meanwhile: whoever did that enters it
	}
	return s.Audit.Object(ctx, audit.Object{Kind: "policy", Digest: a.Digest, Content: a.Content})
}
