package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/rs/zerolog"

	"github.com/toolwarrant/toolwarrant/config"
	"github.com/toolwarrant/toolwarrant/internal/tick"
	"github.com/toolwarrant/toolwarrant/server"
	"github.com/toolwarrant/toolwarrant/service"
)

// reloader takes over what changed while a server runs.
type reloader struct {
	app   *app
	flags map[string]any // of the command line, which win over the file
	s     *service.Service
	srv   *server.Server
	log   zerolog.Logger
}

// follow reads everything anew at SIGHUP, and the configuration whenever its
// file has another content. What is broken is refused and logged; calls go on
// under what was good.
func (r *reloader) follow(ctx context.Context) {
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	defer signal.Stop(hangups)
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	last := r.content()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			now := r.content()
			if bytes.Equal(now, last) {
				continue
			}
			last = now
			r.config(ctx)
		case <-hangups:
			last = r.content()
			r.config(ctx)
			if err := r.s.Reload(ctx); err != nil {
				r.log.Error().Err(err).Msg("reload refused; what was good stays in force")
				continue
			}
			r.log.Info().Str("policy", r.s.Policy.Revision()).Msg("reloaded")
		}
	}
}

// content names what the configuration file holds; nil where there is none.
// The content counts and not the time of change: tools that write it anew
// every minute change nothing, and links that are switched change it.
func (r *reloader) content() []byte {
	if r.app.configFile == "" {
		return nil
	}
	raw, err := os.ReadFile(r.app.configFile)
	if err != nil {
		return []byte(err.Error())
	}
	sum := sha256.Sum256(raw)
	return sum[:]
}

// config takes a new configuration over.
func (r *reloader) config(ctx context.Context) {
	_, next, err := r.app.settings(r.flags)
	if err != nil {
		err = r.s.ConfigRefused(ctx, err)
		r.log.Error().Err(err).Msg("the new configuration is refused; what was good stays in force")
		return
	}
	change, err := r.s.Reconfigure(ctx, next)
	if err != nil {
		r.log.Error().Err(err).Msg("the new configuration is refused; what was good stays in force")
		return
	}
	if len(change.Applied)+len(change.NeedsRestart) == 0 {
		return
	}
	r.srv.Limit(doorLimits(change.Config))
	setLevel(change.Config)
	e := r.log.Info()
	if len(change.NeedsRestart) > 0 {
		e = r.log.Warn().Str("needsRestart", strings.Join(change.NeedsRestart, " "))
	}
	e.Str("applied", strings.Join(change.Applied, " ")).Msg("the configuration was read anew")
}

// followPolicy puts a new bundle into force when it appears in its file or at
// its URL. What is refused is logged once; calls go on under what was good.
func followPolicy(ctx context.Context, log zerolog.Logger, every time.Duration, status func() service.PolicyStatus, renew func(context.Context) (bool, error)) {
	for range tick.Every(ctx, every) {
		switch news, err := renew(ctx); {
		case err != nil:
			log.Error().Err(err).Msg("the new policy is refused; what was good stays in force")
		case news:
			st := status()
			log.Info().Str("policy", st.Revision).Str("bundle", st.Bundle).Msg("the policy was renewed")
		}
	}
}

// doorLimits are the bounds of the door by a configuration.
func doorLimits(cfg *config.Config) server.Limits {
	l := cfg.Limits
	return server.Limits{Requests: int(l.Requests), BodyBytes: l.BodyBytes, Sessions: int(l.Sessions), SessionsEach: int(l.SessionsEach),
		Share: int(l.SharePercent), Listens: int(l.Listens), ListensEach: int(l.ListensEach)}
}

// followShed puts on record, once a second, how many messages were not taken.
func followShed(ctx context.Context, s *service.Service, srv *server.Server, log zerolog.Logger) {
	last := map[string]int64{}
	for range tick.Every(ctx, time.Second) {
		news := map[string]int64{}
		for reason, n := range srv.Load().Shed {
			if n > last[reason] {
				news[reason], last[reason] = n-last[reason], n
			}
		}
		if err := s.Shed(ctx, news); err != nil && ctx.Err() == nil {
			log.Error().Err(err).Msg("messages that were not taken could not be put on record")
		}
	}
}
