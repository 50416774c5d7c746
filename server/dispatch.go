package server

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"
)

const (
	headerVersion = "Mcp-Protocol-Version"
	headerSession = "Mcp-Session-Id"
)

// serveMCP reads and checks the message, then chooses the handler of the
// protocol version that the request names.
func (s *Server) serveMCP(w http.ResponseWriter, r *http.Request) {
	r, done := s.track(r)
	defer done()
	modern := r.Header.Get(headerVersion) >= modernVersion
	if r.Method != http.MethodPost {
		// Only sessions have a stream to listen on and an end to ask for.
		s.handler(modern).ServeHTTP(w, r)
		return
	}
	body, ok := s.readBody(w, r)
	if !ok {
		return
	}
	f, bad := parseFrame(body)
	if bad != nil {
		writeRPC(w, http.StatusBadRequest, bad.answer(f))
		return
	}
	modern = modern || f.method == "server/discover" || f.metaVersion() >= modernVersion
	if !modern {
		if bad := f.check(); bad != nil {
			writeRPC(w, http.StatusOK, bad.answer(f))
			return
		}
	}
	if f.isCall() {
		if !s.inFlight.add(&s.draining) {
			w.Header().Set("Retry-After", "1")
			writeRPC(w, http.StatusServiceUnavailable, (&rpcError{codeInternal, "the server is stopping; try again"}).answer(f))
			return
		}
		defer s.inFlight.done()
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	r.ContentLength = int64(len(body))
	s.handler(modern).ServeHTTP(w, r)
}

func (s *Server) handler(modern bool) http.Handler {
	if modern {
		return s.stateless
	}
	return s.stateful
}

// track makes the request findable for the middleware, see requestHeader.
func (s *Server) track(r *http.Request) (*http.Request, func()) {
	id := strconv.FormatUint(s.counter.Add(1), 10)
	r.Header.Set(requestHeader, id)
	s.requests.Store(id, r)
	return r, func() { s.requests.Delete(id) }
}

// readBody reads one message within its size and time; false means that the
// answer has been written.
func (s *Server) readBody(w http.ResponseWriter, r *http.Request) ([]byte, bool) {
	rc := http.NewResponseController(w)
	// Errors: a writer without deadlines, in tests, has no slow clients.
	_ = rc.SetReadDeadline(time.Now().Add(bodyTimeout))
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, s.opt.MaxBodyBytes))
	_ = rc.SetReadDeadline(time.Time{})
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		writeRPC(w, http.StatusRequestEntityTooLarge,
			(&rpcError{codeInvalidRequest, "the message has more than " + strconv.FormatInt(tooLarge.Limit, 10) + " bytes"}).answer(frame{}))
	case err != nil:
		writeRPC(w, http.StatusBadRequest, (&rpcError{codeParse, "the message could not be read"}).answer(frame{}))
	default:
		return body, true
	}
	return nil, false
}

func writeRPC(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body)
}
