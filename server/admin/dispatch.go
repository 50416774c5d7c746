package admin

import (
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/server/auth"
	"github.com/toolwarrant/toolwarrant/service"
)

// route is one operation. Exactly one of read, act and raw is set.
type route struct {
	id           string // operationId of openapi.yaml
	method, path string // as net/http.ServeMux takes them
	role         service.Role

	// read changes nothing.
	read func(*call) (answer, error)
	// act prepares a change: it reads and checks the request, and changes
	// nothing. What it gives is recorded and then done.
	act func(*call) (act, error)
	// raw writes its answer itself: streams and profiles.
	raw func(http.ResponseWriter, *call)
}

// act is a change that is ready to be made.
type act struct {
	// detail goes into the event that is written before do is called. Nil where
	// do leaves a record before its effect itself: the close record of a call,
	// or an event of package service.
	detail map[string]any
	do     func(ctx context.Context) (answer, error)
}

// answer is what a client gets, as JSON.
type answer struct {
	status int // 0 = 200
	body   any // nil = none
	header map[string]string
}

// call is one request with its sender.
type call struct {
	s    *Server
	w    http.ResponseWriter
	r    *http.Request
	who  decision.Principal
	data []byte // the body, of a POST or PUT
	// given are the credentials of the request.
	given auth.Credentials
}

func (c *call) ctx() context.Context { return c.r.Context() }

func (s *Server) muxer() *http.ServeMux {
	mux := http.NewServeMux()
	for i := range s.routes {
		rt := &s.routes[i]
		mux.HandleFunc(rt.method+" "+rt.path, func(w http.ResponseWriter, r *http.Request) { s.dispatch(rt, w, r) })
	}
	return mux
}

// serve authenticates before it looks at anything else of a request.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	who, given := service.LocalAdmin(), auth.CredentialsOf(s.opt.Auth, r)
	if s.opt.Auth != nil {
		var err error
		if who, err = s.opt.Auth.Authenticate(r); err != nil {
			s.unauthenticated(w, r, err)
			return
		}
		if who.Subject == "" || who.Method == "" || who.Method == "none" {
			s.unauthenticated(w, r, errors.New("the authenticator gave nobody"))
			return
		}
	}
	r = r.WithContext(context.WithValue(r.Context(), senderKey{}, sender{who, given}))
	if _, pattern := s.mux.Handler(r); pattern == "" {
		s.nowhere(w, r)
		return
	}
	s.mux.ServeHTTP(w, r)
}

type senderKey struct{}

// sender is who sends a request, and whether that still holds.
type sender struct {
	who   decision.Principal
	given auth.Credentials
}

// unauthenticated answers a request whose sender nobody knows.
func (s *Server) unauthenticated(w http.ResponseWriter, r *http.Request, err error) {
	if s.opt.Refused != nil {
		s.opt.Refused(r, err)
	}
	var refusal *auth.Refusal
	if !errors.As(err, &refusal) {
		s.opt.Logger.Error().Err(err).Msg("nobody could be authenticated at the admin interface")
		s.fail(w, fault.New(fault.Unauthenticated, "unavailable", "nobody can be authenticated now; the log of the server says why"), http.StatusServiceUnavailable)
		return
	}
	if refusal.Challenge != "" {
		w.Header().Set("WWW-Authenticate", refusal.Challenge)
	}
	status := refusal.Status
	if status != http.StatusForbidden {
		status = http.StatusUnauthorized
	}
	// Why credentials do not hold is for the record: it helps whoever tries some.
	s.fail(w, fault.New(fault.Unauthenticated, "refused", "%s", http.StatusText(status)), status)
}

// nowhere answers a path, or a method of a path, that there is not.
func (s *Server) nowhere(w http.ResponseWriter, r *http.Request) {
	var allowed []string
	for _, m := range []string{http.MethodDelete, http.MethodGet, http.MethodPost, http.MethodPut} {
		probe := r.Clone(r.Context())
		probe.Method = m
		if _, pattern := s.mux.Handler(probe); pattern != "" {
			allowed = append(allowed, m)
		}
	}
	if allowed == nil {
		s.fail(w, fault.New(fault.NotFound, "no-such-path", "there is nothing at this path; /api/v1/openapi.yaml describes the interface"), 0)
		return
	}
	w.Header().Set("Allow", strings.Join(allowed, ", "))
	s.fail(w, fault.New(fault.Usage, "method-not-allowed", "this path takes %s", strings.Join(allowed, ", ")), http.StatusMethodNotAllowed)
}

func (s *Server) dispatch(rt *route, w http.ResponseWriter, r *http.Request) {
	from, ok := r.Context().Value(senderKey{}).(sender)
	if !ok { // a defect: nothing is done for nobody
		s.fail(w, fault.New(fault.Internal, "no-principal", "the request has no sender"), 0)
		return
	}
	c := &call{s: s, w: w, r: r, who: from.who, given: from.given}
	defer func() {
		if p := recover(); p != nil {
			s.opt.Logger.Error().Str("operation", rt.id).Str("panic", panicText(p)).Bytes("stack", debug.Stack()).Msg("panic in the admin interface")
			s.fail(w, fault.New(fault.Internal, "panic", "an unexpected failure inside toolwarrant; see the log"), 0)
		}
	}()
	if err := s.opt.Service.Needs(c.who, rt.role); err != nil {
		s.refused(c, rt)
		if rt.id == runID {
			name, _ := c.toolName() // "" where the path names none
			err = c.refusedRun(name, err)
		}
		s.fail(w, err, 0)
		return
	}
	if rt.raw != nil {
		rt.raw(w, c)
		return
	}
	a, err := s.admitted(rt, c)
	if err != nil {
		s.fail(w, err, 0)
		return
	}
	s.answer(w, a)
}

// admitted reads the body before it takes a place to work in, which a sender
// that sends slowly would hold.
func (s *Server) admitted(rt *route, c *call) (answer, error) {
	refused := func(err error) (answer, error) {
		if rt.id == runID {
			name, _ := c.toolName()
			err = c.refusedRun(name, err)
		}
		return answer{}, err
	}
	if rt.method == http.MethodPost || rt.method == http.MethodPut {
		if err := jsonOnly(c.r); err != nil {
			return refused(err)
		}
		leave, err := s.reading.enter(c.who)
		if err != nil {
			return refused(err)
		}
		defer leave() // when the body is no more needed
		if c.data, err = c.arrive(); err != nil {
			return refused(err)
		}
	}
	leave, err := s.working.enter(c.who)
	if err != nil {
		return refused(err)
	}
	defer leave()
	return s.handle(rt, c)
}

// handle reads, or records and does.
func (s *Server) handle(rt *route, c *call) (answer, error) {
	if rt.read != nil {
		return rt.read(c)
	}
	a, err := rt.act(c)
	if err != nil {
		return answer{}, err
	}
	if a.detail != nil {
		a.detail["operation"] = rt.id
		if err := s.opt.Service.Recorded(c.ctx(), "admin", c.who, a.detail); err != nil {
			return answer{}, err
		}
	}
	return a.do(c.ctx())
}

// panicText is what the log may show of a panic: the message of the Go run time,
// else the kind of the value alone, which could hold what somebody sent.
func panicText(p any) string {
	if err, ok := p.(runtime.Error); ok {
		return err.Error()
	}
	return fmt.Sprintf("%T", p)
}

// jsonOnly refuses what a page of somebody else could make a browser send
// without asking first: the three content types of forms.
func jsonOnly(r *http.Request) error {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" {
		return fault.New(fault.Usage, "content-type", "send the header Content-Type: application/json, also with an empty body")
	}
	return nil
}

// maxRefusals is how many refusals for want of a role are recorded in a
// second; what is beyond is counted in the next one.
const maxRefusals = 10

type refusals struct {
	limit *rate.Limiter
	mu    sync.Mutex
	left  int
}

// refused puts on record that somebody asked for what its role does not give.
func (s *Server) refused(c *call, rt *route) {
	s.refusals.mu.Lock()
	if !s.refusals.limit.Allow() {
		s.refusals.left++
		s.refusals.mu.Unlock()
		return
	}
	left := s.refusals.left
	s.refusals.left = 0
	s.refusals.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.ctx()), 2*time.Second)
	defer cancel()
	err := s.opt.Service.Recorded(ctx, "admin.refuse", c.who, map[string]any{"operation": rt.id, "needs": string(rt.role), "unrecorded": left})
	if err != nil {
		s.opt.Logger.Error().Err(err).Msg("a refusal of the admin interface could not be recorded")
	}
}

// manages reports whether the sender is an admin.
func (c *call) manages() bool {
	return slices.Contains(c.s.opt.Service.Roles(c.who), service.RoleAdmin)
}
