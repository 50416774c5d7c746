package main

import (
	"context"
	"net"

	"github.com/rs/zerolog"

	"github.com/toolwarrant/toolwarrant/config"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/server"
	"github.com/toolwarrant/toolwarrant/server/admin"
	"github.com/toolwarrant/toolwarrant/server/auth"
	"github.com/toolwarrant/toolwarrant/service"
)

// listenAdmin opens the address of the admin interface; nil = it is off. It is
// protected as the address of agents is: an address that others reach needs
// authentication and encryption.
func listenAdmin(cfg *config.Config, who auth.Setup) (net.Listener, error) {
	if !cfg.Admin.Enabled {
		return nil, nil
	}
	if err := checkAdminAddr(cfg, who); err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", cfg.Admin.Addr)
	if err != nil {
		return nil, fault.New(fault.Usage, "listen", "cannot listen on %s: %v; choose another with the config key admin.addr", cfg.Admin.Addr, err)
	}
	return who.Listener(l), nil
}

// checkAdminAddr refuses an address of the admin interface that others reach
// without what it needs then.
func checkAdminAddr(cfg *config.Config, who auth.Setup) error {
	err := server.CheckAddr(cfg.Admin.Addr, server.Protection{Authenticated: who.Auth != nil, Encrypted: who.Encrypted()})
	if !cfg.Admin.Enabled || err == nil {
		return nil
	}
	return fault.New(fault.Usage, fault.From(err).Reason, "admin.addr: %s", fault.From(err).Message)
}

// serveAdmin serves the admin interface until stop is called, which waits for
// it: calls that wait for a human while the server drains can be answered.
func serveAdmin(ctx context.Context, s *service.Service, who auth.Setup, l net.Listener, log zerolog.Logger) (stop func()) {
	cfg := s.Config.Admin
	srv := admin.New(admin.Options{
		Service: s, Auth: who.Auth, AllowedHosts: cfg.AllowedHosts, AllowedOrigins: cfg.AllowedOrigins, MaxBodyBytes: cfg.MaxBodyBytes,
		Version: version(), Logger: log,
		Keys: keyStore{s}, Modify: s.Modify, Choose: choose(s), SetApproval: setApproval(s), Refused: refusedAdmin(s, log),
	})
	serving, end := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := srv.Serve(serving, l); err != nil {
			log.Error().Err(err).Msg("the admin interface ended")
		}
	}()
	scheme := "http"
	if who.TLS != nil {
		scheme = "https"
	}
	log.Info().Msg("serving the admin interface at " + scheme + "://" + l.Addr().String() + "/api/v1/")
	return func() { end(); <-ended }
}
