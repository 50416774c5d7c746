package server

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/toolwarrant/toolwarrant/decision"
)

// A session belongs to who began it. The library names it by a random text;
// what a client gets to see is that text with a seal over it and over the
// principal, under a key of this process. So a session of somebody else has
// no name that a caller could use, and nothing has to be kept or forgotten.

// binder seals the ids of sessions. It is safe for concurrent use.
type binder struct {
	id  string // names the key: sessions of an earlier process are known as such
	key [32]byte
}

func newBinder() binder {
	var b binder
	_, _ = rand.Read(b.key[:]) // never fails
	var id [4]byte
	_, _ = rand.Read(id[:])
	b.id = hex.EncodeToString(id[:])
	return b
}

// seal is the id of a session as its owner knows it.
func (b *binder) seal(session string, p decision.Principal) string {
	return session + "." + b.id + "." + b.mac(session, p)
}

// open gives the id that the library knows. ours is false for an id that this
// process has not given out; ok is whether it was given to this principal.
func (b *binder) open(sealed string, p decision.Principal) (session string, ours, ok bool) {
	session, rest, found := strings.Cut(sealed, ".")
	id, mac, _ := strings.Cut(rest, ".")
	if !found || id != b.id {
		return "", false, false
	}
	return session, true, hmac.Equal([]byte(mac), []byte(b.mac(session, p)))
}

// mac covers who the principal is. Its groups and scopes may change from one
// token to the next.
func (b *binder) mac(session string, p decision.Principal) string {
	text, _ := json.Marshal([]string{session, p.Method, p.Subject, p.ClientID}) // texts alone: it cannot fail
	m := hmac.New(sha256.New, b.key[:])
	m.Write(text)
	return hex.EncodeToString(m.Sum(nil)[:16])
}

// bound prepares a request of a session for the library. false means that it
// was refused and answered: to its caller there is no such session.
func (s *Server) bound(w http.ResponseWriter, r *http.Request, who *decision.Principal) (http.ResponseWriter, bool) {
	if who == nil {
		return w, true
	}
	if sealed := r.Header.Get(headerSession); sealed != "" {
		session, ours, ok := s.binder.open(sealed, *who)
		if !ok {
			if ours {
				req := refusal(r, decision.OriginMCPHTTP)
				req.Method, req.Reason, req.Principal = who.Method, "session", who
				_ = s.refused(r, req) // which logs it
			}
			http.Error(w, "session not found", http.StatusNotFound)
			return w, false
		}
		r.Header.Set(headerSession, session)
	}
	return &sealing{ResponseWriter: w, seal: func(session string) string { return s.binder.seal(session, *who) }}, true
}

// sealing seals the id of a session where it leaves.
type sealing struct {
	http.ResponseWriter
	seal func(string) string
	done bool
}

func (w *sealing) once() {
	if w.done {
		return
	}
	w.done = true
	if session := w.Header().Get(headerSession); session != "" {
		w.Header().Set(headerSession, w.seal(session))
	}
}

// WriteHeader implements http.ResponseWriter.
func (w *sealing) WriteHeader(status int) {
	w.once()
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *sealing) Write(p []byte) (int, error) {
	w.once()
	return w.ResponseWriter.Write(p)
}

// FlushError is what http.ResponseController flushes with.
func (w *sealing) FlushError() error {
	w.once()
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// Unwrap lets http.ResponseController reach the rest.
func (w *sealing) Unwrap() http.ResponseWriter { return w.ResponseWriter }
