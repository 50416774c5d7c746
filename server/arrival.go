package server

import (
	"errors"
	"io"
	"net/http"
	"time"
)

const (
	// bodyTime is how long a client may take to send the body of a request.
	bodyTime = 30 * time.Second
	// restTime is how long the rest of a body is waited for that nobody wants:
	// who is just sending it is to get its answer and no reset.
	restTime = 500 * time.Millisecond
)

// Times bound one request. Zero values mean what is said here.
type Times struct {
	Body   time.Duration // for a body to arrive; 30 s
	Answer time.Duration // for each 64 KiB of the answer to leave; for ever
}

// Arriving bounds how long requests to any path of next take to arrive, and
// their answers to leave. It is outermost: who answers without reading the
// body, a refusal for instance, would have net/http wait for it without end.
// The connection of a body that was not read to its end is closed.
func Arriving(next http.Handler, t Times) http.Handler {
	setDefault(&t.Body, bodyTime)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a := &arrival{patient: patient{w, t.Answer}, whole: r.Body == nil || r.Body == http.NoBody, closes: r.ProtoMajor == 1}
		if !a.whole {
			a.body, r.Body = r.Body, a
			// Errors here and below: a writer without deadlines, in tests, has no
			// slow clients.
			_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(t.Body))
			defer a.end()
		}
		next.ServeHTTP(a, r)
	})
}

// arrival is a request on its way in, and the way out of its answer.
type arrival struct {
	patient
	body   io.ReadCloser
	whole  bool // the body has come to its end
	begun  bool // the headers of the answer are written
	closes bool // a connection has one request at a time, and ends with a bad one
}

// Read implements io.Reader.
func (a *arrival) Read(p []byte) (int, error) {
	n, err := a.body.Read(p)
	if errors.Is(err, io.EOF) && !a.whole {
		a.whole = true
		// A stream is watched from here on for the client to leave, which a
		// deadline would look like.
		_ = http.NewResponseController(a.ResponseWriter).SetReadDeadline(time.Time{})
	}
	return n, err
}

// Close implements io.Closer.
func (a *arrival) Close() error { return a.body.Close() }

// end is for what nobody has read.
func (a *arrival) end() {
	if a.whole {
		return
	}
	a.begin()
	_ = http.NewResponseController(a.ResponseWriter).SetReadDeadline(time.Now().Add(restTime))
}

// begin says that the connection ends, where it has to: with that header
// net/http writes the answer first and does not wait for the body.
func (a *arrival) begin() {
	if a.begun {
		return
	}
	a.begun = true
	if !a.whole && a.closes {
		a.Header().Set("Connection", "close")
	}
}

// WriteHeader implements http.ResponseWriter.
func (a *arrival) WriteHeader(status int) {
	if status >= http.StatusOK {
		a.begin()
	}
	a.patient.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (a *arrival) Write(b []byte) (int, error) {
	a.begin()
	return a.patient.Write(b)
}

// FlushError is what http.ResponseController calls.
func (a *arrival) FlushError() error {
	a.begin()
	return a.patient.FlushError()
}

// chunk is how many bytes of an answer a client has to take within its
// patience. A deadline for an answer as a whole would cut off calls that wait
// for a human, and large answers over slow lines; one for each chunk asks for
// progress alone.
const chunk = 64 << 10

// patient is a writer that gives up on clients that do not read.
type patient struct {
	http.ResponseWriter
	patience time.Duration
}

// Write implements http.ResponseWriter.
func (p *patient) Write(b []byte) (n int, err error) {
	for first := true; first || len(b) > 0; first = false {
		part := b[:min(len(b), chunk)]
		b = b[len(part):]
		p.wait()
		m, err := p.ResponseWriter.Write(part)
		if n += m; err != nil {
			return n, err
		}
	}
	return n, nil
}

// FlushError is what http.ResponseController calls.
func (p *patient) FlushError() error {
	p.wait()
	return http.NewResponseController(p.ResponseWriter).Flush()
}

// wait begins the time for what is written next, and for the rest that the
// server writes when the handler is done.
func (p *patient) wait() {
	if p.patience > 0 {
		_ = http.NewResponseController(p.ResponseWriter).SetWriteDeadline(time.Now().Add(p.patience))
	}
}

// Unwrap lets http.ResponseController reach the connection.
func (p *patient) Unwrap() http.ResponseWriter { return p.ResponseWriter }
