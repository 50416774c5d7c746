package oidc

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/go-jose/go-jose/v4"

	"github.com/toolwarrant/toolwarrant/internal/printable"
)

// maxToken bounds a token, in bytes.
const maxToken = 16 << 10

func no(reason string) error { return &Refused{Reason: reason} }

// Verify gives whose a token is. The error is a *Refused, or ErrNoKeys.
func (v *Verifier) Verify(ctx context.Context, token string) (Caller, error) {
	if len(token) > maxToken || strings.Count(token, ".") != 2 {
		return Caller{}, no("malformed")
	}
	jws, err := jose.ParseSignedCompact(token, v.algs)
	if err != nil {
		if other := new(jose.ErrUnexpectedSignatureAlgorithm); errors.As(err, &other) {
			return Caller{}, no("algorithm")
		}
		return Caller{}, no("malformed")
	}
	head := jws.Signatures[0].Header
	if reason := v.checkHeader(head); reason != "" {
		return Caller{}, no(reason)
	}
	// A token of another issuer is no cause to look for its key.
	unproven, err := parseClaims(jws.UnsafePayloadWithoutVerification())
	if err != nil {
		return Caller{}, no("malformed")
	}
	if unproven.issuer != v.opt.Issuer {
		return Caller{}, no("issuer")
	}
	keys, err := v.keysFor(ctx, head.KeyID, head.Algorithm)
	if err != nil {
		return Caller{}, err
	}
	for _, k := range keys {
		payload, err := jws.Verify(k.public)
		if err != nil {
			continue
		}
		c, err := parseClaims(payload)
		if err != nil {
			return Caller{}, no("malformed")
		}
		return v.caller(c)
	}
	return Caller{}, no("signature")
}

// checkHeader holds what a token says of itself against what is taken.
func (v *Verifier) checkHeader(h jose.Header) (reason string) {
	if _, ok := h.ExtraHeaders["crit"]; ok {
		return "malformed" // we understand no extension
	}
	if len(h.KeyID) > maxText {
		return "malformed"
	}
	typ := ""
	if t, ok := h.ExtraHeaders[jose.HeaderType]; ok {
		if typ, ok = t.(string); !ok {
			return "malformed"
		}
		// RFC 7515, section 4.1.9: the prefix may be left out; letter case
		// does not count.
		typ = strings.TrimPrefix(strings.ToLower(typ), "application/")
	}
	switch typ {
	case "at+jwt":
		return ""
	case "", "jwt":
		if v.opt.TypedOnly {
			return "type"
		}
		return ""
	}
	return "type"
}

// keysFor gives the keys that may have signed, asking the provider where none
// is known by that id.
func (v *Verifier) keysFor(ctx context.Context, id, alg string) ([]key, error) {
	for again := false; ; again = true {
		v.mu.Lock()
		have := v.keys != nil && v.opt.Now().Sub(v.fetched) <= v.opt.MaxStale
		fitting, known := v.candidates(id, alg)
		v.mu.Unlock()
		switch {
		case have && len(fitting) > 0:
			return fitting, nil
		case have && known:
			return nil, no("algorithm") // not one that the key is for
		case again && have:
			return nil, no("unknown-key")
		case again:
			return nil, ErrNoKeys
		}
		if err := v.renew(ctx, v.opt.MinRefetch); err != nil && !errors.Is(err, errTooSoon) && !have {
			return nil, errors.Join(ErrNoKeys, err)
		}
	}
}

// caller holds proven claims against what is wanted.
func (v *Verifier) caller(c claims) (Caller, error) {
	now := v.opt.Now()
	switch {
	case c.issuer != v.opt.Issuer:
		return Caller{}, no("issuer")
	case !slices.Contains(c.audience, v.opt.Audience):
		return Caller{}, no("audience")
	case c.expires.IsZero():
		return Caller{}, no("no-expiry")
	case !now.Before(c.expires.Add(v.opt.Skew)):
		return Caller{}, no("expired")
	case c.notBefore.After(now.Add(v.opt.Skew)), c.issued.After(now.Add(v.opt.Skew)):
		return Caller{}, no("not-yet-valid")
	case !printable.Name(c.subject, maxText):
		return Caller{}, no("subject")
	case c.client != "" && !printable.Name(c.client, maxText):
		return Caller{}, no("client")
	case c.identity:
		return Caller{}, no("type")
	}
	groups, ok := c.groups(v.opt.GroupsClaim)
	if !ok {
		return Caller{}, no("groups")
	}
	for _, s := range v.opt.Scopes {
		if !slices.Contains(c.scopes, s) {
			return Caller{}, &Refused{Reason: "scope", Insufficient: true}
		}
	}
	return Caller{Subject: c.subject, ClientID: c.client, Groups: groups, Scopes: c.scopes}, nil
}
