package service

import (
	"context"
	"time"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/keyring/apikey"
)

// CreateKey makes an API key on behalf of p. The token is shown this once. The
// act is on record before the key counts.
func (s *Service) CreateKey(ctx context.Context, p decision.Principal, w apikey.Wanted) (token string, e apikey.Entry, err error) {
	return s.APIKeys.Create(w, func(e apikey.Entry) error {
		return s.event(ctx, "key.create", p, keyDetail(e))
	})
}

// Keys lists the API keys, the oldest first; none has a secret.
func (s *Service) Keys() ([]apikey.Entry, error) { return s.APIKeys.List() }

// RevokeKey ends an API key, named by its id or by the name of an active one,
// on behalf of p. The act is on record before it has an effect. A server sees
// it at the next request.
func (s *Service) RevokeKey(ctx context.Context, p decision.Principal, idOrName string) (apikey.Entry, error) {
	return s.APIKeys.Revoke(idOrName, func(e apikey.Entry) error {
		return s.event(ctx, "key.revoke", p, keyDetail(e))
	})
}

// RotateKeyring adds a master key to the keyring on behalf of p and gives its
// id. What was made with the key before still holds; what was made with the
// one before that does not. The act is on record before it has an effect.
func (s *Service) RotateKeyring(ctx context.Context, p decision.Principal) (id string, err error) {
	return s.keys.Rotate(func(id, previous string) error {
		return s.event(ctx, "key.rotate", p, map[string]any{"keyId": id, "previous": previous})
	})
}

func keyDetail(e apikey.Entry) map[string]any {
	var expires any
	if e.ExpiresAt != nil {
		expires = e.ExpiresAt.Format(time.RFC3339)
	}
	return map[string]any{
		"keyId": e.ID, "name": e.Name, "subject": e.Subject, "groups": e.Groups, "scopes": e.Scopes, "expiresAt": expires,
	}
}
