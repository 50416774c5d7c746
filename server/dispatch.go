package server

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/server/auth"
)

const (
	headerVersion = "Mcp-Protocol-Version"
	headerSession = "Mcp-Session-Id"
)

// serveMCP reads and checks the message, then chooses the handler of the
// protocol version that the request names.
func (s *Server) serveMCP(w http.ResponseWriter, r *http.Request) {
	var who *decision.Principal
	if s.opt.Auth != nil {
		p, err := s.opt.Auth.Authenticate(r)
		if err != nil {
			auth.Write(w, err)
			return
		}
		who = &p
	}
	modern := r.Header.Get(headerVersion) >= modernVersion
	if r.Method != http.MethodPost {
		// Only sessions have a stream to listen on and an end to ask for.
		s.serve(modern, w, r, who, nil)
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
	if f.method != methodList {
		s.serve(modern, w, r, who, nil)
		return
	}
	out := &outlet{ResponseWriter: w}
	s.serve(modern, out, r, who, out)
}

// serve hands a request to the handler of its era. While it is served the
// middleware can find it, see requestHeader; out is where its answer leaves.
func (s *Server) serve(modern bool, w http.ResponseWriter, r *http.Request, who *decision.Principal, out *outlet) {
	id := strconv.FormatUint(s.counter.Add(1), 10)
	r.Header.Set(requestHeader, id)
	s.requests.Store(id, served{r, who, out})
	defer s.requests.Delete(id)
	if modern {
		s.stateless.ServeHTTP(w, r)
		return
	}
	s.serveStateful(w, r, who)
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
