package main

import (
	"context"
	"net/http"
	"time"

	"github.com/rs/zerolog"

	"github.com/toolwarrant/toolwarrant/catalog"
	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/keyring/apikey"
	"github.com/toolwarrant/toolwarrant/server"
	"github.com/toolwarrant/toolwarrant/server/admin"
	"github.com/toolwarrant/toolwarrant/service"
)

// keyStore is the API keys of an installation, as the admin interface knows
// them.
type keyStore struct{ s *service.Service }

func (k keyStore) List(context.Context) ([]admin.Key, error) {
	all, err := k.s.Keys()
	if err != nil {
		return nil, err
	}
	out := make([]admin.Key, 0, len(all))
	for _, e := range all {
		out = append(out, keyOf(e))
	}
	return out, nil
}

func (k keyStore) Create(ctx context.Context, p decision.Principal, w admin.NewKey) (admin.Key, string, error) {
	token, e, err := k.s.CreateKey(ctx, p, apikey.Wanted{
		Name: w.Name, Subject: w.Subject, Groups: w.Groups, Scopes: w.Scopes, Expires: time.Duration(w.ExpirySeconds) * time.Second,
	})
	return keyOf(e), token, err
}

func (k keyStore) Revoke(ctx context.Context, p decision.Principal, id string) (admin.Key, error) {
	e, err := k.s.RevokeKey(ctx, p, id)
	return keyOf(e), err
}

func (k keyStore) Rotate(ctx context.Context, p decision.Principal) (string, error) {
	return k.s.RotateKeyring(ctx, p)
}

func keyOf(e apikey.Entry) admin.Key {
	return admin.Key{
		ID: e.ID, Name: e.Name, Subject: e.Subject, Groups: e.Groups, Scopes: e.Scopes, State: e.State(time.Now()),
		CreatedAt: e.CreatedAt, ExpiresAt: e.ExpiresAt, RevokedAt: e.RevokedAt,
	}
}

// choose makes choices about what is served.
func choose(s *service.Service) func(context.Context, decision.Principal, admin.Choice) error {
	return func(ctx context.Context, p decision.Principal, c admin.Choice) (err error) {
		switch {
		case c.Preset != nil:
			err = s.KeepPreset(ctx, p, *c.Preset)
		case c.AutoExpose != nil:
			err = s.AutoExpose(ctx, p, *c.AutoExpose)
		case len(c.Expose) > 0:
			_, err = s.Expose(ctx, p, c.Expose)
		case len(c.Hide) > 0:
			_, err = s.Hide(ctx, p, c.Hide)
		}
		return err
	}
}

// setApproval chooses when a human is asked about a tool.
func setApproval(s *service.Service) func(context.Context, decision.Principal, *catalog.Tool, string, string, bool) (any, error) {
	return func(ctx context.Context, p decision.Principal, t *catalog.Tool, mode, reason string, confirmed bool) (any, error) {
		return s.SetApproval(ctx, p, t, mode, reason, confirmed)
	}
}

// toolNames lets those read in /metrics how tools are named who may look at the
// installation.
func toolNames(s *service.Service) func(*decision.Principal) bool {
	return func(p *decision.Principal) bool {
		who := service.LocalAdmin()
		if p != nil {
			who = *p
		}
		return s.Needs(who, service.RoleViewer) == nil
	}
}

// refusedAdmin puts a request to the admin interface on record whose sender is
// not authenticated.
func refusedAdmin(s *service.Service, log zerolog.Logger) func(*http.Request, error) {
	return func(r *http.Request, err error) {
		in := server.Unauthenticated(r, decision.OriginAdmin, err)
		// A client that leaves must not be able to lose its record.
		if err := s.Engine.Refused(context.WithoutCancel(r.Context()), in); err != nil {
			log.Error().Err(err).Msg("a refused authentication could not be recorded")
		}
	}
}
