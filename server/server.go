package server

import (
	"context"
	"crypto/tls"
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
	Auth auth.Authenticator
	// OpenMetrics serves /metrics without authentication too.
	OpenMetrics bool
	Name        string // of this server, as clients see it; "toolwarrant"
	Version     string // "dev"
	// TLS encrypts what Serve listens on; nil = it is not encrypted.
	TLS *tls.Config
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
	// DrainDelay is how long the server goes on as before once it is to stop,
	// with /readyz saying so already: what balances load needs that time to
	// notice. 0 = not at all.
	DrainDelay time.Duration
	// MaxRequests bounds the messages that are served at one time, those whose
	// human is being asked included; 4096. MaxBodies bounds the bytes of their
	// bodies together; 256 MiB. Share is how much of both one principal may
	// take, in percent; 25. What is beyond gets 429 and is not read on.
	MaxRequests int
	MaxBodies   int64
	Share       int
	// MaxListens bounds the requests that wait for news (subscriptions/listen),
	// which count as no other ones, in total and for each principal: 5,000 and
	// 1,000.
	MaxListens, MaxListensEach int
	// MaxConnections bounds the connections of Serve; 10,000. Further ones wait.
	MaxConnections int
	// MaxSessions bounds the sessions of the older protocol versions, in total
	// and for each principal: 10,000 and 2,000.
	MaxSessions, MaxSessionsEach int
	// ReaderPatience is how long a client may take for 64 KiB of an answer; 30 s.
	ReaderPatience time.Duration
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
	// Checkpoints says how the checkpoints of the audit log do; nil = none are
	// made.
	Checkpoints func() *service.CheckpointStatus
	// Metrics are what /metrics answers; nil = there is no such path.
	Metrics prometheus.Gatherer
	// ToolNames says who gets the numbers that name tools, hidden ones too; the
	// principal is nil where nobody is asked. nil = nobody, unless OpenMetrics
	// says that everybody gets everything.
	ToolNames func(*decision.Principal) bool
	// ListRevision names what the lists of all callers depend on, and changes
	// with it: connected clients are told then. nil = only Changed tells them.
	ListRevision func() string
	// Extension is what an entrance has beside tools; nothing where it is zero.
	Extension Extension
	// Callback takes signed answers to approvals at /approvals/callback; nil =
	// there is no such path.
	Callback http.Handler
	// Health says why the process cannot serve; nil means healthy.
	Health func() error
	// Logger gets what goes wrong. Never arguments or results.
	Logger zerolog.Logger
}

const (
	defaultBody        = 4 << 20
	defaultSession     = 30 * time.Minute
	defaultDrain       = 30 * time.Second
	defaultDeadline    = 10 * time.Minute
	defaultRequests    = 4096
	defaultBodies      = 256 << 20
	defaultConnections = 10_000
	defaultSessions    = 10_000
	defaultEach        = 2_000
	defaultShare       = 25
	defaultListens     = 5_000
	defaultListensEach = 1_000
	defaultPatience    = 30 * time.Second
)

// Server is the MCP server. Use one for one Serve, or any number of times as
// a Handler and with ServeStdio. Safe for concurrent use.
type Server struct {
	opt      Options
	visitors visitors

	legacy    *mcp.Server
	stateful  http.Handler
	stateless http.Handler // answers with one JSON document
	streaming http.Handler // the same, as a stream
	entrances sync.Map     // *mcp.Server -> nothing
	told      told
	http      *door
	every     time.Duration // see door.every
	beat      time.Duration // between two signs of life on a stream
	body      time.Duration // for a body to arrive; 0 = as Times

	binder     binder
	peeking    chan struct{} // a place for each unknown caller whose body is looked at
	saidNobody atomic.Int64  // when the log last said that nobody can be authenticated
	requests   sync.Map      // number (string) -> served
	counter    atomic.Uint64
	inFlight   tally
	leaving    atomic.Bool // the process is to end; calls are taken until draining
	draining   atomic.Bool
	load       load
	guests     guests

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
	setDefault(&opt.MaxRequests, defaultRequests)
	setDefault(&opt.MaxBodies, defaultBodies)
	setDefault(&opt.Share, defaultShare)
	setDefault(&opt.MaxListens, defaultListens)
	setDefault(&opt.MaxListensEach, defaultListensEach)
	setDefault(&opt.MaxConnections, defaultConnections)
	setDefault(&opt.MaxSessions, defaultSessions)
	setDefault(&opt.MaxSessionsEach, defaultEach)
	setDefault(&opt.ReaderPatience, defaultPatience)
	s := &Server{opt: opt, visitors: newVisitors(opt.AllowedHosts, opt.AllowedOrigins), binder: newBinder(), peeking: make(chan struct{}, maxPeeking), every: progressEvery, beat: beatEvery}
	s.stop, s.stopNow = context.WithCancel(context.Background())
	s.load.limits = loadLimits{opt.MaxRequests, opt.MaxBodies, opt.Share, opt.MaxListens, opt.MaxListensEach}
	s.guests.limits = guestLimits{opt.MaxSessions, opt.MaxSessionsEach}

	d := s.door(decision.OriginMCPHTTP)
	d.drop, d.gone, d.expect, d.who, d.begin = s.httpContext, s.httpContext, s.httpExpect, s.httpPrincipal, s.httpBegin
	d.mustKnow = opt.Auth != nil
	if opt.Extension.Events != nil {
		d.drop, d.gone = s.resumable, s.resumable
	}
	s.http = d
	modern := s.entrance(d)
	d.arrived = s.arrived
	s.legacy = s.entrance(d)
	common := mcp.StreamableHTTPOptions{
		Logger: d.slog(), MaxRequestBodyBytes: opt.MaxBodyBytes,
		DisableLocalhostProtection: true, // visitors does more, and knows allowed-hosts
	}
	forStateful, forStateless := common, common
	forStateful.EventStore = opt.Extension.Events
	// Server-sent events, not JSON: a question travels on the stream of the
	// call that it is about, and not every client keeps another one open.
	forStateful.SessionTimeout = opt.SessionTimeout
	forStateless.Stateless, forStateless.JSONResponse, forStateless.PropagateRequestCancellation = true, true, true
	forStreaming := forStateless
	forStreaming.JSONResponse = false
	s.stateful = mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s.legacy }, &forStateful)
	s.stateless = mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return modern }, &forStateless)
	s.streaming = mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return modern }, &forStreaming)
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

// entrance makes the library's side of a door, which hears of changes.
func (s *Server) entrance(d *door) *mcp.Server {
	m := d.server(s.opt.Name, s.opt.Version)
	s.entrances.Store(m, nil)
	return m
}

func (s *Server) door(origin decision.Origin) *door {
	return &door{
		caller: s.opt.Caller, origin: origin, who: noPrincipal, log: s.opt.Logger, stop: s.stop, page: int(s.opt.PageBytes),
		begin: func(*mcp.RequestExtra, bool) {}, every: s.every, told: &s.told, ext: s.opt.Extension,
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
	mux.HandleFunc("GET /readyz", s.serveReady)
	mux.HandleFunc("GET /{$}", s.serveRoot)
	if s.opt.Metrics != nil {
		mux.Handle("GET /metrics", s.serveMetrics())
	}
	if p, ok := s.opt.Auth.(auth.Publisher); ok {
		for path, doc := range p.Public() {
			mux.Handle(path, doc)
		}
	}
	if s.opt.Callback != nil {
		mux.Handle("/approvals/callback", s.counted(s.opt.Callback))
	}
	for _, p := range []string{"/sse", "/sse/", "/message", "/messages", "/messages/"} {
		mux.HandleFunc(p, serveOldTransport)
	}
	return Arriving(s.visitors.handler(mux), Times{Body: s.body, Answer: s.opt.ReaderPatience})
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
	if s.opt.Checkpoints != nil {
		answer.Checkpoints = checkpointsHealth(s.opt.Checkpoints(), time.Now())
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
