package service

import (
	"context"
	"slices"
	"time"

	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/fault"
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

// NeedsHand reports whether err, or one of several that it joins, is of a log
// that was cut, replaced or taken away: a start goes on with what it finds.
func NeedsHand(err error) bool {
	switch e := err.(type) {
	case *fault.Error:
		switch e.Reason {
		case audit.ReasonReplaced, audit.ReasonFileGone, audit.ReasonFileCut, audit.ReasonNotALog:
			return e.Code == fault.AuditUnavailable
		}
	case interface{ Unwrap() []error }:
		return slices.ContainsFunc(e.Unwrap(), NeedsHand)
	case interface{ Unwrap() error }:
		return NeedsHand(e.Unwrap())
	}
	return false
}

// Started puts on record that this process serves, and under which policies.
// From here on checkpoints are made, where the configuration asks for them, and
// lists are kept warm. While a required sink of the log is down, the process
// serves and refuses calls, so that it recovers by itself.
func (s *Service) Started(ctx context.Context, version string) error {
	s.checkTail(ctx)
	if err := s.notarize(); err != nil {
		return err
	}
	for _, p := range s.origins() {
		if err := s.activated(ctx, p, map[string]any{"version": version}); err != nil && !audit.InLog(err) {
			return err
		}
		if failed := p.status().LastError; failed != nil {
			if err := s.refused(ctx, p, failed); err != nil && !audit.InLog(err) {
				return err
			}
		}
	}
	go s.keepWarm(s.background)
	if err := s.enterShadow(ctx); err != nil && !audit.InLog(err) {
		return err
	}
	return nil
}
