package auth

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/json"
	"errors"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolwarrant/toolwarrant/keyring/apikey"
	"github.com/toolwarrant/toolwarrant/server/auth/oidc"
)

// keys is a file of keys.
type keys map[string]error

func (k keys) Check(token string) (apikey.Entry, error) {
	err, ok := k[token]
	if !ok {
		return apikey.Entry{}, apikey.Unknown
	}
	return apikey.Entry{ID: "id", Subject: "keeper", Groups: []string{"g"}}, err
}

// provider is an identity provider.
type provider map[string]error

func (t provider) Verify(_ context.Context, token string) (oidc.Caller, error) {
	err, ok := t[token]
	if !ok {
		return oidc.Caller{}, &oidc.Refused{Reason: "signature"}
	}
	return oidc.Caller{Subject: "alice", ClientID: "agent", Scopes: []string{"s"}}, err
}
func (provider) Issuer() string   { return "https://idp.example.com" }
func (provider) Scopes() []string { return []string{"tools:call"} }

const resource = "https://tools.example.com/mcp"

// authority makes client certificates.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{}
	a.key, _ = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	tmpl := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "ca"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, a.key.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	a.cert, _ = x509.ParseCertificate(der)
	return a
}

func (a *authority) pool() *x509.CertPool {
	p := x509.NewCertPool()
	p.AddCert(a.cert)
	return p
}

func (a *authority) issue(t *testing.T, change func(*x509.Certificate)) *x509.Certificate {
	t.Helper()
	uri, _ := url.Parse("spiffe://acme/agent")
	tmpl := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "agent-1", OrganizationalUnit: []string{"finance", "ops"}, Organization: []string{"Acme"}},
		NotBefore: time.Now().Add(-time.Minute), NotAfter: time.Now().Add(time.Minute), ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
		DNSNames: []string{"agent.acme.example"}, URIs: []*url.URL{uri}, EmailAddresses: []string{"agent@acme.example"},
	}
	if change != nil {
		change(tmpl)
	}
	key, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	der, err := x509.CreateCertificate(rand.Reader, tmpl, a.cert, key.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	c, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestChain: each kind of credentials is checked by what it is for, and what
// does not fit is refused.
func TestChain(t *testing.T) {
	ca := newAuthority(t)
	down := errors.New("down")
	all := Options{
		Resource: resource,
		Keys:     keys{"tw_good": nil, "tw_old": apikey.Expired, "tw_broken": down},
		Tokens: provider{"good.jwt.x": nil, "less.jwt.x": &oidc.Refused{Reason: "scope", Insufficient: true}, "late.jwt.x": &oidc.Refused{Reason: "expired"},
			"down.jwt.x": oidc.ErrNoKeys},
		Certificates: &Certificates{Pool: ca.pool, Subject: "cn", Groups: "ou"},
	}
	keysOnly := Options{Keys: all.Keys}
	certsOnly := Options{Certificates: all.Certificates}
	const hint = `Bearer resource_metadata="https://tools.example.com/.well-known/oauth-protected-resource/mcp", scope="tools:call"`
	const invalid = hint + `, error="invalid_token", error_description="The token does not hold."`
	const plainInvalid = `Bearer realm="toolwarrant", error="invalid_token", error_description="The token does not hold."`
	cert := ca.issue(t, nil)
	for name, tc := range map[string]struct {
		opt       Options
		fields    []string
		cert      *x509.Certificate
		who       string // method and subject
		reason    string // method and reason; "?" = nobody can be authenticated
		status    int
		challenge string
	}{
		"key":               {opt: all, fields: []string{"Bearer tw_good"}, who: "api-key keeper"},
		"lower case":        {opt: all, fields: []string{"bearer tw_good"}, who: "api-key keeper"},
		"spaces":            {opt: all, fields: []string{"Bearer   tw_good"}, who: "api-key keeper"},
		"token":             {opt: all, fields: []string{"Bearer good.jwt.x"}, who: "oidc alice"},
		"certificate":       {opt: all, cert: cert, who: "mtls agent-1"},
		"nothing":           {opt: all, reason: " missing", status: 401, challenge: hint},
		"old key":           {opt: all, fields: []string{"Bearer tw_old"}, reason: "api-key expired", status: 401, challenge: invalid},
		"unknown key":       {opt: all, fields: []string{"Bearer tw_x"}, reason: "api-key unknown", status: 401, challenge: invalid},
		"broken keys":       {opt: all, fields: []string{"Bearer tw_broken"}, reason: "?api-key"},
		"bad token":         {opt: all, fields: []string{"Bearer x.jwt.x"}, reason: "oidc signature", status: 401, challenge: invalid},
		"late token":        {opt: all, fields: []string{"Bearer late.jwt.x"}, reason: "oidc expired", status: 401, challenge: invalid},
		"no keys of issuer": {opt: all, fields: []string{"Bearer down.jwt.x"}, reason: "?oidc"},
		"too few scopes": {opt: all, fields: []string{"Bearer less.jwt.x"}, reason: "oidc scope", status: 403,
			challenge: hint + `, error="insufficient_scope", error_description="The token lacks a scope that this server needs."`},
		"two fields":          {opt: all, fields: []string{"Bearer tw_good", "Bearer good.jwt.x"}, reason: "oidc malformed", status: 401, challenge: invalid},
		"two tokens":          {opt: all, fields: []string{"Bearer tw_good,good.jwt.x"}, reason: "oidc malformed", status: 401, challenge: invalid},
		"basic":               {opt: all, fields: []string{"Basic dTpw"}, reason: "oidc malformed", status: 401, challenge: invalid},
		"empty":               {opt: all, fields: []string{""}, reason: "oidc malformed", status: 401, challenge: invalid},
		"scheme alone":        {opt: all, fields: []string{"Bearer "}, reason: "oidc malformed", status: 401, challenge: invalid},
		"key and certificate": {opt: all, fields: []string{"Bearer tw_good"}, cert: cert, reason: "api-key ambiguous", status: 401, challenge: invalid},
		"keys alone, a token": {opt: keysOnly, fields: []string{"Bearer good.jwt.x"}, reason: "api-key unknown", status: 401, challenge: plainInvalid},
		"keys alone, nothing": {opt: keysOnly, reason: " missing", status: 401, challenge: `Bearer realm="toolwarrant"`},
		"keys alone, a cert":  {opt: keysOnly, cert: cert, reason: " missing", status: 401, challenge: `Bearer realm="toolwarrant"`},
		"certs alone, a key":  {opt: certsOnly, fields: []string{"Bearer tw_good"}, reason: "oidc not-taken", status: 401},
		"certs alone":         {opt: certsOnly, reason: " missing", status: 401},
	} {
		c, err := New(tc.opt)
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequest(http.MethodPost, "/mcp", nil)
		for _, f := range tc.fields {
			r.Header.Add("Authorization", f)
		}
		r.TLS = nil
		if tc.cert != nil {
			r.TLS = &tls.ConnectionState{PeerCertificates: []*x509.Certificate{tc.cert}}
		}
		p, err := c.Authenticate(r)
		if tc.who != "" {
			if err != nil || p.Method+" "+p.Subject != tc.who || p.Untrusted || p.Groups == nil || p.Scopes == nil || p.ClientID == "" {
				t.Errorf("%s: %+v, %v", name, p, err)
			}
			if r.Header.Get("Authorization") != "" {
				t.Errorf("%s: the credentials are passed on", name)
			}
			continue
		}
		if p.Subject != "" || err == nil {
			t.Errorf("%s: %+v passes", name, p)
			continue
		}
		w := httptest.NewRecorder()
		Write(w, err)
		var refused *Refusal
		var unavailable *Unavailable
		switch {
		case errors.As(err, &unavailable):
			if tc.reason != "?"+unavailable.Method || w.Code != http.StatusServiceUnavailable {
				t.Errorf("%s: %v, %d", name, err, w.Code)
			}
		case errors.As(err, &refused):
			if refused.Method+" "+refused.Reason != tc.reason || w.Code != tc.status || w.Header().Get("WWW-Authenticate") != tc.challenge {
				t.Errorf("%s: %v, %d, %s", name, err, w.Code, w.Header().Get("WWW-Authenticate"))
			}
		default:
			t.Errorf("%s: %v", name, err)
		}
		for _, f := range tc.fields {
			for _, word := range strings.FieldsFunc(f, func(r rune) bool { return r == ' ' || r == ',' })[min(1, len(strings.Fields(f))):] {
				if strings.Contains(w.Body.String()+err.Error()+w.Header().Get("WWW-Authenticate"), word) {
					t.Errorf("%s: the answer has %q", name, word)
				}
			}
		}
	}
	if _, err := New(Options{}); err == nil {
		t.Error("nothing is taken for credentials")
	}
	if _, err := New(Options{Tokens: provider{}, Resource: "tools"}); err == nil {
		t.Error("a resource that is no URI")
	}
}

// TestCertificates: which certificates hold, and whose they are.
func TestCertificates(t *testing.T) {
	ca, other := newAuthority(t), newAuthority(t)
	commonName := func(s string) pkix.AttributeTypeAndValue {
		return pkix.AttributeTypeAndValue{Type: asn1.ObjectIdentifier{2, 5, 4, 3}, Value: s}
	}
	for name, tc := range map[string]struct {
		subject, groups string
		cert            *x509.Certificate
		want            string // subject, or "!" and the reason
		inGroups        []string
	}{
		"cn":          {"cn", "ou", ca.issue(t, nil), "agent-1", []string{"ops", "finance"}}, // in the order of DER
		"dns":         {"san-dns", "o", ca.issue(t, nil), "agent.acme.example", []string{"Acme"}},
		"uri":         {"san-uri", "none", ca.issue(t, nil), "spiffe://acme/agent", nil},
		"email":       {"san-email", "none", ca.issue(t, nil), "agent@acme.example", nil},
		"stranger":    {"cn", "none", other.issue(t, nil), "!untrusted", nil},
		"expired":     {"cn", "none", ca.issue(t, func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Second) }), "!expired", nil},
		"not yet":     {"cn", "none", ca.issue(t, func(c *x509.Certificate) { c.NotBefore = time.Now().Add(time.Hour) }), "!not-yet-valid", nil},
		"of a server": {"cn", "none", ca.issue(t, func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth} }), "!untrusted", nil},
		"no name":     {"cn", "none", ca.issue(t, func(c *x509.Certificate) { c.Subject = pkix.Name{} }), "!no-subject", nil},
		"two names": {"cn", "none", ca.issue(t, func(c *x509.Certificate) {
			c.Subject.ExtraNames = []pkix.AttributeTypeAndValue{commonName("agent-1"), commonName("root")}
		}), "!no-subject", nil},
		"two addresses":   {"san-dns", "none", ca.issue(t, func(c *x509.Certificate) { c.DNSNames = []string{"a.example", "b.example"} }), "!no-subject", nil},
		"a hidden letter": {"cn", "none", ca.issue(t, func(c *x509.Certificate) { c.Subject.CommonName = "agent\u200b" }), "!no-subject", nil},
		"a bad group":     {"cn", "ou", ca.issue(t, func(c *x509.Certificate) { c.Subject.OrganizationalUnit = []string{"a\nb"} }), "!groups", nil},
	} {
		c := &Certificates{Pool: ca.pool, Subject: tc.subject, Groups: tc.groups}
		p, reason := c.principal([]*x509.Certificate{tc.cert})
		if want, refused := strings.CutPrefix(tc.want, "!"); refused {
			if reason != want || p.Subject != "" {
				t.Errorf("%s: %+v, %q", name, p, reason)
			}
			continue
		}
		if reason != "" || p.Subject != tc.want || !slices.Equal(p.Groups, tc.inGroups) || p.Method != MethodCert || !strings.HasPrefix(p.ClientID, "cert:") {
			t.Errorf("%s: %+v, %q", name, p, reason)
		}
	}
	// An authority that is taken off the list counts at once.
	pool := ca.pool()
	c := &Certificates{Pool: func() *x509.CertPool { return pool }, Subject: "cn"}
	cert := ca.issue(t, nil)
	if _, reason := c.principal([]*x509.Certificate{cert}); reason != "" {
		t.Error(reason)
	}
	pool = other.pool()
	if _, reason := c.principal([]*x509.Certificate{cert}); reason != "untrusted" {
		t.Errorf("after the change: %q", reason)
	}
}

// TestMetadata: RFC 9728.
func TestMetadata(t *testing.T) {
	for in, want := range map[string]string{
		"https://a.example":          "https://a.example/.well-known/oauth-protected-resource",
		"https://a.example/":         "https://a.example/.well-known/oauth-protected-resource",
		"https://a.example:8/mcp":    "https://a.example:8/.well-known/oauth-protected-resource/mcp",
		"https://a.example/t/1/mcp/": "https://a.example/.well-known/oauth-protected-resource/t/1/mcp",
		"https://a.example/mcp?x":    "",
		"/mcp":                       "",
		"mcp":                        "",
	} {
		if got, err := metadataURL(in); got != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v", in, got, err)
		}
	}
	c, err := New(Options{Resource: "https://a.example/t/mcp", Tokens: provider{}, Name: "tools"})
	if err != nil {
		t.Fatal(err)
	}
	docs := c.Public()
	for _, path := range []string{"/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-protected-resource/t/mcp"} {
		w := httptest.NewRecorder()
		docs[path].ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		var got map[string]any
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || got["resource"] != "https://a.example/t/mcp" || w.Header().Get("Content-Type") != "application/json" {
			t.Errorf("%s: %s, %v", path, w.Body, err)
		}
		w = httptest.NewRecorder()
		docs[path].ServeHTTP(w, httptest.NewRequest(http.MethodPost, path, nil))
		if w.Code != http.StatusMethodNotAllowed {
			t.Errorf("POST %s: %d", path, w.Code)
		}
	}
	if c, _ := New(Options{Keys: keys{}}); len(c.Public()) != 0 {
		t.Error("metadata without tokens")
	}
}

// FuzzBearer: what is taken for a token is the text after the scheme, as it is.
func FuzzBearer(f *testing.F) {
	for _, s := range []string{"", "Bearer a", "bearer a==", "Bearer a,b", "Bearer  a", "Basic x", "Bearer\ta"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		token, came, ok := bearer([]string{s})
		if !came {
			t.Error("a field came")
		}
		if ok && (token == "" || !strings.HasSuffix(s, token) || strings.ContainsAny(token, " \t\r\n\",;") || len(token) > maxToken) {
			t.Errorf("%q gives %q", s, token)
		}
		if !ok && token != "" {
			t.Errorf("%q is refused and gives %q", s, token)
		}
	})
}
