package js

import (
	"errors"
	"strconv"
	"strings"
)

// urlRecord is a parsed URL after the WHATWG URL standard. Paths are kept
// serialised; drive letters of file URLs get no special treatment.
type urlRecord struct {
	scheme, username, password string
	host                       *string
	port                       string // empty for the default one
	path                       string
	opaque                     bool
	query, fragment            *string
}

// errURL has the text that browsers give it, capital included: programs show
// it to people.
//
//lint:ignore ST1005 the text is the standard's, not ours
var errURL = errors.New("Invalid URL")

// specialPorts are the special schemes with their default ports.
var specialPorts = map[string]string{"http": "80", "https": "443", "ws": "80", "wss": "443", "ftp": "21", "file": ""}

func (u *urlRecord) special() bool { _, ok := specialPorts[u.scheme]; return ok }

// parseURL parses input against base, which may be nil.
func parseURL(input string, base *urlRecord) (*urlRecord, error) {
	input = strings.TrimFunc(input, func(r rune) bool { return r <= ' ' })
	input = strings.NewReplacer("\t", "", "\n", "", "\r", "").Replace(input)
	u := &urlRecord{}
	rest, fragment, hasFragment := strings.Cut(input, "#")
	if hasFragment {
		f := percent(fragment, fragmentSet)
		u.fragment = &f
	}
	scheme, after := splitScheme(rest)
	if scheme == "" {
		if base == nil || base.opaque && (rest != "" || !hasFragment) {
			return nil, errURL
		}
		return u, u.relative(rest, base)
	}
	u.scheme, rest = scheme, after
	switch {
	case u.scheme == "file":
		if base != nil && base.scheme == "file" && !u.slash(rest, 0) {
			return u, u.relative(rest, base)
		}
		return u, u.file(rest)
	case u.special():
		if base != nil && base.scheme == u.scheme && !(u.slash(rest, 0) && u.slash(rest, 1)) {
			return u, u.relative(rest, base)
		}
		for u.slash(rest, 0) {
			rest = rest[1:]
		}
		return u, u.authority(rest)
	case strings.HasPrefix(rest, "//"):
		return u, u.authority(rest[2:])
	}
	rest = u.takeQuery(rest)
	if strings.HasPrefix(rest, "/") {
		u.path = u.normalize("", rest)
		return u, nil
	}
	u.opaque, u.path = true, percent(rest, "")
	return u, nil
}

func splitScheme(s string) (scheme, rest string) {
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
		case i > 0 && (c >= '0' && c <= '9' || c == '+' || c == '-' || c == '.'):
		case i > 0 && c == ':':
			return strings.ToLower(s[:i]), s[i+1:]
		default:
			return "", s
		}
	}
	return "", s
}

// slash reports whether byte i separates path segments.
func (u *urlRecord) slash(s string, i int) bool {
	return i < len(s) && (s[i] == '/' || s[i] == '\\' && u.special())
}

// takeQuery cuts the query off and stores it.
func (u *urlRecord) takeQuery(s string) string {
	before, query, ok := strings.Cut(s, "?")
	if ok {
		q := u.encodeQuery(query)
		u.query = &q
	}
	return before
}

func (u *urlRecord) encodeQuery(q string) string {
	if u.special() {
		return percent(q, querySet+"'")
	}
	return percent(q, querySet)
}

func (u *urlRecord) relative(rest string, base *urlRecord) error {
	u.scheme = base.scheme
	if u.slash(rest, 0) && u.slash(rest, 1) {
		if u.scheme == "file" {
			return u.file(rest)
		}
		rest = rest[2:]
		for u.special() && u.slash(rest, 0) {
			rest = rest[1:]
		}
		return u.authority(rest)
	}
	u.username, u.password, u.host, u.port = base.username, base.password, base.host, base.port
	if base.opaque {
		u.opaque, u.path, u.query = true, base.path, base.query
		return nil
	}
	path := u.takeQuery(rest)
	switch {
	case path == "":
		u.path = base.path
		if u.query == nil {
			u.query = base.query
		}
	case u.slash(path, 0):
		u.path = u.normalize("", path)
	default:
		u.path = u.normalize(base.path[:max(0, strings.LastIndexByte(base.path, '/'))], path)
	}
	return nil
}

func (u *urlRecord) file(rest string) error {
	empty := ""
	u.host = &empty
	rest = u.takeQuery(rest)
	if u.slash(rest, 0) && u.slash(rest, 1) {
		rest = rest[2:]
		end := 0
		for end < len(rest) && !u.slash(rest, end) {
			end++
		}
		if host := rest[:end]; host != "" {
			h, err := parseHost(host, true)
			if err != nil {
				return err
			}
			if h != "localhost" {
				u.host = &h
			}
		}
		rest = rest[end:]
	}
	u.path = u.normalize("", rest)
	return nil
}

func (u *urlRecord) authority(rest string) error {
	end := 0
	for end < len(rest) && !u.slash(rest, end) && rest[end] != '?' {
		end++
	}
	auth, rest := rest[:end], rest[end:]
	if i := strings.LastIndexByte(auth, '@'); i >= 0 {
		user, pass, _ := strings.Cut(auth[:i], ":")
		u.username, u.password = percent(user, userinfoSet), percent(pass, userinfoSet)
		auth = auth[i+1:]
		if auth == "" {
			return errURL
		}
	}
	if err := u.setHostPort(auth); err != nil {
		return err
	}
	rest = u.takeQuery(rest)
	if rest != "" || u.special() {
		u.path = u.normalize("", rest)
	}
	return nil
}

func (u *urlRecord) setHostPort(auth string) error {
	host, port := auth, ""
	if i := strings.LastIndexByte(auth, ':'); i >= 0 && !strings.Contains(auth[i:], "]") {
		host, port = auth[:i], auth[i+1:]
	}
	if host == "" && (u.special() || port != "") {
		return errURL
	}
	h, err := parseHost(host, u.special())
	if err != nil {
		return err
	}
	u.host = &h
	return u.setPort(port)
}

func (u *urlRecord) setPort(port string) error {
	if port == "" {
		u.port = ""
		return nil
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || strings.HasPrefix(port, "+") {
		return errURL
	}
	u.port = strconv.FormatUint(n, 10)
	if def, ok := specialPorts[u.scheme]; ok && def == u.port {
		u.port = ""
	}
	return nil
}

// normalize appends the segments of path to the serialised prefix.
func (u *urlRecord) normalize(prefix, path string) string {
	if u.special() {
		path = strings.ReplaceAll(path, `\`, "/")
	}
	var out []string
	if prefix != "" {
		out = strings.Split(strings.TrimPrefix(prefix, "/"), "/")
	}
	segments := strings.Split(strings.TrimPrefix(path, "/"), "/")
	for i, seg := range segments {
		last := i == len(segments)-1
		switch strings.ReplaceAll(strings.ToLower(seg), "%2e", ".") {
		case ".":
			if last {
				out = append(out, "")
			}
		case "..":
			if len(out) > 0 {
				out = out[:len(out)-1]
			}
			if last {
				out = append(out, "")
			}
		default:
			out = append(out, percent(seg, pathSet))
		}
	}
	return "/" + strings.Join(out, "/")
}

const (
	fragmentSet = " \"<>`"
	querySet    = " \"#<>"
	pathSet     = querySet + "?^`{}"
	userinfoSet = pathSet + "/:;=@[\\]|"
)

// percent encodes control characters, everything beyond ASCII and the set.
func percent(s, set string) string {
	const digits = "0123456789ABCDEF"
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < 0x20 || c >= 0x7F || strings.IndexByte(set, c) >= 0 {
			b.WriteByte('%')
			b.WriteByte(digits[c>>4])
			b.WriteByte(digits[c&15])
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

func unpercent(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				out = append(out, byte(n))
				i += 2
				continue
			}
		}
		out = append(out, s[i])
	}
	return string(out)
}

// hostPort is the host with its port, "" without a host.
func (u *urlRecord) hostPort() string {
	if u.host == nil {
		return ""
	}
	if u.port == "" {
		return *u.host
	}
	return *u.host + ":" + u.port
}

func (u *urlRecord) origin() string {
	if u.special() && u.scheme != "file" {
		return u.scheme + "://" + u.hostPort()
	}
	return "null"
}

// String is the serialised URL.
func (u *urlRecord) String() string {
	var b strings.Builder
	b.WriteString(u.scheme + ":")
	switch {
	case u.host != nil:
		b.WriteString("//")
		if u.username+u.password != "" {
			b.WriteString(u.username)
			if u.password != "" {
				b.WriteString(":" + u.password)
			}
			b.WriteByte('@')
		}
		b.WriteString(u.hostPort())
	case !u.opaque && strings.HasPrefix(u.path, "//"):
		b.WriteString("/.")
	}
	b.WriteString(u.path)
	if u.query != nil {
		b.WriteString("?" + *u.query)
	}
	if u.fragment != nil {
		b.WriteString("#" + *u.fragment)
	}
	return b.String()
}
