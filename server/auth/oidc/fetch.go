package oidc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	fetchPatience = 5 * time.Second
	maxDocument   = 256 << 10
	firstRetry    = time.Second
	lastRetry     = time.Minute
)

// keepFresh asks until the provider answers, and from then on now and again.
func (v *Verifier) keepFresh(ctx context.Context) {
	defer func() {
		if p := recover(); p != nil {
			v.opt.Logger.Error().Str("panic", fmt.Sprintf("%T", p)).Msg("asking the identity provider panicked; tokens with new keys have it asked")
		}
	}()
	retry, said := firstRetry, ""
	for {
		err := v.renew(ctx, 0)
		wait := v.opt.Refresh
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			if s := err.Error(); s != said {
				v.opt.Logger.Warn().Str("issuer", v.opt.Issuer).Str("error", s).Msg("the keys of the identity provider could not be fetched; this goes on")
				said = s
			}
			wait, retry = min(retry, v.opt.Refresh), min(retry*2, lastRetry)
		default:
			if said != "" || retry != firstRetry {
				v.opt.Logger.Info().Str("issuer", v.opt.Issuer).Msg("the keys of the identity provider were fetched")
			}
			retry, said = firstRetry, ""
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
	}
}

// errTooSoon is that the provider was asked a moment ago.
var errTooSoon = errors.New("oidc: the issuer was asked a moment ago")

// renew asks for the keys, unless that was tried less than apart ago. Of any
// number of callers one asks, and the others wait for what it gets.
func (v *Verifier) renew(ctx context.Context, apart time.Duration) error {
	v.mu.Lock()
	if asking := v.asking; asking != nil {
		v.mu.Unlock()
		select {
		case <-asking:
			v.mu.Lock()
			defer v.mu.Unlock()
			return v.failed
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if apart > 0 && v.opt.Now().Sub(v.attempted) < apart {
		v.mu.Unlock()
		return errTooSoon
	}
	v.attempted = v.opt.Now()
	done := make(chan struct{})
	v.asking = done
	v.mu.Unlock()

	var keys []key
	err := errors.New("the answer could not be read")
	defer func() { // also when a document makes the library panic
		v.mu.Lock()
		defer v.mu.Unlock()
		if err == nil {
			v.keys, v.fetched = keys, v.opt.Now()
		}
		v.failed, v.asking = err, nil
		close(done)
	}()
	// A caller that leaves must not end what others wait for.
	detached, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*fetchPatience)
	defer cancel()
	keys, err = v.fetch(detached)
	return err
}

// discovery is what is read of the metadata of the provider.
type discovery struct {
	Issuer string `json:"issuer"`
	JWKS   string `json:"jwks_uri"`
}

// fetch asks where the keys are, and for them.
func (v *Verifier) fetch(ctx context.Context) ([]key, error) {
	var d discovery
	err := v.get(ctx, strings.TrimSuffix(v.opt.Issuer, "/")+"/.well-known/openid-configuration", &d)
	if missing := new(statusError); errors.As(err, &missing) && missing.status == http.StatusNotFound {
		// RFC 8414, section 3: the path of the issuer comes last.
		u, perr := url.Parse(v.opt.Issuer)
		if perr != nil {
			return nil, perr
		}
		path := strings.TrimSuffix(u.EscapedPath(), "/")
		err = v.get(ctx, u.Scheme+"://"+u.Host+"/.well-known/oauth-authorization-server"+path, &d)
	}
	if err != nil {
		return nil, err
	}
	if d.Issuer != v.opt.Issuer {
		return nil, errors.New("oidc: the metadata is of another issuer; auth.oidc.issuer has to be exactly what it calls itself")
	}
	if err := checkURL(d.JWKS); err != nil || strings.HasPrefix(v.opt.Issuer, "https:") && !strings.HasPrefix(d.JWKS, "https:") {
		return nil, errors.New("oidc: jwks_uri of the metadata is no URL that can be asked over https")
	}
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := v.get(ctx, d.JWKS, &set); err != nil {
		return nil, err
	}
	keys := keysOf(set.Keys)
	if len(keys) == 0 {
		return nil, errors.New("oidc: the issuer publishes no key that can check a signature")
	}
	return keys, nil
}

// statusError is an answer that is none.
type statusError struct{ status int }

func (e *statusError) Error() string {
	return fmt.Sprintf("oidc: the issuer answered with status %d", e.status)
}

// get reads one JSON document.
func (v *Verifier) get(ctx context.Context, from string, into any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, from, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "application/json")
	resp, err := v.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return &statusError{resp.StatusCode}
	}
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxDocument+1))
	if err != nil {
		return err
	}
	if len(b) > maxDocument {
		return errors.New("oidc: the issuer answered with too much")
	}
	if err := json.Unmarshal(b, into); err != nil {
		return errors.New("oidc: the issuer answered with what is not the JSON that was asked for")
	}
	return nil
}
