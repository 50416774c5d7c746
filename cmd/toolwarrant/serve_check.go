package main

import (
	"context"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/rs/zerolog"

	"github.com/toolwarrant/toolwarrant/config"
	"github.com/toolwarrant/toolwarrant/executor/mask"
	"github.com/toolwarrant/toolwarrant/service"
)

// checked is what serve --check-config prints.
type checked struct {
	Home   string         `json:"home"`
	Policy checkedPolicy  `json:"policy"`
	Shadow *checkedPolicy `json:"shadow"`
	Tools  int            `json:"tools"` // that are active and exposed, whether or not their secrets are there
	TLS    *checkedTLS    `json:"tls"`   // null = the address has none of its own
	Config map[string]any `json:"config"`
}

type checkedPolicy struct {
	Policy   string `json:"policy"`
	Revision string `json:"revision"`
}

type checkedTLS struct {
	From    time.Time `json:"notBefore"`
	Expires time.Time `json:"expires"`
}

// say is what a person has to know of the time of a certificate.
func (c checkedTLS) say(now time.Time) string {
	switch {
	case !now.Before(c.Expires):
		return "the certificate EXPIRED at " + c.Expires.UTC().Format(time.RFC3339) + ": clients refuse it"
	case now.Before(c.From):
		return "the certificate is NOT GOOD before " + c.From.UTC().Format(time.RFC3339) + ": clients refuse it"
	}
	return "the certificate is good until " + c.Expires.UTC().Format(time.RFC3339)
}

// checkConfig looks at everything that a start would look at, without opening
// the log, listening, or starting a worker.
func (a *app) checkConfig(ctx context.Context, home string, cfg *config.Config, stdio bool) error {
	var certificate *checkedTLS
	if !stdio || cfg.Admin.Enabled {
		background, stop := context.WithCancel(ctx)
		defer stop()
		who, err := identity(background, home, cfg, zerolog.Nop())
		if err != nil {
			return err
		}
		if err := checkAdminAddr(cfg, who); err != nil {
			return err
		}
		if who.TLS != nil {
			leaf := who.TLS.Leaf()
			certificate = &checkedTLS{leaf.NotBefore, leaf.NotAfter}
		}
	}
	r, err := service.Check(ctx, service.Options{Home: home, Config: cfg, Version: version(), Stdout: a.std.out, Shadow: true})
	if err != nil {
		return err
	}
	out := checked{Home: home, Tools: r.Tools, TLS: certificate, Config: config.Values(cfg), Policy: checkedPolicy{r.Policy.Policy, r.Policy.Revision}}
	if r.Shadow != nil {
		out.Shadow = &checkedPolicy{r.Shadow.Policy, r.Shadow.Revision}
	}
	if a.format == "json" {
		a.json(out)
		return nil
	}
	a.printf("the configuration is valid\n\nhome     %s\npolicy   %s, %s\n", out.Home, out.Policy.Policy, out.Policy.Revision)
	if out.Shadow != nil {
		a.printf("shadow   %s, %s\n", out.Shadow.Policy, out.Shadow.Revision)
	}
	a.printf("tools    %d are active and exposed, whether or not their secrets are there\n", out.Tools)
	if certificate != nil {
		a.printf("tls      %s\n", certificate.say(time.Now()))
	}
	a.printf("\nwhat is not the default:\n")
	defaults, err := config.Load("", nil, nil)
	if err != nil {
		return err
	}
	usual := config.Values(defaults)
	for _, key := range slices.Sorted(maps.Keys(out.Config)) {
		if !reflect.DeepEqual(out.Config[key], usual[key]) {
			a.printf("  %s: %s\n", key, plain(out.Config[key]))
		}
	}
	return nil
}

// plain is a value as JSON, for people.
func plain(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return "?"
	}
	return mask.Visible(string(raw))
}
