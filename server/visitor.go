package server

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/toolwarrant/toolwarrant/fault"
)

// Protection is what stands between a listener and those who can reach it.
type Protection struct {
	// Authenticated is that each request needs credentials.
	Authenticated bool
	// Encrypted is that connections are TLS, here or up to a proxy in front.
	Encrypted bool
}

// CheckAddr refuses a listen address that others than this host can reach,
// unless callers are authenticated and what they send is encrypted. Without
// that, "localhost" and literal loopback addresses pass alone. Names are not
// resolved, since what they resolve to can change.
func CheckAddr(addr string, p Protection) error {
	host, port, err := net.SplitHostPort(addr)
	if err != nil || port == "" {
		return fault.New(fault.Usage, "invalid-address", "%q is not host:port; try 127.0.0.1:8282", addr)
	}
	switch {
	case isLoopback(host):
		return nil
	case !p.Authenticated:
		return fault.New(fault.Usage, "authentication-required",
			"%s can be reached from other machines, and no authentication is configured; set auth.api-keys: true, or auth.oidc.issuer "+
				"and auth.resource, or tls.client-ca-file (and TLS: tls.cert-file and tls.key-file), or set addr (or --addr) to 127.0.0.1:%s", addr, port)
	case !p.Encrypted:
		return fault.New(fault.Usage, "tls-required",
			"%s can be reached from other machines, and credentials would cross the network in the clear; set tls.cert-file and tls.key-file, "+
				"or tls.terminated-upstream: true where a proxy in front ends TLS", addr)
	}
	return nil
}

func isLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

// visitors keeps web pages out: a browser sends the name it used as Host
// (which unmasks DNS rebinding) and the page it is on as Origin.
type visitors struct {
	hosts   []string // lower case, "name" or "name:port"
	origins []string // lower case, scheme://host[:port]
}

func newVisitors(hosts, origins []string) visitors {
	v := visitors{}
	for _, h := range hosts {
		v.hosts = append(v.hosts, strings.ToLower(strings.TrimSpace(h)))
	}
	for _, o := range origins {
		v.origins = append(v.origins, strings.TrimSuffix(strings.ToLower(strings.TrimSpace(o)), "/"))
	}
	return v
}

// handler guards every path of next.
func (v visitors) handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !v.hostOK(r.Host) {
			http.Error(w, "forbidden: this Host is not served here; the operator can add it to server.allowed-hosts", http.StatusForbidden)
			return
		}
		origins := r.Header.Values("Origin")
		if len(origins) == 0 {
			// A browser that hides the page still says that it is another one.
			if s := r.Header.Get("Sec-Fetch-Site"); s == "cross-site" || s == "same-site" {
				forbidOrigin(w)
				return
			}
			next.ServeHTTP(w, r)
			return
		}
		origin := strings.ToLower(origins[0])
		listed := slices.Contains(v.origins, origin)
		if len(origins) > 1 || (!listed && !sameLoopback(origin, r.Host)) {
			forbidOrigin(w)
			return
		}
		if listed && v.cors(w, r, origins[0]) {
			return
		}
		next.ServeHTTP(w, r)
	})
}

func forbidOrigin(w http.ResponseWriter) {
	http.Error(w, "forbidden: this Origin is not served here; the operator can add it to server.allowed-origins", http.StatusForbidden)
}

func (v visitors) hostOK(host string) bool {
	host = strings.ToLower(host)
	name := hostName(host)
	return isLoopback(name) || slices.Contains(v.hosts, host) || (name != "" && slices.Contains(v.hosts, name))
}

// hostName cuts the port and the brackets of an IPv6 address off.
func hostName(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	return strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
}

// sameLoopback reports whether the page was served by this very address.
func sameLoopback(origin, host string) bool {
	u, err := url.Parse(origin)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Path == "" && u.User == nil &&
		strings.EqualFold(u.Host, host) && isLoopback(hostName(host))
}

// cors tells the browser that a listed origin may read the answers; it
// reports whether the request was only the question about that.
func (v visitors) cors(w http.ResponseWriter, r *http.Request, origin string) bool {
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Expose-Headers", "ETag, Location, Mcp-Session-Id, WWW-Authenticate")
	h.Add("Vary", "Origin")
	if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
		return false
	}
	h.Set("Access-Control-Allow-Methods", "GET, POST, PUT, DELETE")
	h.Set("Access-Control-Allow-Headers", "Accept, Authorization, Content-Type, If-Match, Last-Event-ID, Mcp-Method, Mcp-Name, Mcp-Protocol-Version, Mcp-Session-Id, Traceparent")
	w.WriteHeader(http.StatusNoContent)
	return true
}
