package main

import (
	"context"
	"net"
	"os"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"github.com/toolwarrant/toolwarrant/config"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/server"
	"github.com/toolwarrant/toolwarrant/server/auth"
	"github.com/toolwarrant/toolwarrant/service"
)

// serveFlags maps flags of serve to configuration keys.
var serveFlags = map[string]string{
	"addr": "addr", "shadow-policy": "policy.shadow", "catalog": "catalog.dirs", "trust-folders": "catalog.trust-folders", "preset": "catalog.preset", "audit": "audit.file",
	"include-names": "catalog.include.names", "include-tags": "catalog.include.tags", "include-categories": "catalog.include.categories",
	"exclude-names": "catalog.exclude.names", "exclude-tags": "catalog.exclude.tags", "exclude-categories": "catalog.exclude.categories",
}

// catalogFlags adds the flags that choose tools.
func catalogFlags(c *cobra.Command) {
	c.Flags().StringSlice("catalog", nil, "folder of your tools; may be repeated")
	c.Flags().Bool("trust-folders", false, "serve what those folders hold without a passed test, as it is edited")
	c.Flags().String("preset", "", `bundled tools to start from: "starter-5", "everything", ...`)
	for _, rule := range []string{"include", "exclude"} {
		for _, what := range []string{"names", "tags", "categories"} {
			c.Flags().StringSlice(rule+"-"+what, nil, rule+" tools by "+what+", comma separated")
		}
	}
}

// flagValues gives the configuration values of the flags that were set.
func flagValues(c *cobra.Command) map[string]any {
	values := map[string]any{}
	for flag, key := range serveFlags {
		f := c.Flags().Lookup(flag)
		if f == nil || !f.Changed {
			continue
		}
		if f.Value.Type() == "stringSlice" {
			list, _ := c.Flags().GetStringSlice(flag)
			values[key] = service.Names(list)
			continue
		}
		values[key] = f.Value.String()
	}
	return values
}

func (a *app) serveCmd() *cobra.Command {
	var stdio, check bool
	c := &cobra.Command{
		Use:   "serve",
		Short: "Serve the tools to agents over MCP",
		Long: `Serve the tools of the catalog over MCP: Streamable HTTP at /mcp for every
protocol version from 2024-11-05 to 2026-07-28, or stdio with --stdio.

Without authentication only a loopback address is served: the sections auth and
tls of the configuration say who may call, with API keys ("toolwarrant keys
create"), tokens of an identity provider, or client certificates.

--shadow-policy names a second policy that decides every call too and is
enforced on none: each record says where it differs, and "toolwarrant policy
shadow" counts that. /healthz and /metrics show both policies.`,
		Example: `  toolwarrant serve
  toolwarrant serve --preset everything --exclude-tags weather
  toolwarrant serve --catalog ./tools --policy ./policy
  toolwarrant serve --policy policy.tar.gz
  toolwarrant serve --policy https://policies.example.com/tools.tar.gz
  toolwarrant serve --policy policy.tar.gz --shadow-policy next/
  toolwarrant serve --config toolwarrant.yaml --check-config
  toolwarrant serve --stdio`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			flags := flagValues(c)
			home, cfg, err := a.settings(flags)
			if err != nil {
				return err
			}
			if check {
				return a.checkConfig(c.Context(), home, cfg, stdio)
			}
			return a.serve(c.Context(), home, cfg, flags, stdio)
		},
	}
	c.Flags().String("addr", "", "address to listen on (default 127.0.0.1:8282)")
	c.Flags().BoolVar(&stdio, "stdio", false, "speak MCP on standard input and output")
	c.Flags().BoolVar(&check, "check-config", false, "say what would be in force, or what is wrong, and serve nothing")
	c.Flags().String("audit", "", "audit log file (default <home>/audit/audit.ndjson)")
	a.formats(c, "text", "json")
	a.policyFlag(c)
	c.Flags().String("shadow-policy", "", "second policy, as --policy: decides too, is not enforced")
	catalogFlags(c)
	return c
}

// leftBehind says what becomes of what could not be closed. Of a log that is
// not the one that was written any more, a start mends nothing.
func leftBehind(err error) string {
	if service.NeedsHand(err) {
		return "closing left something behind that no start repairs; the error says what to do"
	}
	return "closing left something behind; the next start repairs it"
}

func (a *app) serve(ctx context.Context, home string, cfg *config.Config, flags map[string]any, stdio bool) error {
	hidden := service.NewLogMask(a.std.err)
	log := newLogger(hidden, cfg, isTerminal(a.std.err))
	setLevel(cfg)
	service.HeapFloor(cfg.Limits.HeapFloor, os.LookupEnv)
	var who auth.Setup
	if !stdio || cfg.Admin.Enabled { // which listens beside stdio too
		var err error
		if who, err = identity(ctx, home, cfg, log); err != nil {
			return err
		}
	}
	var listener net.Listener
	if !stdio {
		var err error
		if listener, err = net.Listen("tcp", cfg.Addr); err != nil {
			return fault.New(fault.Usage, "listen", "cannot listen on %s: %v; choose another with --addr", cfg.Addr, err)
		}
		defer listener.Close()
	}
	adminListener, err := listenAdmin(cfg, who)
	if err != nil {
		return err
	}
	if adminListener != nil {
		defer adminListener.Close()
	}
	opening := service.Options{Home: home, Config: cfg, Logger: log, Version: version(), Shadow: true}
	if !stdio {
		opening.Stdout = a.std.out
	}
	s, err := service.Open(ctx, opening)
	if err != nil {
		return err
	}
	defer func() {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), 15*time.Second)
		defer cancel()
		if err := s.Close(closing); err != nil {
			log.Error().Err(err).Msg(leftBehind(err))
		}
	}()
	callback, err := s.ApprovalWebhooks(version())
	if err != nil {
		return err
	}
	srv := server.New(server.Options{
		Callback: callback,
		Caller:   server.Governed(s), Name: cfg.Name, Version: version(),
		Auth: who.Auth, TLS: who.Config(), OpenMetrics: cfg.Auth.OpenMetrics,
		AllowedHosts: auth.Hosts(cfg), AllowedOrigins: cfg.Server.AllowedOrigins, MaxBodyBytes: cfg.Server.MaxBodyBytes,
		SessionTimeout: time.Duration(cfg.Server.SessionTimeoutSeconds) * time.Second,
		DrainTimeout:   time.Duration(cfg.Server.DrainSeconds) * time.Second, DrainDelay: time.Duration(cfg.Server.DrainDelaySeconds) * time.Second,
		MaxRequests: int(cfg.Limits.Requests), MaxBodies: cfg.Limits.BodyBytes, MaxConnections: int(cfg.Limits.Connections),
		Share: int(cfg.Limits.SharePercent), MaxListens: int(cfg.Limits.Listens), MaxListensEach: int(cfg.Limits.ListensEach),
		MaxSessions: int(cfg.Limits.Sessions), MaxSessionsEach: int(cfg.Limits.SessionsEach),
		ReaderPatience: time.Duration(cfg.Limits.ReaderSeconds) * time.Second,
		Health:         s.Health, Policy: s.PolicyStatus, ListRevision: s.ListRevision, Shadow: s.ShadowStatus, Sinks: s.Sinks, Checkpoints: s.Checkpoints, Metrics: s.Metrics, ToolNames: toolNames(s), Logger: log,
	})
	s.Metrics.Register(srv.Collector())
	if err := s.Started(ctx, version()); err != nil {
		return err
	}
	if err := a.announce(ctx, s, log, stdio); err != nil {
		return err
	}
	go s.MaskLog(ctx, hidden)
	go (&reloader{app: a, flags: flags, s: s, srv: srv, log: log}).follow(ctx)
	go followShed(ctx, s, srv, log)
	go followCatalog(ctx, s, log)
	if cfg.Audit.Index {
		indexing, stop := context.WithCancel(ctx)
		indexed := make(chan struct{})
		defer func() { stop(); <-indexed }()
		go func() {
			defer close(indexed)
			followIndex(indexing, log, s.Audit.Path())
		}()
	}
	go followPolicy(ctx, log, s.PolicyEvery(followEvery), s.PolicyStatus, s.RenewPolicy)
	if every := s.ShadowEvery(followEvery); every > 0 {
		go followPolicy(ctx, log.With().Bool("shadow", true).Logger(), every, func() service.PolicyStatus { return *s.ShadowStatus() }, s.RenewShadow)
	}
	if adminListener != nil {
		defer serveAdmin(ctx, s, who, adminListener, log)()
	}
	if stdio {
		return srv.ServeStdio(ctx, a.std.in, a.std.out)
	}
	return srv.Serve(ctx, listener)
}

// announce says what is served, where, and under what.
func (a *app) announce(ctx context.Context, s *service.Service, log zerolog.Logger, stdio bool) error {
	tools, err := s.Visible(ctx, principal())
	if err != nil {
		return err
	}
	for _, f := range s.Catalog.Findings() {
		log.Warn().Str("file", f.File).Str("code", string(f.Code)).Msg(f.Error())
	}
	status := s.PolicyStatus()
	if status.LastError != nil {
		log.Error().Err(status.LastError).Msg("the policy that was wanted is not in force, but the last good one")
	}
	iso := s.Engine.Runtime.Isolation()
	e := log.Info().Int("tools", len(tools)).Str("policy", status.Revision).Str("home", s.Home).Str("isolation", describe(iso))
	if status.Bundle != "" {
		e = e.Str("bundle", status.Bundle)
	}
	if shadow := s.ShadowStatus(); shadow != nil {
		if shadow.LastError != nil {
			log.Error().Err(shadow.LastError).Msg("the shadow policy that was wanted is not asked, but the last good one")
		}
		e = e.Str("shadow", shadow.Revision)
	}
	if stdio {
		e.Msg("serving MCP on standard input and output")
		return nil
	}
	scheme := "http"
	if s.Config.TLS.CertFile != "" {
		scheme = "https"
	}
	e.Msg("serving MCP at " + scheme + "://" + s.Config.Addr + "/mcp")
	return nil
}

const (
	// followEvery is how often a server looks whether its policy changed.
	followEvery = 2 * time.Second
	// catalogEvery is how often it looks whether another process changed the
	// catalog: what is published, hidden or exposed counts within two seconds.
	catalogEvery = time.Second
)

// followCatalog makes what other processes publish or draft take effect.
func followCatalog(ctx context.Context, s *service.Service, log zerolog.Logger) {
	tick := time.NewTicker(catalogEvery)
	defer tick.Stop()
	s.Catalog.Watch(ctx, tick.C, func(err error) {
		if err == nil {
			log.Info().Str("catalog", s.Catalog.Revision()).Msg("the catalog changed")
			return
		}
		log.Error().Err(err).Msg("the catalog changed and cannot be read; what was good stays in force")
	})
}
