package js

import (
	"errors"
	"strconv"
	"strings"

	whatwg "github.com/nlnwa/whatwg-url/url"
)

// maxURLText bounds the text of a URL, and maxAuthority what stands before its
// path: the parser's time for a user name grows with the square of its length.
const (
	maxURLText   = 1 << 20
	maxAuthority = 4 << 10
)

// errURL has the text that browsers give it, capital included: programs show
// it to people.
//
//lint:ignore ST1005 the text is the standard's, not ours
var errURL = errors.New("Invalid URL")

var urlParser = whatwg.NewParser()

// parseURL parses input against base, which may be nil.
func parseURL(input string, base *whatwg.Url) (*whatwg.Url, error) {
	if !parsable(input) {
		return nil, errURL
	}
	u, err := urlParser.BasicParser(input, base, nil, whatwg.NoState)
	if err != nil {
		return nil, errURL
	}
	return u, nil
}

// parsable reports whether input is of a size that is parsed at once.
func parsable(input string) bool {
	if len(input) <= maxAuthority {
		return true
	}
	if len(input) > maxURLText {
		return false
	}
	// This reads more as an authority than the parser does, never less.
	rest := strings.NewReplacer("\t", "", "\n", "", "\r", "").Replace(strings.TrimFunc(input, func(r rune) bool { return r <= ' ' }))
	if i := strings.IndexFunc(rest, notScheme); i > 0 && rest[i] == ':' {
		rest = rest[i+1:]
	}
	rest = strings.TrimLeft(rest, `/\`)
	if end := strings.IndexAny(rest, `/\?#`); end >= 0 {
		rest = rest[:end]
	}
	return len(rest) <= maxAuthority || !strings.Contains(rest, "@")
}

func notScheme(r rune) bool {
	return (r|0x20 < 'a' || r|0x20 > 'z') && (r < '0' || r > '9') && r != '+' && r != '-' && r != '.'
}

// origin is the serialised origin. Only the path of a blob can have one of
// its own.
func origin(u *whatwg.Url) string {
	switch u.Scheme() {
	case "http", "https", "ws", "wss", "ftp":
		return u.Protocol() + "//" + u.Host()
	case "blob":
		if inner, err := parseURL(u.Pathname(), nil); err == nil && (inner.Scheme() == "http" || inner.Scheme() == "https") {
			return origin(inner)
		}
	}
	return "null"
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
