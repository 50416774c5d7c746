package egress

import (
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"

	"github.com/toolwarrant/toolwarrant/executor/worker"
)

// target is a checked URL: what is matched, resolved and dialled is the same
// spelling.
type target struct {
	url  *url.URL // host normalised, no fragment, no userinfo
	host string   // lower case, ASCII, no trailing dot; an address without brackets
	addr netip.Addr
	port uint16
}

// hostPort is how a policy names the target.
func (t *target) hostPort() string { return joinHostPort(t.host, t.port) }

// label is how the ledger names the target.
func (t *target) label() string {
	if t.port == defaultPort(t.url.Scheme) {
		return t.host
	}
	return t.hostPort()
}

func (t *target) origin() string { return t.url.Scheme + "://" + t.hostPort() }

func joinHostPort(host string, port uint16) string {
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	return host + ":" + strconv.Itoa(int(port))
}

func defaultPort(scheme string) uint16 {
	if scheme == "https" {
		return 443
	}
	return 80
}

// parseTarget reads an absolute URL.
func parseTarget(raw string) (*target, *worker.Failure) {
	raw = strings.Trim(raw, " \t\r\n")
	if raw == "" {
		return nil, invalid(MissingURL, "the URL is missing")
	}
	if len(raw) > maxURL || !utf8.ValidString(raw) {
		return nil, invalid(InvalidURL, "the URL is too long or not UTF-8")
	}
	u, err := url.Parse(raw)
	if err != nil {
		return nil, invalid(InvalidURL, "the URL cannot be read")
	}
	t, f := checkURL(u)
	if f == nil {
		f = sameReading(t, raw, nil)
	}
	if f != nil {
		return nil, f
	}
	return t, nil
}

// checkURL makes a target of a parsed URL, which may come from a redirect.
func checkURL(u *url.URL) (*target, *worker.Failure) {
	// A browser reads a backslash as a slash and this parser does not: such
	// a URL means two things.
	if strings.ContainsAny(u.Host+u.Path+u.Opaque, "\\") {
		return nil, invalid(InvalidURL, "the URL has a backslash")
	}
	scheme := strings.ToLower(u.Scheme)
	switch {
	case scheme == "":
		return nil, invalid(InvalidURL, "the URL is relative; an absolute http or https URL is needed")
	case scheme != "http" && scheme != "https":
		return nil, security(UnsupportedScheme, "scheme not supported: "+scheme)
	case u.User != nil:
		return nil, invalid(InvalidURL, "the URL carries a user name or password; send an Authorization header")
	case u.Opaque != "" || u.Hostname() == "":
		return nil, security(MissingHost, "the URL has no host")
	}
	port := defaultPort(scheme)
	if p := u.Port(); p != "" {
		n, err := strconv.ParseUint(p, 10, 16)
		if err != nil || n == 0 {
			return nil, invalid(InvalidURL, "the port is not valid")
		}
		port = uint16(n)
	}
	host, addr, ok := normalHost(u.Hostname(), strings.HasPrefix(u.Host, "["))
	if !ok {
		return nil, invalid(InvalidURL, "the host is not valid")
	}
	clean := *u
	clean.Scheme, clean.Fragment, clean.RawFragment = scheme, "", ""
	clean.RawQuery = escapeQuery(clean.RawQuery)
	clean.Host = host
	if addr.Is6() {
		clean.Host = "[" + host + "]"
	}
	if port != defaultPort(scheme) {
		clean.Host = joinHostPort(host, port)
	}
	return &target{url: &clean, host: host, addr: addr, port: port}, nil
}

// hostProfile maps a name the way browsers look it up (UTS #46, non
// transitional). What is left is checked by isName, since real hosts have
// underscores and hyphens where the strict profile refuses them.
var hostProfile = idna.New(
	idna.MapForLookup(), idna.Transitional(false), idna.StrictDomainName(false),
	idna.CheckHyphens(false), idna.CheckJoiners(true), idna.BidiRule(), idna.VerifyDNSLength(false),
)

// normalHost gives the one spelling of a host: an address in its canonical
// form, or a lower-case ASCII name without a trailing dot.
func normalHost(raw string, bracketed bool) (string, netip.Addr, bool) {
	if bracketed || strings.Contains(raw, ":") {
		addr, err := netip.ParseAddr(raw)
		if err != nil || addr.Zone() != "" || !addr.Is6() {
			return "", netip.Addr{}, false
		}
		if v4, ok := spelled4(addr); ok {
			addr = v4
		}
		return addr.String(), addr, true
	}
	if !utf8.ValidString(raw) {
		return "", netip.Addr{}, false // percent-encoded bytes of no character
	}
	name := strings.ToLower(raw)
	if !isName(name) || strings.Contains(name, "xn--") {
		var err error
		if name, err = hostProfile.ToASCII(raw); err != nil {
			return "", netip.Addr{}, false
		}
		name = strings.ToLower(name)
	}
	name = strings.TrimSuffix(name, ".")
	if !isName(name) {
		return "", netip.Addr{}, false
	}
	if !endsInNumber(name) {
		return name, netip.Addr{}, true
	}
	addr, ok := parseIPv4(name)
	return addr.String(), addr, ok
}

// isName accepts letters, digits, hyphens and underscores in labels of the
// length that DNS allows; one trailing dot may follow.
func isName(s string) bool {
	s = strings.TrimSuffix(s, ".")
	if s == "" || len(s) > 253 {
		return false
	}
	for label := range strings.SplitSeq(s, ".") {
		if label == "" || len(label) > 63 {
			return false
		}
		for i := range len(label) {
			c := label[i]
			if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '_' {
				return false
			}
		}
	}
	return true
}

// endsInNumber is the WHATWG URL rule for "this has to be an IPv4 address".
func endsInNumber(name string) bool {
	last := name[strings.LastIndexByte(name, '.')+1:]
	if strings.Trim(last, "0123456789") == "" {
		return true
	}
	_, ok := parseNumber(last)
	return ok
}

// parseIPv4 reads what browsers read as an address: one to four decimal,
// octal or hexadecimal numbers, the last of which fills the rest.
func parseIPv4(name string) (netip.Addr, bool) {
	parts := strings.Split(name, ".")
	if len(parts) > 4 {
		return netip.Addr{}, false
	}
	var v uint64
	for i, part := range parts {
		n, ok := parseNumber(part)
		if !ok {
			return netip.Addr{}, false
		}
		if i < len(parts)-1 {
			if n > 255 {
				return netip.Addr{}, false
			}
			v |= n << (8 * (3 - i))
			continue
		}
		if n >= 1<<(8*(5-len(parts))) {
			return netip.Addr{}, false
		}
		v |= n
	}
	return netip.AddrFrom4([4]byte{byte(v >> 24), byte(v >> 16), byte(v >> 8), byte(v)}), true
}

func parseNumber(s string) (uint64, bool) {
	base := 10
	switch {
	case strings.HasPrefix(s, "0x"):
		s, base = s[2:], 16
		if s == "" {
			return 0, true
		}
	case len(s) > 1 && s[0] == '0':
		s, base = s[1:], 8
	}
	n, err := strconv.ParseUint(s, base, 33)
	return n, err == nil
}

// escapeQuery percent-encodes what may not stand in a request line.
func escapeQuery(q string) string {
	const hexDigits = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(q) {
		c := q[i]
		if c <= ' ' || c >= 0x7f || strings.IndexByte("\"<>'", c) >= 0 {
			b.WriteByte('%')
			b.WriteByte(hexDigits[c>>4])
			b.WriteByte(hexDigits[c&15])
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}
