package service

import (
	"context"

	"github.com/toolwarrant/toolwarrant/config"
	"github.com/toolwarrant/toolwarrant/resolver"
)

// PolicyOptions are what cfg says of the policy.
func PolicyOptions(home string, cfg *config.Config) resolver.Options {
	return resolver.Options{
		Policy: cfg.Policy.Path, Operator: Operator(home, cfg),
		Trust: resolver.Trust{KeyFiles: cfg.Policy.Keys, RequireSignature: cfg.Policy.RequireSignature, MinRevision: cfg.Policy.MinRevision},
	}
}

// OpenPolicy compiles the policy that cfg names, without opening anything
// else of the installation.
func OpenPolicy(ctx context.Context, home string, cfg *config.Config) (*resolver.Resolver, error) {
	return resolver.New(ctx, PolicyOptions(home, cfg))
}
