package auth

import (
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"time"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/internal/printable"
)

const (
	maxText   = 256 // of a subject or a group, in bytes
	maxGroups = 64  // of a certificate
	maxChain  = 10  // certificates that a client shows
)

// Certificates says which client certificates hold, and whose they are. The
// TLS listener has to ask for them and need not check them: the chain is
// checked here for each request, so that an authority that was taken off the
// list counts at once, also for connections that are open, and so that a
// certificate that does not hold leaves its record.
type Certificates struct {
	// Pool are the authorities at this moment.
	Pool func() *x509.CertPool
	// Subject is the part that is the subject: cn, san-dns, san-uri, san-email.
	Subject string
	// Groups is the part that is the groups: none, ou, o.
	Groups string
	// Now is the clock, nil = the system's.
	Now func() time.Time
}

// principal gives whose certificate it is, the first of chain, or why it does
// not hold.
func (c *Certificates) principal(chain []*x509.Certificate) (p decision.Principal, reason string) {
	now := time.Now
	if c.Now != nil {
		now = c.Now
	}
	if len(chain) > maxChain {
		return p, "malformed"
	}
	leaf := chain[0]
	between := x509.NewCertPool()
	for _, cert := range chain[1:] {
		between.AddCert(cert)
	}
	at := now()
	if at.After(leaf.NotAfter) {
		return p, "expired"
	}
	if at.Before(leaf.NotBefore) {
		return p, "not-yet-valid"
	}
	if _, err := leaf.Verify(x509.VerifyOptions{
		Roots: c.Pool(), Intermediates: between, CurrentTime: at, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}); err != nil {
		return p, "untrusted"
	}
	subject, ok := c.subject(leaf)
	if !ok {
		return p, "no-subject"
	}
	groups := []string{}
	switch c.Groups {
	case "ou":
		groups = append(groups, leaf.Subject.OrganizationalUnit...)
	case "o":
		groups = append(groups, leaf.Subject.Organization...)
	}
	if len(groups) > maxGroups {
		return p, "groups"
	}
	for _, g := range groups {
		if !printable.Name(g, maxText) {
			return p, "groups"
		}
	}
	sum := sha256.Sum256(leaf.Raw)
	return decision.Principal{
		Subject: subject, Method: MethodCert, ClientID: "cert:" + hex.EncodeToString(sum[:16]), Groups: groups, Scopes: []string{},
	}, ""
}

// subject is the one name of the wanted kind. A certificate with two is
// nobody's: which of them counts would be for its holder to choose.
func (c *Certificates) subject(leaf *x509.Certificate) (string, bool) {
	var names []string
	switch c.Subject {
	case "cn":
		// Of two common names the library shows the last.
		for _, a := range leaf.Subject.Names {
			if a.Type.String() == "2.5.4.3" {
				s, _ := a.Value.(string)
				names = append(names, s)
			}
		}
	case "san-dns":
		names = leaf.DNSNames
	case "san-uri":
		for _, u := range leaf.URIs {
			names = append(names, u.String())
		}
	case "san-email":
		names = leaf.EmailAddresses
	}
	if len(names) != 1 || !printable.Name(names[0], maxText) {
		return "", false
	}
	return names[0], true
}
