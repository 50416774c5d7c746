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

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/executor"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/server/auth"
)

const (
	headerVersion = "Mcp-Protocol-Version"
	headerSession = "Mcp-Session-Id"
	headerMethod  = "Mcp-Method"
	headerName    = "Mcp-Name"
)

// serveMCP finds out who sends a message and takes a place for it, reads and
// checks it, then chooses the handler of the protocol version that it names.
func (s *Server) serveMCP(w http.ResponseWriter, r *http.Request) {
	if s.leaving.Load() {
		w.Header().Set("Connection", "close") // the client goes on elsewhere
	}
	given := auth.CredentialsOf(s.opt.Auth, r)
	who, ok := s.authenticate(w, r)
	if !ok {
		return
	}
	modern := r.Header.Get(headerVersion) >= modernVersion
	if r.Method != http.MethodPost {
		if r.Method == http.MethodGet && r.ContentLength != 0 {
			// As long as a body is under way, net/http does not see that the client
			// of a stream has left.
			http.Error(w, "a stream is asked for without a body; messages are sent with POST", http.StatusBadRequest)
			return
		}
		// Only sessions have a stream to listen on and an end to ask for.
		r, end := s.held(r, who, given)
		defer end()
		s.serve(modern, w, r, who, frame{})
		return
	}
	p, busy := s.load.take(senderOf(who))
	if busy != "" {
		writeBusy(w, frame{}, busy)
		return
	}
	defer s.load.leave(&p)
	body, ok := s.readBody(w, r, who, &p)
	if !ok {
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
	if f.isCall() && f.method == methodListen {
		if busy := s.load.listen(&p); busy != "" {
			writeBusy(w, f, busy)
			return
		}
	} else if f.isCall() { // who listens has no answer to lose
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
		r, end = s.held(r, who, given)
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
	handler := func(w http.ResponseWriter, r *http.Request) { s.serveStateful(w, r, who, f) }
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
	c := executor.Call{Principal: localPrincipal(nil), Origin: decision.OriginMCPHTTP, TraceID: traceID(r.Header.Get("Traceparent"))}
	if who != nil {
		c.Principal = *who
	}
	refuse(r.Context(), s.opt.Caller, c, f, bad)
}

// refuse is the same for any entrance.
func refuse(ctx context.Context, caller Caller, c executor.Call, f frame, bad *rpcError) {
	c.Name = f.toolName()
	caller.Refuse(ctx, c, fault.New(fault.InvalidArguments, "protocol", "the message breaks the protocol (%d): %s", bad.code, bad.message))
}

// firstPart is how much room a body gets at first. It gets more as it arrives:
// what is announced takes no room away from others.
const firstPart = 4 << 10

// readBody reads one message within its size and the room that there is; false
// means that it was refused and answered. Its time is that of arrival.
func (s *Server) readBody(w http.ResponseWriter, r *http.Request, who *decision.Principal, p *place) ([]byte, bool) {
	refuse := func(status int, bad *rpcError) ([]byte, bool) {
		s.refusedMessage(r, who, nil, frame{}, bad)
		writeRPC(w, status, bad.answer(frame{}))
		return nil, false
	}
	most := s.opt.MaxBodyBytes
	tooLarge := func() ([]byte, bool) {
		// Who is cut off while it sends does not get to read the answer: it may
		// send on, into nothing, in the time for a body.
		_, _ = io.Copy(io.Discard, r.Body)
		return refuse(http.StatusRequestEntityTooLarge, &rpcError{code: codeInvalidRequest, message: "the message has more than " + strconv.FormatInt(most, 10) + " bytes"})
	}
	if r.ContentLength > most {
		return tooLarge()
	}
	if r.ContentLength >= 0 {
		most = r.ContentLength
	}
	var body []byte
	for room := min(firstPart, most+1); ; room = min(2*room, most+1) { // one more byte shows the end, or that it is too large
		if busy := s.load.grow(p, room-int64(cap(body))); busy != "" {
			writeBusy(w, frame{}, busy)
			return nil, false
		}
		more := make([]byte, len(body), room)
		copy(more, body)
		body = more
		for len(body) < cap(body) {
			n, err := r.Body.Read(body[len(body):cap(body)])
			body = body[:len(body)+n]
			switch {
			case int64(len(body)) > most:
				return tooLarge()
			case errors.Is(err, io.EOF):
				return body, true
			case err != nil:
				return refuse(http.StatusBadRequest, &rpcError{code: codeParse, message: "the message could not be read"})
			}
		}
	}
}

func writeRPC(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body)
}
