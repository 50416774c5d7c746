package server

import (
	"strings"
	"unicode"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/executor"
)

// maxClientName bounds the name that a client gives itself, in characters.
const maxClientName = 64

// principal is the caller of a request: who was authenticated, or, where
// nobody is asked, whoever runs programs on this host. Where everybody is
// asked and this one is not known it is nobody, see door.identified.
func (d *door) principal(extra *mcp.RequestExtra, info *mcp.Implementation) decision.Principal {
	if p, ok := d.who(extra); ok || d.mustKnow {
		return p
	}
	return localPrincipal(info)
}

func noPrincipal(*mcp.RequestExtra) (decision.Principal, bool) { return decision.Principal{}, false }

// httpPrincipal is door.who for requests over HTTP.
func (s *Server) httpPrincipal(extra *mcp.RequestExtra) (decision.Principal, bool) {
	if r, ok := s.served(extra); ok && r.principal != nil {
		return *r.principal, true
	}
	return decision.Principal{}, false
}

// localPrincipal is the caller when there is no authentication: whoever runs
// programs on this host. The client's own name is kept for the record and
// marked as what it is.
func localPrincipal(info *mcp.Implementation) decision.Principal {
	name := ""
	if info != nil {
		name = cleanName(info.Name)
	}
	return decision.Principal{
		Subject: "local", Method: "none", ClientID: name, Untrusted: true, Groups: []string{}, Scopes: []string{},
	}
}

// cleanName keeps the printable characters of a name, at most maxClientName.
func cleanName(s string) string {
	var b strings.Builder
	n := 0
	for _, r := range s {
		if r == unicode.ReplacementChar || !unicode.IsPrint(r) {
			continue
		}
		if n++; n > maxClientName {
			break
		}
		b.WriteRune(r)
	}
	return strings.TrimSpace(b.String())
}

// traceID takes the trace-id out of a W3C traceparent, or gives "".
func traceID(traceparent string) string {
	parent := executor.TraceParent(traceparent)
	if !parent.IsValid() {
		return ""
	}
	return parent.TraceID().String()
}
