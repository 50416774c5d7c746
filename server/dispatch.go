package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/server/auth"
)

const (
	headerVersion = "Mcp-Protocol-Version"
	headerSession = "Mcp-Session-Id"
	headerMethod  = "Mcp-Method"
	headerName    = "Mcp-Name"
)

// serveMCP reads and checks the message, then chooses the handler of the
// protocol version that the request names.
func (s *Server) serveMCP(w http.ResponseWriter, r *http.Request) {
	same := auth.Again(s.opt.Auth, r)
	who, ok := s.authenticate(w, r)
	if !ok {
		return
	}
	modern := r.Header.Get(headerVersion) >= modernVersion
	if r.Method != http.MethodPost {
		// Only sessions have a stream to listen on and an end to ask for.
		r, end := s.held(r, who, same)
		defer end()
		s.serve(modern, w, r, who, frame{})
		return
	}
	body, status, bad := s.readBody(w, r)
	if bad != nil {
		s.refusedMessage(r, who, nil, frame{}, bad)
		writeRPC(w, status, bad.answer(frame{}))
		return
	}
	f, bad := parseFrame(body)
	if bad != nil {
		s.refusedMessage(r, who, body, f, bad)
		writeRPC(w, http.StatusBadRequest, bad.answer(f))
		return
	}
	modern = modern || f.method == "server/discover" || f.meta.version >= modernVersion
	if bad := badVersion(f, r.Header.Get(headerVersion)); bad != nil {
		s.refusedCall(r, who, f, bad)
		writeRPC(w, http.StatusBadRequest, bad.answer(f))
		return
	}
	if !modern {
		if bad := f.check(); bad != nil {
			s.refusedCall(r, who, f, bad)
			writeRPC(w, http.StatusOK, bad.answer(f))
			return
		}
	}
	if f.isCall() && f.method != methodListen { // who listens has no answer to lose
		if !s.inFlight.add(&s.draining) {
			bad := &rpcError{code: codeInternal, message: "the server is stopping; try again"}
			s.refusedCall(r, who, f, bad)
			w.Header().Set("Retry-After", "1")
			writeRPC(w, http.StatusServiceUnavailable, bad.answer(f))
			return
		}
		defer s.inFlight.done()
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	r.ContentLength = int64(len(body))
	if f.method == methodListen {
		var end func()
		r, end = s.held(r, who, same)
		defer end()
	}
	s.serve(modern, w, r, who, f)
}

// serve hands a request to the handler of its era. While it is served the
// middleware can find it, see requestHeader. f is its message, empty where it
// has none.
func (s *Server) serve(modern bool, w http.ResponseWriter, r *http.Request, who *decision.Principal, f frame) {
	if !modern {
		var ok bool
		if w, ok = s.bound(w, r, who); !ok {
			return
		}
	}
	out := &outlet{ResponseWriter: w}
	reached := &atomic.Bool{}
	id := strconv.FormatUint(s.counter.Add(1), 10)
	r.Header.Set(requestHeader, id)
	s.requests.Store(id, served{r, who, out, reached})
	defer s.requests.Delete(id)
	stream := f.isCall() || r.Method == http.MethodGet
	handler := func(w http.ResponseWriter, r *http.Request) { s.serveStateful(w, r, who) }
	if modern {
		handler = s.stateless.ServeHTTP
		if stream = f.method == methodListen || f.meta.stream; stream {
			handler = s.streaming.ServeHTTP
		}
	}
	if stream {
		defer out.beating(s.beat)()
	}
	handler(out, r)
	if f.method == methodCall && f.isCall() && !reached.Load() {
		s.refusedCall(r, who, f, &rpcError{code: codeInvalidRequest, message: fmt.Sprintf("the request was refused with HTTP status %d", out.answered())})
	}
}

// refusedMessage puts a message on record that could not be read, where it was
// a call by its headers or by what of it can be made out.
func (s *Server) refusedMessage(r *http.Request, who *decision.Principal, body []byte, f frame, bad *rpcError) {
	f = made(f, body)
	if r.Header.Get(headerMethod) == methodCall {
		f.method = methodCall
	}
	if f.toolName() == "" {
		if name, err := json.Marshal(map[string]string{"name": r.Header.Get(headerName)}); err == nil {
			f.params = name
		}
	}
	s.refusedCall(r, who, f, bad)
}

// made is f with what body can be made out to say where f does not say it.
func made(f frame, body []byte) frame {
	if f.method == methodCall && f.toolName() != "" {
		return f
	}
	m := meant(body)
	if m.method == methodCall {
		f.method = methodCall
	}
	if f.params == nil {
		f.params = m.params
	}
	return f
}

// refusedCall puts a call on record that the protocol refused.
func (s *Server) refusedCall(r *http.Request, who *decision.Principal, f frame, bad *rpcError) {
	if f.method != methodCall {
		return
	}
	c := CallRequest{Principal: localPrincipal(nil), Origin: decision.OriginMCPHTTP, TraceID: traceID(r.Header.Get("Traceparent"))}
	if who != nil {
		c.Principal = *who
	}
	refuse(r.Context(), s.opt.Caller, c, f, bad)
}

// refuse is the same for any entrance.
func refuse(ctx context.Context, caller Caller, c CallRequest, f frame, bad *rpcError) {
	if by, ok := caller.(Refuser); ok {
		c.Tool = f.toolName()
		by.Refuse(ctx, c, fault.New(fault.InvalidArguments, "protocol", "the message breaks the protocol (%d): %s", bad.code, bad.message))
	}
}

// readBody reads one message within its size and time, or says with which HTTP
// status it is refused, and why.
func (s *Server) readBody(w http.ResponseWriter, r *http.Request) ([]byte, int, *rpcError) {
	rc := http.NewResponseController(w)
	// Errors: a writer without deadlines, in tests, has no slow clients.
	_ = rc.SetReadDeadline(time.Now().Add(bodyTimeout))
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, s.opt.MaxBodyBytes))
	_ = rc.SetReadDeadline(time.Time{})
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, http.StatusRequestEntityTooLarge,
			&rpcError{code: codeInvalidRequest, message: "the message has more than " + strconv.FormatInt(tooLarge.Limit, 10) + " bytes"}
	case err != nil:
		return nil, http.StatusBadRequest, &rpcError{code: codeParse, message: "the message could not be read"}
	}
	return body, http.StatusOK, nil
}

func writeRPC(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body)
}
