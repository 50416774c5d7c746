package server

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/server/auth"
	"github.com/toolwarrant/toolwarrant/service"
)

// Why a request ended early; context.Cause gives it to whoever looks.
var (
	errGone     = errors.New("the client is gone")
	errStopping = errors.New("the server is stopping")
)

// Options configure a Server. Zero values mean the defaults named here.
type Options struct {
	Caller Caller // required
	// Auth says who sends a request over HTTP; nil = nobody is asked, and every
	// caller is whoever runs programs on this host.
	Auth    auth.Authenticator
	Name    string // of this server, as clients see it; "toolwarrant"
	Version string // "dev"
	// AllowedHosts are names beyond loopback that a request may be for, such
	// as "tools.example.com" or "tools.example.com:8443".
	AllowedHosts []string
	// AllowedOrigins are web origins beyond our own, "https://app.example.com".
	AllowedOrigins []string
	// MaxBodyBytes bounds one message; 4 MiB.
	MaxBodyBytes int64
	// PageBytes bounds the tools of one page of a list; 4 MiB.
	PageBytes int64
	// SessionTimeout ends a session without requests; 30 minutes.
	SessionTimeout time.Duration
	// DrainTimeout is how long calls may go on when the server stops; 30 s.
	DrainTimeout time.Duration
	// HandlerDeadline is how long one call of a tool may take altogether: the
	// human's time, the execution and a margin. 10 minutes when nil or not
	// positive.
	HandlerDeadline func(tool string) time.Duration
	// Policy says which policy is in force, for the health check; nil = nothing.
	Policy func() service.PolicyStatus
	// Shadow does the same for a policy that is asked and not enforced; nil, or
	// an answer of nil, = there is none.
	Shadow func() *service.PolicyStatus
	// Sinks says how the further places of the audit log do; nil = there are
	// none.
	Sinks func() []audit.SinkStatus
	// Metrics are what /metrics answers; nil = there is no such path.
	Metrics prometheus.Gatherer
	// Callback takes signed answers to approvals at /approvals/callback; nil =
	// there is no such path.
	Callback http.Handler
	// Health says why the process cannot serve; nil means healthy.
	Health func() error
	// Logger gets what goes wrong. Never arguments or results.
	Logger zerolog.Logger
}

const (
	defaultBody     = 4 << 20
	defaultSession  = 30 * time.Minute
	defaultDrain    = 30 * time.Second
	defaultDeadline = 10 * time.Minute
	// bodyTimeout is how long a client may take to send one message.
	bodyTimeout = 30 * time.Second
)

// Server is the MCP server. Use one for one Serve, or any number of times as
// a Handler and with ServeStdio. Safe for concurrent use.
type Server struct {
	opt      Options
	visitors visitors

	legacy    *mcp.Server
	stateful  http.Handler
	stateless http.Handler

	requests sync.Map // number (string) -> served
	counter  atomic.Uint64
	inFlight tally
	draining atomic.Bool

	stop     context.Context // see door.stop
	stopNow  context.CancelFunc
	sessions func() int // open sessions of the older versions, for tests
}

// New makes a server. It panics without a Caller, a defect of the program.
func New(opt Options) *Server {
	if opt.Caller == nil {
		panic("server: Options.Caller is nil")
	}
	setDefault(&opt.Name, "toolwarrant")
	setDefault(&opt.Version, "dev")
	setDefault(&opt.MaxBodyBytes, defaultBody)
	setDefault(&opt.PageBytes, listPage)
	setDefault(&opt.SessionTimeout, defaultSession)
	setDefault(&opt.DrainTimeout, defaultDrain)
	s := &Server{opt: opt, visitors: newVisitors(opt.AllowedHosts, opt.AllowedOrigins)}
	s.stop, s.stopNow = context.WithCancel(context.Background())

	d := s.door(decision.OriginMCPHTTP)
	d.drop, d.gone, d.expect, d.who = s.httpContext, s.httpContext, s.httpExpect, s.httpPrincipal
	s.legacy = d.server(opt.Name, opt.Version)
	modern := d.server(opt.Name, opt.Version)
	common := mcp.StreamableHTTPOptions{
		Logger: d.slog(), MaxRequestBodyBytes: opt.MaxBodyBytes,
		DisableLocalhostProtection: true, // visitors does more, and knows allowed-hosts
	}
	forStateful, forStateless := common, common
	// Server-sent events, not JSON: a question travels on the stream of the
	// call that it is about, and not every client keeps another one open.
	forStateful.SessionTimeout = opt.SessionTimeout
	forStateless.Stateless, forStateless.JSONResponse, forStateless.PropagateRequestCancellation = true, true, true
	s.stateful = mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s.legacy }, &forStateful)
	s.stateless = mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return modern }, &forStateless)
	s.sessions = func() int {
		n := 0
		for range s.legacy.Sessions() {
			n++
		}
		for range modern.Sessions() {
			n++
		}
		return n
	}
	return s
}

func (s *Server) door(origin decision.Origin) *door {
	return &door{
		caller: s.opt.Caller, origin: origin, who: noPrincipal, log: s.opt.Logger, stop: s.stop, page: int(s.opt.PageBytes),
		deadline: func(tool string) time.Duration {
			if s.opt.HandlerDeadline != nil {
				if d := s.opt.HandlerDeadline(tool); d > 0 {
					return d
				}
			}
			return defaultDeadline
		},
	}
}

func setDefault[T comparable](v *T, def T) {
	var zero T
	if *v == zero {
		*v = def
	}
}

// Handler serves every path of the HTTP door.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/mcp", s.serveMCP)
	mux.HandleFunc("GET /healthz", s.serveHealth)
	mux.HandleFunc("GET /{$}", s.serveRoot)
	if s.opt.Metrics != nil {
		mux.Handle("GET /metrics", s.metrics())
	}
	if s.opt.Callback != nil {
		mux.Handle("/approvals/callback", s.opt.Callback)
	}
	for _, p := range []string{"/sse", "/sse/", "/message", "/messages", "/messages/"} {
		mux.HandleFunc(p, serveOldTransport)
	}
	return s.visitors.handler(mux)
}

func (s *Server) serveRoot(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write([]byte(s.opt.Name + " " + s.opt.Version + ", an MCP server (toolwarrant).\n" +
		"Clients connect to /mcp with Streamable HTTP. Every call is decided by policy and recorded.\n"))
}

func serveOldTransport(w http.ResponseWriter, _ *http.Request) {
	http.Error(w, "The HTTP+SSE transport of 2024-11-05 is not served. Point the client to /mcp with the Streamable HTTP transport.", http.StatusGone)
}

func (s *Server) serveHealth(w http.ResponseWriter, _ *http.Request) {
	status, code := "ok", http.StatusOK
	if s.draining.Load() {
		status, code = "draining", http.StatusServiceUnavailable
	} else if s.opt.Health != nil {
		if err := s.opt.Health(); err != nil {
			// The cause stays in the log: this path has no authentication.
			s.opt.Logger.Error().Err(err).Msg("not healthy")
			status, code = "unavailable", http.StatusServiceUnavailable
		}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	answer := health{Status: status, Sinks: []sink{}}
	if s.opt.Sinks != nil {
		answer.Sinks = sinksHealth(s.opt.Sinks(), time.Now())
	}
	if s.opt.Policy != nil {
		answer.Policy = policyHealth(s.opt.Policy())
	}
	if s.opt.Shadow != nil {
		if st := s.opt.Shadow(); st != nil {
			answer.Shadow = policyHealth(*st)
		}
	}
	_ = json.NewEncoder(w).Encode(answer)
}
