package main

import (
	"context"
	"encoding/json"
	"maps"
	"reflect"
	"slices"

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
	Config map[string]any `json:"config"`
}

type checkedPolicy struct {
	Policy   string `json:"policy"`
	Revision string `json:"revision"`
}

// checkConfig looks at everything that a start would look at, without opening
// the log, listening, or starting a worker.
func (a *app) checkConfig(ctx context.Context, home string, cfg *config.Config, stdio bool) error {
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
	}
	r, err := service.Check(ctx, service.Options{Home: home, Config: cfg, Version: version(), Stdout: a.std.out, Shadow: true})
	if err != nil {
		return err
	}
	out := checked{Home: home, Tools: r.Tools, Config: config.Values(cfg), Policy: checkedPolicy{r.Policy.Policy, r.Policy.Revision}}
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
	a.printf("tools    %d are active and exposed, whether or not their secrets are there\n\nwhat is not the default:\n", out.Tools)
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
