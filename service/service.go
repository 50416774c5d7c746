// Package service is one installation of toolwarrant, opened: everything
// that a verb of the command line, the server or an admin interface does with
// it, implemented once.
//
// It wires the parts (Open), and adds what is above a single call: the Local
// Pass, publishing and drafting, answering approvals, listing with levels.
// Front ends turn their input into one method call and its result into their
// output; they hold no rule of their own.
package service

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/toolwarrant/toolwarrant/approval"
	"github.com/toolwarrant/toolwarrant/approval/dirstore"
	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/catalog"
	"github.com/toolwarrant/toolwarrant/config"
	"github.com/toolwarrant/toolwarrant/executor"
	"github.com/toolwarrant/toolwarrant/executor/broker"
	"github.com/toolwarrant/toolwarrant/executor/command"
	"github.com/toolwarrant/toolwarrant/executor/js"
	"github.com/toolwarrant/toolwarrant/executor/mask"
	"github.com/toolwarrant/toolwarrant/executor/process"
	"github.com/toolwarrant/toolwarrant/executor/sandbox"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/backends"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/microvm"
	"github.com/toolwarrant/toolwarrant/executor/secret"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/internal/tick"
	"github.com/toolwarrant/toolwarrant/keyring"
	"github.com/toolwarrant/toolwarrant/keyring/apikey"
	"github.com/toolwarrant/toolwarrant/resolver"
	"github.com/toolwarrant/toolwarrant/service/telemetry"
)

// Options open an installation.
type Options struct {
	Home   string // absolute folder; made with mode 0700 when absent
	Config *config.Config
	Logger zerolog.Logger
	// Version is what fetches say that they come from, "" = none.
	Version string
	// Stdout is where an audit sink of type stdout writes; nil where standard
	// output is needed otherwise.
	Stdout io.Writer
	// Shadow opens the shadow policy that Config names: of use to those who
	// serve other people's calls alone.
	Shadow bool
}

// Service is an open installation. It is safe for concurrent use.
type Service struct {
	Home      string
	Config    *config.Config
	Catalog   *catalog.Catalog
	Policy    *resolver.Resolver
	Approvals *approval.Gate
	Audit     *audit.Writer
	Engine    *executor.Engine
	Metrics   *Metrics
	APIKeys   *apikey.Store

	keys       *keyring.File
	origin     *origin
	shadow     *origin                // nil = none
	notary     atomic.Pointer[notary] // of a process that serves, where one is asked for
	runtime    executor.Runtime
	sandboxes  *sandbox.Set
	logger     zerolog.Logger
	background context.Context // until Close
	stop       context.CancelFunc
	swept      chan struct{}
	revisions  revisions
	known      known
	traces     *telemetry.Traces // nil = none

	reconfiguring sync.Mutex
	current       atomic.Pointer[config.Config] // in force; nil = Config, which the process was started with
	pendingKeys   []string                      // that wait for a restart, as they were said last
	generation    atomic.Int64                  // of what lists depend on beside policy and catalog

	approvalFeed *approval.Feed
	feedOnce     sync.Once
	beside       sync.WaitGroup // what runs beside the calls until background ends
}

// Operator is what cfg lets tools do, in the form that policy reads.
func Operator(home string, cfg *config.Config) resolver.Operator {
	op := resolver.Operator{
		BasePath: cfg.FS.BasePath, Roots: cfg.FS.Roots,
		AllowOpenMode: cfg.Policy.AllowOpenMode, PrivateHosts: cfg.Egress.PrivateHosts,
	}
	if op.BasePath == "" {
		op.BasePath = filepath.Join(home, "workspace")
	}
	for _, g := range cfg.Secrets.Grants {
		op.Grants = append(op.Grants, resolver.Grant(g))
	}
	return op
}

// NewRuntime makes what runs the code of tools, as cfg wants it.
func NewRuntime(cfg *config.Config, log zerolog.Logger) executor.Runtime {
	if cfg.Runtime.Isolation == "in-process" {
		return js.New(js.Options{})
	}
	return process.New(process.Options{Workers: int(cfg.Runtime.Workers), Logger: log})
}

// NewSandboxes makes the sandboxes that commands may run in, as cfg wants it.
// Nothing starts before a command is asked for; the caller closes the set.
func NewSandboxes(cfg *config.Config) (*sandbox.Set, error) {
	if !cfg.Sandbox.Enabled {
		return sandbox.NewSet(sandbox.SetOptions{}), nil
	}
	opts := backends.Options{Firecracker: microvm.Options{Kernel: cfg.Sandbox.Kernel}, QEMU: microvm.Options{Kernel: cfg.Sandbox.Kernel}}
	set := backends.All(opts)
	if len(cfg.Sandbox.Backends) == 0 {
		return set, nil
	}
	for _, id := range cfg.Sandbox.Backends {
		if _, err := set.ByID(id); err != nil {
			_ = set.Close()
			return nil, fault.New(fault.Usage, "sandbox-backend", "sandbox.backends: %v", err)
		}
	}
	opts.Only = cfg.Sandbox.Backends
	return backends.All(opts), set.Close()
}

// Ready waits until rt takes calls, and says why it cannot.
func Ready(ctx context.Context, rt executor.Runtime) error {
	if w, ok := rt.(interface{ Ready(context.Context) error }); ok {
		return w.Ready(ctx)
	}
	return nil
}

// Open opens every part, in the order in which one needs the other, and
// settles what an earlier process left behind. It fails closed: a part that
// cannot be opened is an error and nothing stays open.
func Open(ctx context.Context, o Options) (_ *Service, err error) {
	s := &Service{Home: o.Home, Config: o.Config, logger: o.Logger, swept: make(chan struct{})}
	s.Metrics = newMetrics(s)
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	s.background, s.stop = background, stop
	defer func() {
		if err != nil {
			stop()
			close(s.swept)
			err = errors.Join(err, s.closeParts(ctx))
			err = firstFault(err)
		}
	}()
	if err := os.MkdirAll(o.Home, 0o700); err != nil {
		return nil, fault.New(fault.Usage, "home", "the home folder %s cannot be made: %v", o.Home, err)
	}
	if err := seedWorkspace(filepath.Join(o.Home, "workspace")); err != nil {
		return nil, err
	}
	// Workers start while the policy compiles; they are waited for at the end.
	s.runtime = NewRuntime(o.Config, o.Logger)
	if s.sandboxes, err = NewSandboxes(o.Config); err != nil {
		return nil, err
	}
	keys, err := keyring.Open(filepath.Join(o.Home, "keys"))
	if err != nil {
		return nil, err
	}
	s.keys, s.APIKeys = keys, apikey.Open(filepath.Join(o.Home, "keys"), time.Now)
	if s.origin, err = openPolicy(ctx, o.Home, o.Config, s.vet); err != nil {
		return nil, err
	}
	s.Policy = s.origin.resolver
	if o.Shadow && o.Config.Policy.Shadow != "" {
		if s.shadow, err = openShadow(ctx, o.Home, o.Config, s.vet); err != nil {
			return nil, err
		}
	}
	if err := checkApart(o); err != nil {
		return nil, err
	}
	log, err := s.auditOptions()
	if err != nil {
		return nil, err
	}
	if log.Sinks, err = openSinks(o); err != nil {
		return nil, err
	}
	if s.Audit, err = audit.Open(filepath.Join(o.Home, "audit"), log); err != nil {
		for _, o := range log.Sinks {
			_ = o.Sink.Close()
		}
		return nil, err
	}
	store, err := dirstore.Open(filepath.Join(o.Home, "approvals"))
	if err != nil {
		return nil, err
	}
	s.Approvals = approval.NewGate(store, keys, time.Now)
	s.approvalFeed = approval.NewFeed(s.Approvals)
	secrets := secret.New(secretsFile(o.Home, o.Config), os.LookupEnv)
	if err := secrets.Check(); err != nil {
		return nil, err
	}
	if s.Catalog, err = catalog.Open(ctx, s.catalogOptions(secrets)); err != nil {
		return nil, err
	}
	if err := Ready(ctx, s.runtime); err != nil {
		return nil, err
	}
	if s.traces, err = openTraces(o); err != nil {
		return nil, err
	}
	operator := Operator(o.Home, o.Config)
	s.Engine, err = executor.New(executor.Components{
		Catalog: s.Catalog, Policy: s.Policy, Shadow: s.shadowPolicy(), Observer: s.Metrics,
		ShadowPatience: time.Duration(o.Config.Policy.ShadowWaitMillis) * time.Millisecond, Approvals: s.Approvals, Audit: s.Audit, Runtime: s.runtime,
		Secrets: secrets, Known: func() *mask.Set { return s.knownSecrets(background) }, Keys: keys, Now: time.Now, Logger: o.Logger,
		Admission: executor.NewAdmission(admissionLimits(o.Config)), Meter: s.Metrics, Tracer: tracerOf(s.traces),
		Sandboxes: command.NewSandboxes(s.sandboxes),
		Broker:    broker.Options{Resolver: o.Config.Egress.Resolver, Workspace: operator.BasePath, Roots: append([]string{operator.BasePath}, operator.Roots...), UserAgent: userAgent(o.Version), Logger: o.Logger},
	})
	if err != nil {
		return nil, err
	}
	go s.sweep(background)
	return s, nil
}

const (
	// sweepEvery is how often expired questions are closed.
	sweepEvery = time.Second
	// upkeepEvery is after how many of those times the log is looked after.
	upkeepEvery = 5
)

// sweep closes what nobody came back for.
func (s *Service) sweep(ctx context.Context) {
	defer close(s.swept)
	said, n := "", 0
	failed := logOnce(func(err error) { s.logger.Warn().Err(err).Msg("expired approvals could not be swept") })
	for range tick.Every(ctx, sweepEvery) {
		if _, err := s.Approvals.Sweep(ctx); err != nil && ctx.Err() == nil {
			failed(err)
		}
		if n++; n%upkeepEvery != 0 {
			continue
		}
		if _, err := s.Audit.CloseAbandoned(ctx, time.Now()); err != nil && ctx.Err() == nil {
			s.logger.Warn().Err(err).Msg("abandoned calls could not be closed in the audit log")
		}
		said = s.upkeep(said)
	}
}

// Close ends the installation: calls that run are interrupted, the log is
// left complete.
func (s *Service) Close(ctx context.Context) error {
	s.stop()
	<-s.swept
	s.beside.Wait()
	return s.closeParts(ctx)
}

func (s *Service) closeParts(ctx context.Context) error {
	var errs []error
	if s.runtime != nil {
		errs = append(errs, s.runtime.Close())
	}
	if s.sandboxes != nil {
		errs = append(errs, s.sandboxes.Close())
	}
	if s.Engine != nil {
		errs = append(errs, s.Engine.FlushRefused(ctx))
	}
	if s.Audit != nil {
		// A close that the disk did not take is written now, as it was, if the
		// disk is back. The next start would only know that the call ended.
		if _, err := s.Audit.CloseAbandoned(ctx, time.Now()); err != nil && ctx.Err() == nil {
			s.logger.Warn().Err(err).Msg("abandoned calls could not be closed in the audit log; the next start does it")
		}
		errs = append(errs, s.Audit.Shutdown(ctx))
	}
	if n := s.notary.Load(); n != nil {
		errs = append(errs, n.last(ctx))
	}
	if s.traces != nil {
		if err := s.traces.Close(ctx); err != nil {
			s.logger.Warn().Err(err).Msg("the last traces could not be sent")
		}
	}
	return errors.Join(errs...)
}

func userAgent(version string) string {
	if version == "" {
		return ""
	}
	return "toolwarrant/" + version
}

func secretsFile(home string, cfg *config.Config) string {
	if f := cfg.Secrets.File; f != "" {
		return f
	}
	return filepath.Join(home, "secrets.yaml")
}

// firstFault keeps the failure that came first: it names the cause.
func firstFault(err error) error {
	var f *fault.Error
	if errors.As(err, &f) {
		return f
	}
	return err
}

// Names splits a comma-separated flag.
func Names(list []string) []string {
	var out []string
	for _, l := range list {
		for _, n := range strings.Split(l, ",") {
			if n = strings.TrimSpace(n); n != "" {
				out = append(out, n)
			}
		}
	}
	return out
}
