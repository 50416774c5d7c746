package oidc

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/toolwarrant/toolwarrant/internal/printable"
)

const (
	maxText   = 256 // of a subject, client, group or scope, in bytes
	maxGroups = 256
	maxScopes = 256
)

// claims are what is read of a token (RFC 7519, section 4.1; RFC 9068,
// section 2.2).
type claims struct {
	issuer, subject, client    string
	audience, scopes           []string
	expires, notBefore, issued time.Time // zero = absent
	// identity is that the token tells a client who logged in, and is for no
	// resource: it has claims that only ID tokens have.
	identity bool
	all      map[string]jsontext.Value
}

var errClaims = errors.New("oidc: the claims are not of the form of claims")

// parseClaims reads a payload. A name that stands twice is refused, since
// readers differ about which one counts.
func parseClaims(payload []byte) (c claims, err error) {
	if err := jsonv2.Unmarshal(payload, &c.all); err != nil || c.all == nil {
		return c, errClaims
	}
	ok := c.text("iss", &c.issuer) && c.text("sub", &c.subject) &&
		c.time("exp", &c.expires) && c.time("nbf", &c.notBefore) && c.time("iat", &c.issued)
	if !ok {
		return c, errClaims
	}
	if c.audience, ok = texts(c.all["aud"], maxScopes, ""); !ok {
		return c, errClaims
	}
	// azp (OpenID Connect), else client_id (RFC 9068): the one that the token
	// was given to.
	azp, id := "", ""
	if !c.text("azp", &azp) || !c.text("client_id", &id) {
		return c, errClaims
	}
	if c.client = azp; azp == "" {
		c.client = id
	}
	// scope is one text (RFC 8693, section 4.2); scp is what some providers
	// write, as a text or a list.
	for _, name := range []string{"scope", "scp"} {
		if c.scopes, ok = texts(c.all[name], maxScopes, " "); !ok {
			return c, errClaims
		}
		if len(c.scopes) > 0 {
			break
		}
	}
	for _, s := range c.scopes {
		if !printable.Name(s, maxText) {
			return c, errClaims
		}
	}
	for _, name := range []string{"nonce", "at_hash", "c_hash"} {
		_, has := c.all[name]
		c.identity = c.identity || has
	}
	return c, nil
}

// text reads a claim that is a text; absent is "".
func (c claims) text(name string, into *string) bool {
	v, ok := c.all[name]
	if !ok {
		return true
	}
	return v.Kind() == '"' && json.Unmarshal(v, into) == nil
}

// time reads a NumericDate (RFC 7519, section 2): seconds, with a fraction
// maybe. One that no clock can show is refused.
func (c claims) time(name string, into *time.Time) bool {
	v, ok := c.all[name]
	if !ok {
		return true
	}
	var seconds float64
	if v.Kind() != '0' || json.Unmarshal(v, &seconds) != nil || !(seconds > 0 && seconds < 1<<40) {
		return false
	}
	whole, part := math.Modf(seconds)
	*into = time.Unix(int64(whole), int64(part*1e9))
	return true
}

// texts reads a list of texts, or one text, which by separates where it is not
// empty. Absent and null are an empty list.
func texts(v jsontext.Value, most int, by string) ([]string, bool) {
	list := []string{}
	switch {
	case v == nil || v.Kind() == 'n':
		return list, true
	case v.Kind() == '"':
		var one string
		if json.Unmarshal(v, &one) != nil {
			return nil, false
		}
		if by == "" {
			return []string{one}, true
		}
		list = strings.Fields(one)
	case v.Kind() == '[':
		var raw []jsontext.Value
		if jsonv2.Unmarshal(v, &raw) != nil || len(raw) > most {
			return nil, false
		}
		for _, r := range raw {
			var s string
			if r.Kind() != '"' || json.Unmarshal(r, &s) != nil {
				return nil, false
			}
			list = append(list, s)
		}
	default:
		return nil, false
	}
	return list, len(list) <= most
}

// groups reads the claim with the groups: by its name, or by an RFC 6901
// pointer. A list that cannot be taken whole is refused: a rule may deny by a
// group that would be missing.
func (c claims) groups(claim string) ([]string, bool) {
	v := c.all[claim]
	if strings.HasPrefix(claim, "/") {
		steps := strings.Split(claim[1:], "/")
		v = c.all[unescape(steps[0])]
		for _, step := range steps[1:] {
			if v == nil || v.Kind() != '{' {
				v = nil
				break
			}
			var members map[string]jsontext.Value
			if jsonv2.Unmarshal(v, &members) != nil {
				return nil, false
			}
			v = members[unescape(step)]
		}
	}
	list, ok := texts(v, maxGroups, "")
	if !ok {
		return nil, false
	}
	for _, g := range list {
		if !printable.Name(g, maxText) {
			return nil, false
		}
	}
	return list, true
}

func unescape(step string) string {
	return strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
}
