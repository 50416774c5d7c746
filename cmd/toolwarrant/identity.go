package main

import (
	"context"
	"path/filepath"

	"github.com/rs/zerolog"

	"github.com/toolwarrant/toolwarrant/config"
	"github.com/toolwarrant/toolwarrant/keyring/apikey"
	"github.com/toolwarrant/toolwarrant/server"
	"github.com/toolwarrant/toolwarrant/server/auth"
)

// identity makes what stands between the address of serve and those who can
// reach it, and refuses an address that others reach without it.
func identity(ctx context.Context, home string, cfg *config.Config, log zerolog.Logger) (auth.Setup, error) {
	keys := apikey.Open(filepath.Join(home, "keys"), nil)
	setup, err := auth.FromConfig(ctx, cfg, keys, log)
	if err != nil {
		return setup, err
	}
	if err := server.CheckAddr(cfg.Addr, server.Protection{Authenticated: setup.Auth != nil, Encrypted: setup.Encrypted()}); err != nil {
		return setup, err
	}
	if setup.Auth == nil {
		return setup, nil
	}
	log.Info().Strs("credentials", setup.Methods).Bool("tls", setup.TLS != nil).Msg("every request has to be authenticated")
	if cfg.Auth.APIKeys {
		switch all, err := keys.List(); {
		case err != nil:
			log.Error().Err(err).Msg("API keys cannot be checked until this is mended; callers with one are refused")
		case len(all) == 0 && len(setup.Methods) == 1:
			log.Warn().Msg("there is no API key yet; toolwarrant keys create NAME makes one")
		}
	}
	return setup, nil
}
