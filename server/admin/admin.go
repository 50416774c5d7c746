// Package admin is the interface for those who administer an installation: a
// JSON API on a listener of its own, with its own authentication and roles. It
// is what a web interface stands on.
//
// It turns requests into calls of package service and answers into JSON, and
// holds no rule of its own. Who somebody is comes from auth.Authenticator;
// which role that has comes from the configuration (service.Roles); whether an
// act is refused is asked of the code that does it (service.MayTool,
// service.MayAnswer). A tool runs through executor.Call, as over MCP.
//
// Every change is on record before it takes effect: a route is either a read
// or an act, and the dispatcher records an act between its preparation and its
// doing. openapi.yaml describes the routes; a test compares both.
//
// Threat model: a web page of somebody else in the browser of an administrator
// (Host and Origin are checked, changes need the content type JSON), a client
// with credentials and without the role, bodies of any form and size, clients
// that read slowly or leave. Who holds the role admin is trusted.
package admin

import (
	"context"
	"encoding/json"
	"errors"
	"log"
	"net"
	"net/http"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/time/rate"

	"github.com/toolwarrant/toolwarrant/approval"
	"github.com/toolwarrant/toolwarrant/catalog"
	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/server"
	"github.com/toolwarrant/toolwarrant/server/auth"
	"github.com/toolwarrant/toolwarrant/service"
)

// Options configure a Server. Zero values mean what is said here.
type Options struct {
	Service *service.Service // required
	// Auth says who sends a request; nil = every caller is the local one, which
	// only a loopback address may be served with.
	Auth auth.Authenticator
	// AllowedHosts and AllowedOrigins are as those of server.Options.
	AllowedHosts, AllowedOrigins []string
	MaxBodyBytes                 int64  // 4 MiB
	Version                      string // of the program; "dev"
	// Keys keeps API keys; nil = the routes about keys answer that there are none.
	Keys KeyStore
	// Modify accepts a question with other arguments; nil = the route answers
	// that this is not offered.
	Modify func(ctx context.Context, p decision.Principal, id string, args json.RawMessage) (approval.Pending, error)
	// Choose changes what is served for the installation; nil = the route answers
	// that this is not offered.
	Choose func(ctx context.Context, p decision.Principal, c Choice) error
	// SetApproval changes when a human is asked about a tool, and gives what
	// changes; less needs confirmed and a reason. nil = the route answers that
	// this is not offered.
	SetApproval func(ctx context.Context, p decision.Principal, t *catalog.Tool, mode, reason string, confirmed bool) (any, error)
	// Reload reads anew what can be read anew; nil = Service.Reload.
	Reload func(context.Context) error
	// Refused gets each request whose sender is not authenticated; nil = it is
	// only logged.
	Refused func(r *http.Request, err error)
	// Logger gets what goes wrong inside. Never arguments or results.
	Logger zerolog.Logger
}

// KeyStore keeps API keys. Implementations are safe for concurrent use, and
// put each change on record, on behalf of the principal, before it counts.
type KeyStore interface {
	// List gives all keys, oldest first.
	List(ctx context.Context) ([]Key, error)
	// Create makes a key; the token is given this once.
	Create(ctx context.Context, p decision.Principal, w NewKey) (k Key, token string, err error)
	// Revoke ends a key; NOT_FOUND for an unknown one.
	Revoke(ctx context.Context, p decision.Principal, id string) (Key, error)
	// Rotate adds a master key to the keyring and gives its id.
	Rotate(ctx context.Context, p decision.Principal) (id string, err error)
}

// Choice is one choice about what is served. Exactly one member is set.
type Choice struct {
	Preset     *string  `json:"preset"` // "" takes the choice back
	AutoExpose *bool    `json:"autoExpose"`
	Expose     []string `json:"expose"` // names or toolIds
	Hide       []string `json:"hide"`
}

// Key is an API key without its secret.
type Key struct {
	ID        string     `json:"id"`
	Name      string     `json:"name"`
	Subject   string     `json:"subject"`
	Groups    []string   `json:"groups"`
	Scopes    []string   `json:"scopes"`
	State     string     `json:"state"` // active, expired, revoked
	CreatedAt time.Time  `json:"createdAt"`
	ExpiresAt *time.Time `json:"expiresAt"`
	RevokedAt *time.Time `json:"revokedAt"`
}

// NewKey says what a key is to stand for.
type NewKey struct {
	Name          string   `json:"name"`    // required
	Subject       string   `json:"subject"` // "" = the name
	Groups        []string `json:"groups"`
	Scopes        []string `json:"scopes"`
	ExpirySeconds int64    `json:"expirySeconds"` // from now; 0 = never
}

const (
	defaultBody = 4 << 20
	// writeTime is how long a client may leave one part of an answer unread.
	writeTime = 30 * time.Second
	// settleTime is how long requests may take to end when the server stops.
	settleTime = 5 * time.Second
)

// Server is the admin interface. Close must be called. Safe for concurrent use.
type Server struct {
	opt      Options
	jobs     *service.Jobs
	bus      *bus
	watch    *watcher
	routes   []route
	mux      *http.ServeMux
	reading  *rooms
	working  *rooms
	streams  *rooms
	refusals refusals
	body     time.Duration // for a body to arrive; 0 = as server.Times

	ctx  context.Context // until Close
	stop context.CancelFunc
	done chan struct{} // the watcher has ended

	alive time.Duration // between two looks after a stream
}

// New makes a server. It panics without a Service, a defect of the program.
func New(opt Options) *Server {
	if opt.Service == nil {
		panic("admin: Options.Service is nil")
	}
	if opt.MaxBodyBytes <= 0 {
		opt.MaxBodyBytes = defaultBody
	}
	if opt.Version == "" {
		opt.Version = "dev"
	}
	if opt.Reload == nil {
		opt.Reload = opt.Service.Reload
	}
	s := &Server{opt: opt, bus: newBus(), done: make(chan struct{}), alive: aliveEvery}
	alone := opt.Auth == nil
	s.reading, s.working, s.streams = newRooms("bodies under way", readAtOnce, alone), newRooms("requests under way", workAtOnce, alone), newRooms("streams open", maxStreams, alone)
	s.refusals.limit = rate.NewLimiter(maxRefusals, maxRefusals)
	s.ctx, s.stop = context.WithCancel(context.Background())
	s.jobs = service.NewJobs(func(j service.Job) { s.bus.publish(topicJobs, jobEvent(j)) })
	s.watch = &watcher{s: opt.Service, bus: s.bus, log: opt.Logger}
	s.routes = s.table()
	s.mux = s.muxer()
	go func() {
		defer close(s.done)
		s.watch.run(s.ctx)
	}()
	return s
}

// Close ends the streams and the jobs, and waits for them.
func (s *Server) Close() {
	s.stop()
	s.bus.close()
	s.jobs.Close()
	<-s.done
}

// Handler serves every path of the interface.
func (s *Server) Handler() http.Handler {
	return server.Arriving(server.Guard(http.HandlerFunc(s.serve), s.opt.AllowedHosts, s.opt.AllowedOrigins), server.Times{Body: s.body, Answer: writeTime})
}

// Serve answers on ln until ctx ends, and closes both ln and s. Requests that
// run then get a few seconds to end.
func (s *Server) Serve(ctx context.Context, ln net.Listener) error {
	hs := &http.Server{
		Handler: s.Handler(), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
		ErrorLog: log.New(s.opt.Logger, "", 0), DisableGeneralOptionsHandler: true, // as the MCP endpoint
	}
	requests, interrupt := context.WithCancel(context.WithoutCancel(ctx))
	defer interrupt()
	hs.BaseContext = func(net.Listener) context.Context { return requests }
	failed := make(chan error, 1)
	go func() { failed <- hs.Serve(ln) }()
	select {
	case err := <-failed:
		s.Close()
		return err
	case <-ctx.Done():
	}
	s.Close()
	if !settled(hs) {
		interrupt() // calls that still run end with their records
		if !settled(hs) {
			_ = hs.Close()
		}
	}
	if err := <-failed; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// settled waits for the requests that run, and reports whether they ended.
func settled(hs *http.Server) bool {
	end, cancel := context.WithTimeout(context.Background(), settleTime)
	defer cancel()
	return hs.Shutdown(end) == nil
}
