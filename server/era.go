package server

import (
	"context"
	"net/http"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolwarrant/toolwarrant/decision"
)

// Method and _meta names of the protocol.
const (
	methodCall          = "tools/call"
	methodList          = "tools/list"
	methodListen        = "subscriptions/listen"
	notificationChanged = "notifications/tools/list_changed"
	metaProtocolVersion = mcp.MetaKeyProtocolVersion
	metaLogLevel        = "io.modelcontextprotocol/logLevel"
	metaProgress        = "progressToken"

	// modernVersion is the first version without sessions: its requests carry
	// their version, and a server asks by answering input_required.
	modernVersion = "2026-07-28"
	// newestLegacy is what an initialize handshake can negotiate at most.
	newestLegacy = "2025-11-25"
)

// versionsServed are the protocol versions, newest first.
var versionsServed = []string{modernVersion, newestLegacy, "2025-06-18", "2025-03-26", "2024-11-05"}

type era int

// The zero value is the era in which nobody can be asked in-band.
const (
	eraUnclear era = iota
	eraLegacy
	eraModern
)

// eraOf says how a request can be asked back. The request and the session it
// came over have to agree: a mixture (possible on stdio) is unclear.
func eraOf(req *mcp.CallToolRequest) era {
	version, _ := req.Params.Meta[metaProtocolVersion].(string)
	request := version >= modernVersion
	init := req.Session.InitializeParams()
	if init == nil {
		return eraUnclear
	}
	switch session := init.ProtocolVersion >= modernVersion; {
	case request && session:
		return eraModern
	case !request && !session:
		return eraLegacy
	}
	return eraUnclear
}

// legacyInitialize makes the version of an initialize request one that can be
// negotiated, so that the session remembers what both sides speak and not
// what the client asked for.
func legacyInitialize(req mcp.Request) {
	r, ok := req.(*mcp.ServerRequest[*mcp.InitializeParams])
	if !ok || r.Params == nil {
		return
	}
	switch r.Params.ProtocolVersion {
	case newestLegacy, "2025-06-18", "2025-03-26", "2024-11-05":
	default:
		p := *r.Params
		p.ProtocolVersion = newestLegacy
		r.Params = &p
	}
}

// traceOf finds the trace of a call, _meta first, then the HTTP header: its id,
// and the traceparent that names it. Both are "" where there is none.
func traceOf(req *mcp.CallToolRequest) (id, parent string) {
	if s, ok := req.Params.Meta["traceparent"].(string); ok {
		parent = s
	} else if req.Extra != nil {
		parent = req.Extra.Header.Get("Traceparent")
	}
	if id = traceID(parent); id == "" {
		return "", ""
	}
	return id, parent
}

// requestHeader carries a number from the dispatcher to the middleware, which
// otherwise has no way to the HTTP request: the library detaches the context
// of a session. Whatever a client sends under this name is overwritten.
const requestHeader = "Toolwarrant-Request"

// served is a request while it is served.
type served struct {
	*http.Request
	principal *decision.Principal // nil where nobody is asked
	out       *outlet
	reached   *atomic.Bool // whether it became a call; nil where it cannot
}

func (s *Server) served(extra *mcp.RequestExtra) (served, bool) {
	if extra == nil {
		return served{}, false
	}
	v, ok := s.requests.Load(extra.Header.Get(requestHeader))
	if !ok {
		return served{}, false
	}
	return v.(served), true
}

// httpContext is the context of the HTTP request that a call came with; it
// ends when the client drops the connection. Background when there is none.
func (s *Server) httpContext(extra *mcp.RequestExtra) context.Context {
	if r, ok := s.served(extra); ok {
		return r.Context()
	}
	return context.Background()
}

// resumable is httpContext where a broken stream can be taken up again: only
// those of 2026-07-28 cannot.
func (s *Server) resumable(extra *mcp.RequestExtra) context.Context {
	if r, ok := s.served(extra); ok && r.Header.Get(headerVersion) >= modernVersion {
		return r.Context()
	}
	return context.Background()
}

// httpExpect is door.expect for answers over HTTP.
func (s *Server) httpExpect(extra *mcp.RequestExtra, st stand) bool {
	r, ok := s.served(extra)
	return ok && r.out.expect(st)
}

// httpBegin is door.begin for requests over HTTP.
func (s *Server) httpBegin(extra *mcp.RequestExtra, call bool) {
	r, ok := s.served(extra)
	if !ok {
		return
	}
	if call && r.reached != nil {
		r.reached.Store(true)
	}
	r.out.live()
}
