package egress

import (
	"strconv"

	whatwg "github.com/nlnwa/whatwg-url/url"

	"github.com/toolwarrant/toolwarrant/executor/worker"
)

// The code of a tool reads URLs by the rules of the WHATWG standard, this
// package by those of net/url. Where the two name another destination, what
// the code checked is not what would be fetched; so the gate reads a URL by
// both and refuses it unless they agree on scheme, host, port and the absence
// of a user name.

var browser = whatwg.NewParser()

// sameReading compares t with what a browser makes of raw, which base, when
// it is there, completes.
func sameReading(t *target, raw string, base *target) *worker.Failure {
	var from *whatwg.Url
	if base != nil {
		var err error
		if from, err = browser.Parse(base.url.String()); err != nil {
			return twoReadings()
		}
	}
	u, err := browser.BasicParser(raw, from, nil, whatwg.NoState)
	if err != nil || u.Scheme() != t.url.Scheme || u.Username() != "" || u.Password() != "" {
		return twoReadings()
	}
	port := defaultPort(u.Scheme())
	if p := u.Port(); p != "" {
		n, err := strconv.ParseUint(p, 10, 16)
		if err != nil {
			return twoReadings()
		}
		port = uint16(n)
	}
	host := u.Hostname()
	bracketed := len(host) > 2 && host[0] == '['
	if bracketed {
		host = host[1 : len(host)-1]
	}
	if name, _, ok := normalHost(host, bracketed); !ok || port != t.port || name != t.host {
		return twoReadings()
	}
	return nil
}

func twoReadings() *worker.Failure {
	return invalid(InvalidURL, "the URL can be read in two ways")
}
