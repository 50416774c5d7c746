// Package egress is the one place of the executor that dials. It sends the
// requests of fetch() and is the gate they pass: scheme, host, port, address,
// redirect and size are checked here, against the network part of one
// decision, on every hop.
//
// It owns: how a host is spelled (host.go), which hosts a policy names
// (pattern.go), which addresses are public (guard.go), the connection
// (dial.go), one exchange (exchange.go) and the fetch with its redirects
// (fetch.go). It reads no configuration and no environment (no proxy, no
// cookies, no credentials), shares no connection between two fetches, and
// imports only the contracts.
//
// Threat model: the URL, the method, the headers and the body are written by
// hostile code; the names resolve to what an attacker's DNS says, and to
// something else a moment later; the servers answer with redirects to private
// addresses, endless bodies, compressed bombs and oversized headers. So a name
// is resolved once per connection, every address it has is checked, only a
// checked address is dialled, and the socket's own address is checked again
// before it connects. What an operator opened (PrivateHosts) is matched by
// host and port before resolving and is exempt from the address check alone.
package egress

import (
	"context"
	"crypto/x509"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/toolwarrant/toolwarrant/decision/network"
	"github.com/toolwarrant/toolwarrant/executor/worker"
	"github.com/toolwarrant/toolwarrant/fault"
)

// Helper is the helper name in the failures of this gate.
const Helper = "fetch"

// Reasons of the failures. The first group has code SECURITY, the second
// HELPER_RUNTIME, the third INVALID_INPUT.
const (
	NotGranted          = "not-granted"
	UnsupportedScheme   = "unsupported-scheme"
	MissingHost         = "missing-host"
	HostNotInAllowlist  = "host-not-in-allowlist"
	HostInDenylist      = "host-in-denylist"
	PortNotAllowed      = "port-not-allowed"
	LiteralPrivateIP    = "literal-private-ip"
	ResolvedPrivateIP   = "resolved-private-ip"
	DNSResolutionFailed = "dns-resolution-failed"
	DNSNoAddresses      = "dns-no-addresses"
	UnknownEgressLevel  = "unknown-egress-level"
	TooManyRedirects    = "too-many-redirects"
	InsecureRedirect    = "insecure-redirect"
	ResponseTooLarge    = "response-body-too-large"

	Timeout        = "timeout"
	TLS            = "tls"
	IO             = "io"
	Interrupted    = "interrupted"
	DNSUnknownHost = "dns-unknown-host"

	MissingURL      = "missing-url"
	InvalidURL      = "invalid-url"
	InvalidMethod   = "invalid-method"
	InvalidHeader   = "invalid-header"
	InvalidRange    = "invalid-range"
	RequestTooLarge = "request-too-large"
)

// Limits of one fetch. They are not policy: no document can raise them.
const (
	MaxBody         = 10 << 20 // of a response after decompression, and of a request
	MaxRedirects    = 5
	ConnectTimeout  = 5 * time.Second
	RequestTimeout  = 30 * time.Second
	maxURL          = 16 << 10
	maxHeaders      = 100
	maxHeaderBytes  = 64 << 10  // sent
	maxAnswerHeader = 256 << 10 // received
	maxAddresses    = 64        // of one name
)

// Resolver turns a name into addresses. *net.Resolver is one.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Options are what the operator sets for every fetch.
type Options struct {
	Resolver  Resolver       // nil = the system's
	RootCAs   *x509.CertPool // nil = the system's
	UserAgent string         // sent unless the request has one; "" = "toolwarrant"
	// OwnAddresses are the addresses of this machine, which count as
	// private even where they are public ones. nil = ask the system.
	OwnAddresses func() ([]netip.Addr, error)
}

// Header is one header field; names may repeat.
type Header struct{ Name, Value string }

// Request is one fetch as the code asked for it.
type Request struct {
	URL        string
	Method     string // "" = GET
	Headers    []Header
	Body       []byte // dropped for GET and HEAD
	MaxLength  *int64 // bytes of the body to return; nil = all
	StartIndex int64  // first byte of the body to return
}

// Response is the answer of the last hop. Body is the slice that was asked
// for; NextStartIndex is where to go on when Truncated.
type Response struct {
	Status         int
	StatusText     string
	URL            string
	Headers        []Header // lower-case names, sorted, values in their order
	Body           []byte
	Truncated      bool
	NextStartIndex *int64
}

// ContentType is the content type as it was sent, or "".
func (r *Response) ContentType() string {
	for _, h := range r.Headers {
		if h.Name == "content-type" {
			return h.Value
		}
	}
	return ""
}

// Entry is one exchange, or one refused attempt (status 0). Host carries the
// port when it is not the scheme's own. Bytes counts what was read of the
// body.
type Entry struct {
	Host   string
	IP     string
	Status int
	Bytes  int64
}

// Client sends the fetches of one call. It is safe for concurrent use.
type Client struct {
	policy policy
	opts   Options

	// The limits of time, and for tests of this package the socket.
	connectTimeout, requestTimeout time.Duration
	dial                           func(context.Context, netip.AddrPort) (net.Conn, error)

	mu     sync.Mutex
	ledger []Entry
}

// New makes the Client of one call under the network part of its decision.
// It never fails: a policy that cannot be read refuses every request.
func New(policy network.Policy, opts Options) *Client {
	return &Client{policy: compile(policy), opts: opts, connectTimeout: ConnectTimeout, requestTimeout: RequestTimeout}
}

// Ledger gives what happened so far, in order.
func (c *Client) Ledger() []Entry {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]Entry(nil), c.ledger...)
}

func (c *Client) record(e Entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ledger = append(c.ledger, e)
}

func security(reason, message string) *worker.Failure {
	return failure(fault.Security, reason, "denied: "+message)
}

// notPublic names the one setting that lets a call reach such an address.
func notPublic(reason, message string, t *target) *worker.Failure {
	return security(reason, fmt.Sprintf("%s: %s; the operator can open it with egress.private-hosts: [%q]", message, t.host, t.hostPort()))
}

func runtimeFailure(reason, message string) *worker.Failure {
	return failure(fault.HelperRuntime, reason, message)
}

func invalid(reason, message string) *worker.Failure {
	return failure(fault.InvalidInput, reason, message)
}

func failure(code fault.Code, reason, message string) *worker.Failure {
	return &worker.Failure{Code: string(code), Reason: reason, Helper: Helper, Message: "[fetch] " + message}
}
