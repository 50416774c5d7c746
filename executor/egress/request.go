package egress

import (
	"net/http"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/toolwarrant/toolwarrant/executor/worker"
)

// methods are those that code may send. CONNECT and TRACE are not among them.
var methods = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}

// dropped are the request headers that belong to the connection, not to the
// code. Accept-Encoding is one: the body is decoded here, under its cap.
var dropped = []string{
	"accept-encoding", "connection", "content-length", "expect", "host", "keep-alive", "te", "trailer",
	"transfer-encoding", "upgrade",
}

// message is what one hop sends.
type message struct {
	method string
	header http.Header
	body   []byte
}

func newMessage(req Request, userAgent string) (*message, *worker.Failure) {
	m := &message{method: "GET", header: http.Header{}}
	if req.Method != "" {
		m.method = strings.ToUpper(req.Method)
		if !slices.Contains(methods, m.method) {
			return nil, invalid(InvalidMethod, "the method is not one of "+strings.Join(methods, ", "))
		}
	}
	if len(req.Headers) > maxHeaders {
		return nil, invalid(InvalidHeader, "too many headers")
	}
	size := 0
	for _, h := range req.Headers {
		// White space around a value means nothing (RFC 9110 section 5.5).
		value := strings.Trim(h.Value, " \t")
		if size += len(h.Name) + len(value); size > maxHeaderBytes {
			return nil, invalid(InvalidHeader, "the headers are too long")
		}
		if !httpguts.ValidHeaderFieldName(h.Name) {
			return nil, invalid(InvalidHeader, "a header name is not valid")
		}
		if !httpguts.ValidHeaderFieldValue(value) {
			return nil, invalid(InvalidHeader, "the value of a header is not valid: "+h.Name)
		}
		name := strings.ToLower(h.Name)
		if slices.Contains(dropped, name) || strings.HasPrefix(name, "proxy-") && name != "proxy-authorization" {
			continue
		}
		m.header.Add(h.Name, value)
	}
	// There is no proxy to authorize to.
	m.header.Del("Proxy-Authorization")
	if m.header.Get("User-Agent") == "" {
		if userAgent == "" {
			userAgent = "toolwarrant"
		}
		m.header.Set("User-Agent", userAgent)
	}
	if len(req.Body) > MaxBody {
		return nil, invalid(RequestTooLarge, "the request body is larger than 10 MiB")
	}
	if m.method != "GET" && m.method != "HEAD" {
		m.body = req.Body
	}
	return m, nil
}

// redirected changes m for the next hop as the Fetch standard does.
func (m *message) redirected(status int, sameOrigin bool) {
	if status == 303 && m.method != "GET" && m.method != "HEAD" || (status == 301 || status == 302) && m.method == "POST" {
		m.method, m.body = "GET", nil
		for name := range m.header {
			if strings.HasPrefix(strings.ToLower(name), "content-") {
				delete(m.header, name)
			}
		}
	}
	if sameOrigin {
		return
	}
	for name := range m.header {
		if isCredential(strings.ToLower(name)) {
			delete(m.header, name)
		}
	}
}

// isCredential recognises headers that another origin must not see, by the
// words that are used in such names.
func isCredential(name string) bool {
	return slices.ContainsFunc([]string{"auth", "cookie", "key", "token", "secret", "credential", "passw", "session", "signature"},
		func(word string) bool { return strings.Contains(name, word) })
}
