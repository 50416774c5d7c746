package server

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/netip"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/executor"
	"github.com/toolwarrant/toolwarrant/server/auth"
)

const (
	// maxPeek bounds the body of an unknown caller that is looked at for the
	// name of a tool, in bytes, peekTime how long that may take, and maxPeeking
	// how many are looked at at one time: of further ones the record has no tool.
	maxPeek    = 16 << 10
	peekTime   = 2 * time.Second
	maxPeeking = 64
	// sayEvery is how often the log says that callers cannot be authenticated.
	sayEvery = 10 * time.Second
)

// authenticate says who sent a request; nil where nobody is asked. false means
// that the request was refused, recorded and answered.
func (s *Server) authenticate(w http.ResponseWriter, r *http.Request) (*decision.Principal, bool) {
	if s.opt.Auth == nil {
		return nil, true
	}
	p, err := s.opt.Auth.Authenticate(r)
	if err == nil && (p.Subject == "" || p.Method == "") {
		err = errors.New("the authenticator named nobody") // a defect of it
	}
	if err == nil {
		return &p, true
	}
	req := Unauthenticated(r, decision.OriginMCPHTTP, err)
	req.Tool = s.peekTool(w, r)
	if refusal, ok := errors.AsType[*auth.Refusal](err); ok {
		err = refusal
	} else {
		s.unavailable(err)
	}
	if failed := s.refused(r, req); failed != nil {
		err = failed
	}
	auth.Write(w, err)
	return nil, false
}

// Unauthenticated is what goes on record of a request whose sender an
// authenticator did not accept; err is its error.
func Unauthenticated(r *http.Request, origin decision.Origin, err error) executor.Refusal {
	req := refusal(r, origin)
	req.Reason = auth.ReasonUnavailable
	if refusal, ok := errors.AsType[*auth.Refusal](err); ok {
		req.Reason, req.Method = refusal.Reason, refusal.Method
	} else if unavailable, ok := errors.AsType[*auth.Unavailable](err); ok {
		req.Method = unavailable.Method
	}
	return req
}

// refusal is what a request tells of itself before anybody knows whose it is.
func refusal(r *http.Request, origin decision.Origin) executor.Refusal {
	req := executor.Refusal{Origin: origin, TraceID: traceID(r.Header.Get("Traceparent"))}
	if a, err := netip.ParseAddrPort(r.RemoteAddr); err == nil {
		req.Source = a.Addr()
	}
	return req
}

// unavailable logs why nobody can be authenticated, now and then: as many
// requests may come as somebody likes to send.
func (s *Server) unavailable(err error) {
	now := time.Now().UnixNano()
	if last := s.saidNobody.Load(); now-last >= int64(sayEvery) && s.saidNobody.CompareAndSwap(last, now) {
		s.opt.Logger.Error().Err(err).Msg("callers cannot be authenticated")
	}
}

// refused puts a request on record. A client that leaves must not be able to
// lose its record.
func (s *Server) refused(r *http.Request, req executor.Refusal) error {
	err := s.opt.Caller.Refused(context.WithoutCancel(r.Context()), req)
	if err != nil {
		s.opt.Logger.Error().Err(err).Msg("a refused authentication could not be recorded")
	}
	return err
}

// peekTool gives the tool that a request of an unknown caller names, where it
// is a short tools/call.
func (s *Server) peekTool(w http.ResponseWriter, r *http.Request) string {
	if r.Method != http.MethodPost || r.ContentLength <= 0 || r.ContentLength > maxPeek {
		return ""
	}
	select {
	case s.peeking <- struct{}{}:
		defer func() { <-s.peeking }()
	default:
		return ""
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(peekTime)) // a writer without deadlines, in tests, has no slow clients
	body, err := io.ReadAll(io.LimitReader(r.Body, maxPeek+1))                  // to its end, which one byte less would not see
	if err != nil {
		return ""
	}
	f, bad := parseFrame(body)
	if bad != nil || f.method != methodCall {
		return ""
	}
	var params struct {
		Name string `json:"name"`
	}
	_ = json.Unmarshal(f.params, &params) // what is no object names no tool
	return params.Name
}

// identified ends a request whose caller would have to be known and is not:
// one whose HTTP request was gone before it was looked at.
func (d *door) identified(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if d.mustKnow && (method == methodCall || method == methodList) {
			if _, ok := d.who(req.GetExtra()); !ok {
				return nil, internalRPC()
			}
		}
		return next(ctx, method, req)
	}
}
