package service

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/toolwarrant/toolwarrant/catalog"
	"github.com/toolwarrant/toolwarrant/config"
	"github.com/toolwarrant/toolwarrant/executor"
	"github.com/toolwarrant/toolwarrant/fault"
)

// changeable are the keys, or the beginnings of keys, that a running process
// takes over. Everything else is read at the start alone.
var changeable = []string{
	"catalog.", "egress.private-hosts", "secrets.grants", "policy.allow-open-mode", "log.level",
	"limits.running", "limits.waiting", "limits.wait-millis", "limits.requests", "limits.body-bytes", "limits.sessions", "limits.sessions-each",
	"limits.share-percent", "limits.listens", "limits.listens-each",
}

// operatorKeys are those of them that the policy is compiled with.
var operatorKeys = []string{"egress.private-hosts", "secrets.grants", "policy.allow-open-mode"}

func isOneOf(key string, of []string) bool {
	return slices.ContainsFunc(of, func(o string) bool { return key == o || strings.HasSuffix(o, ".") && strings.HasPrefix(key, o) })
}

// Change is what a new configuration changed.
type Change struct {
	Applied      []string // keys that are in force now
	NeedsRestart []string // keys that differ from what the process was started with
	Config       *config.Config
}

// Reconfigure takes a new configuration over, as far as a running process can:
// all of it or, on an error, nothing. Calls go on meanwhile; each is decided
// under one of the two. What it did, or why it did not, is on record.
func (s *Service) Reconfigure(ctx context.Context, next *config.Config) (Change, error) {
	s.reconfiguring.Lock()
	defer s.reconfiguring.Unlock()
	now := s.inForce()
	var c Change
	for _, key := range config.Diff(now, next) {
		if isOneOf(key, changeable) {
			c.Applied = append(c.Applied, key)
		}
	}
	for _, key := range config.Diff(s.Config, next) {
		if !isOneOf(key, changeable) {
			c.NeedsRestart = append(c.NeedsRestart, key)
		}
	}
	c.Config = now
	if len(c.Applied) == 0 && slices.Equal(c.NeedsRestart, s.pendingKeys) {
		return c, nil
	}
	merged := mergedConfig(now, next)
	if err := s.takeOver(ctx, now, merged, c.Applied); err != nil {
		return c, s.ConfigRefused(ctx, err)
	}
	s.pendingKeys = c.NeedsRestart
	s.current.Store(merged)
	c.Config = merged
	return c, s.event(ctx, "config.reload", system, map[string]any{"applied": noNil(c.Applied), "needsRestart": noNil(c.NeedsRestart)})
}

// ConfigRefused puts on record that a new configuration is not taken over, and
// gives the reason back.
func (s *Service) ConfigRefused(ctx context.Context, because error) error {
	if err := s.event(ctx, "config.refuse", system, map[string]any{"because": because.Error()}); err != nil {
		return err
	}
	return because
}

func (s *Service) inForce() *config.Config {
	if c := s.current.Load(); c != nil {
		return c
	}
	return s.Config
}

// CatalogInForce is what the configuration says about the catalog now, which a
// reload changes.
func (s *Service) CatalogInForce() config.Catalog { return s.inForce().Catalog }

// mergedConfig is now with the changeable values of next.
func mergedConfig(now, next *config.Config) *config.Config {
	m := *now
	m.Catalog, m.Egress.PrivateHosts, m.Secrets.Grants = next.Catalog, next.Egress.PrivateHosts, next.Secrets.Grants
	m.Policy.AllowOpenMode, m.Log.Level = next.Policy.AllowOpenMode, next.Log.Level
	l, n := &m.Limits, next.Limits
	l.Running, l.Waiting, l.WaitMillis, l.Requests, l.BodyBytes, l.Sessions, l.SessionsEach =
		n.Running, n.Waiting, n.WaitMillis, n.Requests, n.BodyBytes, n.Sessions, n.SessionsEach
	l.SharePercent, l.Listens, l.ListensEach = n.SharePercent, n.Listens, n.ListensEach
	return &m
}

// takeOver puts the parts into force. What can be refused comes first, and is
// taken back where a later part refuses.
func (s *Service) takeOver(ctx context.Context, now, next *config.Config, keys []string) error {
	touched := func(of []string) bool {
		return slices.ContainsFunc(keys, func(k string) bool { return isOneOf(k, of) })
	}
	if touched([]string{"catalog."}) {
		// A trial: what is wrong with it shows before anything changes.
		if _, err := OpenCatalog(ctx, s.Home, next); err != nil {
			return err
		}
	}
	if touched(operatorKeys) {
		if err := s.reoperate(ctx, next); err != nil {
			return err
		}
	}
	if touched([]string{"catalog."}) {
		o := next.Catalog
		err := s.Catalog.Reopen(ctx, catalog.Options{Dirs: o.Dirs, TrustDirs: o.TrustFolders, Preset: o.Preset, Include: catalog.Rules(o.Include), Exclude: catalog.Rules(o.Exclude)})
		if err != nil {
			if touched(operatorKeys) {
				if back := s.reoperate(context.WithoutCancel(ctx), now); back != nil {
					s.logger.Error().Err(back).Msg("the policy could not be put back to what the operator allowed before; restart the server")
				}
			}
			return err
		}
	}
	s.Engine.Admission.Set(admissionLimits(next))
	s.generation.Add(1)
	return nil
}

// reoperate compiles the policies for what the operator allows by cfg: both or
// none.
func (s *Service) reoperate(ctx context.Context, cfg *config.Config) error {
	op := Operator(s.Home, cfg)
	done := []*origin{}
	for _, p := range s.origins() {
		err := p.reoperate(ctx, op)
		if err == nil {
			done = append(done, p)
			continue
		}
		for _, d := range done {
			if back := d.reoperate(context.WithoutCancel(ctx), Operator(s.Home, s.inForce())); back != nil {
				s.logger.Error().Err(back).Msg("a policy could not be put back to what the operator allowed before; restart the server")
			}
		}
		return err
	}
	return nil
}

func admissionLimits(cfg *config.Config) executor.AdmissionLimits {
	return executor.AdmissionLimits{
		Running: int(cfg.Limits.Running), Waiting: int(cfg.Limits.Waiting), Wait: time.Duration(cfg.Limits.WaitMillis) * time.Millisecond,
	}
}

func noNil(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// Shed puts on record how many messages the door did not take since the last
// time, by what there was too much of: none of them was read, so that none has
// a record of its own.
func (s *Service) Shed(ctx context.Context, by map[string]int64) error {
	if len(by) == 0 {
		return nil
	}
	return s.event(ctx, "overload", system, map[string]any{"code": fault.RateLimited, "messages": by})
}
