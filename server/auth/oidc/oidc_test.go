package oidc

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/rs/zerolog"

	"github.com/toolwarrant/toolwarrant/internal/printable"
)

const resource = "https://tools.example.com/mcp"

// issuer is an identity provider on this host.
type issuer struct {
	*httptest.Server
	asked atomic.Int64 // for the set of keys
	down  atomic.Bool

	mu   sync.Mutex
	keys []jose.JSONWebKey
}

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	i := &issuer{}
	mux := http.NewServeMux()
	mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		if i.down.Load() {
			http.Error(w, "down", http.StatusBadGateway)
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]string{"issuer": i.URL, "jwks_uri": i.URL + "/jwks"})
	})
	mux.HandleFunc("/jwks", func(w http.ResponseWriter, _ *http.Request) {
		i.asked.Add(1)
		i.mu.Lock()
		defer i.mu.Unlock()
		_ = json.NewEncoder(w).Encode(jose.JSONWebKeySet{Keys: i.keys})
	})
	i.Server = httptest.NewServer(mux)
	t.Cleanup(i.Close)
	return i
}

var rsaKey = sync.OnceValue(func() *rsa.PrivateKey {
	k, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return k
})

// publish adds a key to the set and gives what signs with it.
func (i *issuer) publish(id, alg string, key crypto.Signer) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.keys = append(i.keys, jose.JSONWebKey{Key: key.Public(), KeyID: id, Algorithm: alg, Use: "sig"})
}

func signed(t *testing.T, alg string, key any, head map[string]any, claims any) string {
	t.Helper()
	o := &jose.SignerOptions{}
	for name, v := range head {
		o = o.WithHeader(jose.HeaderKey(name), v)
	}
	s, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.SignatureAlgorithm(alg), Key: key}, o)
	if err != nil {
		t.Fatal(err)
	}
	payload, ok := claims.(string)
	if !ok {
		b, err := json.Marshal(claims)
		if err != nil {
			t.Fatal(err)
		}
		payload = string(b)
	}
	jws, err := s.Sign([]byte(payload))
	if err != nil {
		t.Fatal(err)
	}
	token, err := jws.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// unsigned makes a token of any header and no or any signature.
func unsigned(head, payload, signature string) string {
	e := base64.RawURLEncoding.EncodeToString
	return e([]byte(head)) + "." + e([]byte(payload)) + "." + e([]byte(signature))
}

func (i *issuer) claims(change map[string]any) map[string]any {
	now := time.Now()
	c := map[string]any{
		"iss": i.URL, "aud": resource, "sub": "alice", "client_id": "agent", "scope": "tools:call other",
		"iat": now.Unix(), "exp": now.Add(time.Hour).Unix(), "groups": []string{"finance"},
	}
	for name, v := range change {
		if v == nil {
			delete(c, name)
			continue
		}
		c[name] = v
	}
	return c
}

func verifier(t *testing.T, i *issuer, change ...func(*Options)) *Verifier {
	t.Helper()
	o := Options{
		Issuer: i.URL, Audience: resource, Algorithms: []string{"RS256", "PS256", "ES256", "EdDSA"}, Scopes: []string{"tools:call"},
		GroupsClaim: "groups", Skew: time.Minute, Logger: zerolog.Nop(), MinRefetch: time.Hour,
	}
	for _, c := range change {
		c(&o)
	}
	ctx, stop := context.WithCancel(context.Background())
	t.Cleanup(stop)
	v, err := New(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// reasonOf is why a token was refused, "" = it holds, "none" = it could not be
// checked.
func reasonOf(err error) string {
	var r *Refused
	switch {
	case err == nil:
		return ""
	case errors.As(err, &r):
		return r.Reason
	}
	return "none"
}

func ready(t *testing.T, v *Verifier) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		v.mu.Lock()
		ok := v.keys != nil
		v.mu.Unlock()
		if ok {
			return
		}
	}
	t.Fatal("the keys were not fetched")
}

// TestTokens: what holds and what does not, and no token has the provider
// asked but one with an unknown key, once.
func TestTokens(t *testing.T) {
	i := newIssuer(t)
	key := rsaKey()
	ec, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	_, ed, _ := ed25519.GenerateKey(rand.Reader)
	stranger, _ := rsa.GenerateKey(rand.Reader, 2048)
	i.publish("r1", "", key)
	i.publish("e1", "ES256", ec)
	i.publish("d1", "EdDSA", ed)
	i.publish("only-ps", "PS256", stranger)
	v := verifier(t, i)
	ready(t, v)
	asked := i.asked.Load()

	public, _ := x509.MarshalPKIXPublicKey(key.Public())
	asPEM := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public})
	now := time.Now()
	kid := map[string]any{"kid": "r1", "typ": "at+jwt"}
	head := func(more map[string]any) map[string]any {
		h := maps.Clone(kid)
		maps.Copy(h, more)
		return h
	}
	rs := func(h, change map[string]any) string { return signed(t, "RS256", key, h, i.claims(change)) }
	body, _ := json.Marshal(i.claims(nil))
	own := jose.JSONWebKey{Key: stranger, KeyID: "r1", Algorithm: "RS256"}
	embedded, err := jose.NewSigner(jose.SigningKey{Algorithm: "RS256", Key: own}, &jose.SignerOptions{EmbedJWK: true})
	if err != nil {
		t.Fatal(err)
	}
	jws, _ := embedded.Sign(body)
	withOwnKey, _ := jws.CompactSerialize()
	twice := strings.Replace(string(body), `"sub":"alice"`, `"sub":"alice","sub":"root"`, 1)
	many := make([]string, maxGroups+1)
	for n := range many {
		many[n] = fmt.Sprint("g", n)
	}

	good := rs(kid, nil)
	for name, tc := range map[string]struct{ token, want string }{
		"good":                     {good, ""},
		"ES256":                    {signed(t, "ES256", ec, map[string]any{"kid": "e1"}, i.claims(nil)), ""},
		"EdDSA":                    {signed(t, "EdDSA", ed, map[string]any{"kid": "d1"}, i.claims(nil)), ""},
		"PS256 with an RSA key":    {signed(t, "PS256", key, kid, i.claims(nil)), ""},
		"no key id":                {signed(t, "RS256", key, nil, i.claims(nil)), ""},
		"typ JWT":                  {rs(head(map[string]any{"typ": "JWT"}), nil), ""},
		"typ with its prefix":      {rs(head(map[string]any{"typ": "Application/AT+JWT"}), nil), ""},
		"several audiences":        {rs(kid, map[string]any{"aud": []string{"x", resource}}), ""},
		"within the skew":          {rs(kid, map[string]any{"exp": now.Add(-30 * time.Second).Unix(), "nbf": now.Add(30 * time.Second).Unix()}), ""},
		"scp as a list":            {rs(kid, map[string]any{"scope": nil, "scp": []string{"tools:call"}}), ""},
		"no groups":                {rs(kid, map[string]any{"groups": nil}), ""},
		"a time with a fraction":   {rs(kid, map[string]any{"exp": float64(now.Unix()) + 3600.5}), ""},
		"expired":                  {rs(kid, map[string]any{"exp": now.Add(-2 * time.Minute).Unix()}), "expired"},
		"not yet":                  {rs(kid, map[string]any{"nbf": now.Add(2 * time.Minute).Unix()}), "not-yet-valid"},
		"issued in the future":     {rs(kid, map[string]any{"iat": now.Add(2 * time.Minute).Unix()}), "not-yet-valid"},
		"wrong issuer":             {rs(kid, map[string]any{"iss": "https://evil.example"}), "issuer"},
		"issuer with a slash":      {rs(kid, map[string]any{"iss": i.URL + "/"}), "issuer"},
		"no issuer":                {rs(kid, map[string]any{"iss": nil}), "issuer"},
		"wrong audience":           {rs(kid, map[string]any{"aud": "https://other.example/mcp"}), "audience"},
		"audience with a slash":    {rs(kid, map[string]any{"aud": resource + "/"}), "audience"},
		"no audience":              {rs(kid, map[string]any{"aud": nil}), "audience"},
		"no expiry":                {rs(kid, map[string]any{"exp": nil}), "no-expiry"},
		"expiry is a text":         {rs(kid, map[string]any{"exp": "9999999999"}), "malformed"},
		"expiry beyond all clocks": {rs(kid, map[string]any{"exp": 1e300}), "malformed"},
		"alg none":                 {unsigned(`{"alg":"none","kid":"r1"}`, string(body), ""), "algorithm"},
		"alg None":                 {unsigned(`{"alg":"None","kid":"r1"}`, string(body), "x"), "algorithm"},
		"no alg":                   {unsigned(`{"kid":"r1"}`, string(body), "x"), "algorithm"},
		"HS256 with the public":    {signed(t, "HS256", asPEM, kid, i.claims(nil)), "algorithm"},
		"HS256 with the DER":       {signed(t, "HS256", public, kid, i.claims(nil)), "algorithm"},
		"RS512, not on the list":   {signed(t, "RS512", key, kid, i.claims(nil)), "algorithm"},
		"another kind of key":      {signed(t, "ES256", ec, kid, i.claims(nil)), "algorithm"},
		"not what the key is for":  {signed(t, "RS256", stranger, map[string]any{"kid": "only-ps"}, i.claims(nil)), "algorithm"},
		"another's key":            {signed(t, "RS256", stranger, kid, i.claims(nil)), "signature"},
		"a key of its own":         {withOwnKey, "signature"},
		"altered":                  {strings.Replace(good, ".", ".e30", 1), "malformed"},
		"other claims":             {strings.Join([]string{strings.Split(good, ".")[0], base64.RawURLEncoding.EncodeToString(body), "AAAA"}, "."), "signature"},
		"critical extension":       {unsigned(`{"alg":"RS256","kid":"r1","crit":["b64"],"b64":false}`, string(body), "x"), "malformed"},
		"an id token by its type":  {rs(head(map[string]any{"typ": "logout+jwt"}), nil), "type"},
		"an id token":              {rs(map[string]any{"kid": "r1"}, map[string]any{"nonce": "n"}), "type"},
		"no subject":               {rs(kid, map[string]any{"sub": nil}), "subject"},
		"subject that hides":       {rs(kid, map[string]any{"sub": "ali\u200bce"}), "subject"},
		"subject too long":         {rs(kid, map[string]any{"sub": strings.Repeat("a", 257)}), "subject"},
		"subject is a number":      {rs(kid, map[string]any{"sub": 7}), "malformed"},
		"client that hides":        {rs(kid, map[string]any{"client_id": "a\nb"}), "client"},
		"groups that are none":     {rs(kid, map[string]any{"groups": map[string]any{"a": 1}}), "groups"},
		"a group that is none":     {rs(kid, map[string]any{"groups": []any{"a", 1}}), "groups"},
		"too many groups":          {rs(kid, map[string]any{"groups": many}), "groups"},
		"no scope":                 {rs(kid, map[string]any{"scope": "other"}), "scope"},
		"scope as a part":          {rs(kid, map[string]any{"scope": "tools:callx"}), "scope"},
		"a claim twice":            {signed(t, "RS256", key, kid, twice), "malformed"},
		"claims are a list":        {signed(t, "RS256", key, kid, "[]"), "malformed"},
		"nothing":                  {"", "malformed"},
		"two parts":                {"a.b", "malformed"},
		"five parts":               {"a.b.c.d.e", "malformed"},
		"JSON":                     {`{"payload":"e30","signatures":[]}`, "malformed"},
		"too long":                 {strings.Repeat("a", maxToken) + ".b.c", "malformed"},
	} {
		who, err := v.Verify(context.Background(), tc.token)
		if got := reasonOf(err); got != tc.want {
			t.Errorf("%s: %q, want %q (%v)", name, got, tc.want, err)
		}
		if err != nil && (who.Subject != "" || strings.Contains(err.Error(), resource)) {
			t.Errorf("%s: the refusal says too much: %+v, %v", name, who, err)
		}
		if r := new(Refused); errors.As(err, &r) && r.Insufficient != (tc.want == "scope") {
			t.Errorf("%s: insufficient %v", name, r.Insufficient)
		}
	}
	if n := i.asked.Load(); n != asked {
		t.Errorf("known keys had the issuer asked %d times", n-asked)
	}
	who, err := v.Verify(context.Background(), rs(kid, map[string]any{"azp": "party"}))
	if err != nil || who.Subject != "alice" || who.ClientID != "party" || !slices.Equal(who.Groups, []string{"finance"}) || !slices.Equal(who.Scopes, []string{"tools:call", "other"}) {
		t.Errorf("%+v, %v", who, err)
	}
	// A flood of unknown keys: one question within MinRefetch of the last.
	var wg sync.WaitGroup
	for n := range 100 {
		token := rs(map[string]any{"kid": fmt.Sprint("x", n)}, nil)
		wg.Go(func() {
			if _, err := v.Verify(context.Background(), token); reasonOf(err) != "unknown-key" {
				t.Errorf("unknown key: %v", err)
			}
		})
	}
	wg.Wait()
	if n := i.asked.Load(); n != asked {
		t.Errorf("100 unknown keys had the issuer asked %d times within MinRefetch", n-asked)
	}
}

// TestRotation: a new key is found by the first token that is signed with it,
// and a flood before that costs one question.
func TestRotation(t *testing.T) {
	i := newIssuer(t)
	key := rsaKey()
	i.publish("old", "RS256", key)
	var mu sync.Mutex
	now := time.Now()
	v := verifier(t, i, func(o *Options) {
		o.MinRefetch = time.Minute
		o.Now = func() time.Time { mu.Lock(); defer mu.Unlock(); return now }
	})
	ready(t, v)
	mu.Lock()
	now = now.Add(2 * time.Minute)
	mu.Unlock()
	next, _ := rsa.GenerateKey(rand.Reader, 2048)
	i.mu.Lock()
	i.keys = nil
	i.mu.Unlock()
	i.publish("new", "RS256", next)
	before := i.asked.Load()

	fresh := signed(t, "RS256", next, map[string]any{"kid": "new"}, i.claims(nil))
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			if _, err := v.Verify(context.Background(), fresh); err != nil {
				t.Errorf("signed with the new key: %v", err)
			}
		})
	}
	wg.Wait()
	if n := i.asked.Load() - before; n != 1 {
		t.Errorf("asked %d times, want once", n)
	}
	if _, err := v.Verify(context.Background(), signed(t, "RS256", key, map[string]any{"kid": "old"}, i.claims(nil))); reasonOf(err) != "unknown-key" {
		t.Errorf("signed with the old key: %v", err)
	}
	// Keys that cannot be renewed do not count for ever.
	i.down.Store(true)
	mu.Lock()
	now = now.Add(25 * time.Hour)
	mu.Unlock()
	if _, err := v.Verify(context.Background(), fresh); !errors.Is(err, ErrNoKeys) {
		t.Errorf("with stale keys: %v", err)
	}
}

// TestIssuerIsDown: the server starts, no token passes, and it recovers.
func TestIssuerIsDown(t *testing.T) {
	i := newIssuer(t)
	i.down.Store(true)
	i.publish("k", "RS256", rsaKey())
	v := verifier(t, i, func(o *Options) { o.MinRefetch = time.Millisecond })
	token := signed(t, "RS256", rsaKey(), map[string]any{"kid": "k"}, i.claims(nil))
	if _, err := v.Verify(context.Background(), token); !errors.Is(err, ErrNoKeys) {
		t.Fatalf("no keys, and %v", err)
	}
	i.down.Store(false)
	ready(t, v) // by itself
	if _, err := v.Verify(context.Background(), token); err != nil {
		t.Errorf("once it is up: %v", err)
	}
}

// TestOptions: what the configuration can change.
func TestOptions(t *testing.T) {
	i := newIssuer(t)
	i.publish("k", "RS256", rsaKey())
	token := func(h, c map[string]any) string { return signed(t, "RS256", rsaKey(), h, i.claims(c)) }
	kid := map[string]any{"kid": "k"}
	v := verifier(t, i, func(o *Options) { o.TypedOnly, o.GroupsClaim, o.Scopes = true, "/realm_access/roles~1x", nil })
	ready(t, v)
	if _, err := v.Verify(context.Background(), token(kid, nil)); reasonOf(err) != "type" {
		t.Errorf("untyped: %v", err)
	}
	who, err := v.Verify(context.Background(), token(map[string]any{"kid": "k", "typ": "at+jwt"},
		map[string]any{"realm_access": map[string]any{"roles/x": []string{"r"}}, "scope": nil}))
	if err != nil || !slices.Equal(who.Groups, []string{"r"}) || len(who.Scopes) != 0 {
		t.Errorf("%+v, %v", who, err)
	}
	for name, change := range map[string]func(*Options){
		"plain http":     func(o *Options) { o.Issuer = "http://idp.example.com" },
		"no URL":         func(o *Options) { o.Issuer = "idp" },
		"a user":         func(o *Options) { o.Issuer = "https://u:p@idp.example.com" },
		"alg none":       func(o *Options) { o.Algorithms = []string{"none"} },
		"HS256":          func(o *Options) { o.Algorithms = []string{"HS256"} },
		"no algorithm":   func(o *Options) { o.Algorithms = nil },
		"no audience":    func(o *Options) { o.Audience = "" },
		"no groupsclaim": func(o *Options) { o.GroupsClaim = "" },
	} {
		o := Options{Issuer: i.URL, Audience: resource, Algorithms: []string{"RS256"}, GroupsClaim: "groups"}
		change(&o)
		if _, err := New(context.Background(), o); err == nil {
			t.Errorf("%s: is taken", name)
		}
	}
}

// TestKeySets: of what a provider publishes only public keys of our kinds are
// used.
func TestKeySets(t *testing.T) {
	short, _ := rsa.GenerateKey(rand.Reader, 1024)
	raw := func(k jose.JSONWebKey) json.RawMessage {
		b, err := json.Marshal(k)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	for name, k := range map[string]json.RawMessage{
		"a shared secret": raw(jose.JSONWebKey{Key: []byte("0123456789abcdef0123456789abcdef"), KeyID: "k"}),
		"a private key":   raw(jose.JSONWebKey{Key: rsaKey(), KeyID: "k"}),
		"for encryption":  raw(jose.JSONWebKey{Key: rsaKey().Public(), KeyID: "k", Use: "enc"}),
		"a short one":     raw(jose.JSONWebKey{Key: short.Public(), KeyID: "k"}),
		"an unknown kind": json.RawMessage(`{"kty":"new"}`),
		"no object":       json.RawMessage(`7`),
	} {
		if keys := keysOf([]json.RawMessage{k}); len(keys) != 0 {
			t.Errorf("%s is used", name)
		}
		if keys := keysOf([]json.RawMessage{k, raw(jose.JSONWebKey{Key: rsaKey().Public(), KeyID: "k"})}); len(keys) != 1 {
			t.Errorf("%s keeps a good one from being used", name)
		}
	}
}

// TestDiscovery: metadata of another issuer, and redirects, are refused.
func TestDiscovery(t *testing.T) {
	for name, tc := range map[string]struct {
		serve func(w http.ResponseWriter, r *http.Request, url string)
		ok    bool
	}{
		"RFC 8414": {func(w http.ResponseWriter, r *http.Request, url string) {
			switch r.URL.Path {
			case "/.well-known/oauth-authorization-server/tenant":
				fmt.Fprintf(w, `{"issuer":%q,"jwks_uri":%q}`, url+"/tenant", url+"/jwks")
			case "/jwks":
				_ = json.NewEncoder(w).Encode(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: rsaKey().Public(), KeyID: "k"}}})
			default:
				http.NotFound(w, r)
			}
		}, true},
		"another issuer": {func(w http.ResponseWriter, _ *http.Request, url string) {
			fmt.Fprintf(w, `{"issuer":"https://evil.example","jwks_uri":%q}`, url+"/jwks")
		}, false},
		"keys elsewhere in the clear": {func(w http.ResponseWriter, _ *http.Request, url string) {
			fmt.Fprintf(w, `{"issuer":%q,"jwks_uri":"http://evil.example/jwks"}`, url+"/tenant")
		}, false},
		"a redirect": {func(w http.ResponseWriter, r *http.Request, url string) {
			http.Redirect(w, r, url+"/other", http.StatusFound)
		}, false},
		"too much": {func(w http.ResponseWriter, _ *http.Request, _ string) {
			_, _ = w.Write([]byte(`{"issuer":"` + strings.Repeat("a", maxDocument) + `"}`))
		}, false},
		"no JSON": {func(w http.ResponseWriter, _ *http.Request, _ string) { _, _ = w.Write([]byte("<html>")) }, false},
		"no keys": {func(w http.ResponseWriter, r *http.Request, url string) {
			if r.URL.Path == "/jwks" {
				_, _ = w.Write([]byte(`{"keys":[]}`))
				return
			}
			fmt.Fprintf(w, `{"issuer":%q,"jwks_uri":%q}`, url+"/tenant", url+"/jwks")
		}, false},
	} {
		var srv *httptest.Server
		srv = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { tc.serve(w, r, srv.URL) }))
		v := &Verifier{opt: Options{Issuer: srv.URL + "/tenant"}, client: &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
		keys, err := v.fetch(context.Background())
		if (err == nil) != tc.ok || (len(keys) > 0) != tc.ok {
			t.Errorf("%s: %d keys, %v", name, len(keys), err)
		}
		srv.Close()
	}
}

// FuzzVerify: no text makes the verifier panic or pass.
func FuzzVerify(f *testing.F) {
	v := &Verifier{opt: Options{Issuer: "https://i", Audience: resource, GroupsClaim: "/a/b", Now: time.Now, MinRefetch: time.Hour, MaxStale: time.Hour}, algs: []jose.SignatureAlgorithm{"RS256", "ES256"}}
	v.keys, v.fetched, v.attempted = []key{{"k", "", rsaKey().Public()}}, time.Now(), time.Now()
	f.Add(unsigned(`{"alg":"RS256","kid":"k"}`, `{"iss":"https://i"}`, "x"))
	f.Add("a.b.c")
	f.Fuzz(func(t *testing.T, token string) {
		if _, err := v.Verify(context.Background(), token); err == nil {
			t.Errorf("%q holds", token)
		}
	})
}

// FuzzClaims: what is taken of claims is within its bounds.
func FuzzClaims(f *testing.F) {
	f.Add([]byte(`{"iss":"i","sub":"s","aud":["a"],"exp":1,"scope":"a b","x":{"y":["z"]}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := parseClaims(b)
		if err != nil {
			return
		}
		if groups, ok := c.groups("/x/y"); ok && len(groups) > maxGroups {
			t.Error("too many groups")
		}
		for _, s := range c.scopes {
			if !printable.Name(s, maxText) {
				t.Errorf("scope %q", s)
			}
		}
	})
}
