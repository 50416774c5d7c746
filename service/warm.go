package service

import (
	"context"
	"time"

	"github.com/toolwarrant/toolwarrant/internal/tick"
)

// warmEvery is how soon a change of policy or catalog is noticed.
const warmEvery = time.Second

// keepWarm asks the policy about the tools that are served after each change of
// either, so that the first list of a caller does not have to. It works beside
// the calls: a list that comes before it is through asks for itself.
func (s *Service) keepWarm(ctx context.Context) {
	last := s.ListRevision()
	s.warm(ctx)
	for range tick.Every(ctx, warmEvery) {
		if now := s.ListRevision(); now != last {
			last = now
			s.warm(ctx)
		}
	}
}

func (s *Service) warm(ctx context.Context) {
	_, tools, err := s.served(ctx)
	if err != nil {
		return // a list says why
	}
	began := time.Now()
	n := s.Policy.Warm(ctx, system, tools)
	s.logger.Debug().Int("tools", n).Str("policyRevision", s.Policy.Revision()).Dur("took", time.Since(began)).Msg("lists are warm")
}
