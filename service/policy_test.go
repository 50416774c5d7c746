package service

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/toolwarrant/toolwarrant/config"
	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/executor"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/keyring"
	"github.com/toolwarrant/toolwarrant/resolver"
)

// publisher makes bundles of the built-in policy, with one test in the place
// of its own ones, and signs them.
type publisher struct {
	t      testing.TB
	dir    string
	data   string
	key    *keyring.SigningKey
	public string // file
}

func newPublisher(t testing.TB) *publisher {
	t.Helper()
	p := &publisher{t: t, dir: filepath.Join(t.TempDir(), "policy")}
	check(t, resolver.WriteBuiltin(p.dir))
	check(t, os.RemoveAll(filepath.Join(p.dir, "policy_test")))
	check(t, os.Mkdir(filepath.Join(p.dir, "policy_test"), 0o755))
	p.write("policy_test/one_test.rego", "package one_test\n\nimport rego.v2\n\ntest_one if true\n")
	data, err := os.ReadFile(filepath.Join(p.dir, "rego", "data.json"))
	check(t, err)
	p.data = string(data)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(t, err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	check(t, err)
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	check(t, err)
	p.public = filepath.Join(p.dir, "key.pub.pem")
	p.write("key.pub.pem", string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public})))
	p.write("key.pem", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})))
	p.key, err = keyring.ReadSigningKey(filepath.Join(p.dir, "key.pem"))
	check(t, err)
	return p
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (p *publisher) write(name, text string) {
	p.t.Helper()
	check(p.t, os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o600))
}

var expiry = regexp.MustCompile(`"expirySeconds": \d+`)

// bundle makes a bundle whose content differs by its revision.
func (p *publisher) bundle(revision int) []byte {
	p.t.Helper()
	p.write("rego/data.json", expiry.ReplaceAllString(p.data, fmt.Sprintf(`"expirySeconds": %d`, 100+revision)))
	raw, err := resolver.WriteBundle(context.Background(), resolver.Options{Policy: p.dir}, fmt.Sprint(revision), p.key)
	check(p.t, err)
	return raw
}

// shelf serves one bundle with its ETag.
type shelf struct {
	*httptest.Server
	mu       sync.Mutex
	raw      []byte
	down     bool
	full     int // answers with a body
	notAgain int // answers 304
}

func newShelf(t testing.TB) *shelf {
	s := &shelf{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		sum := sha256.Sum256(s.raw)
		etag := `"` + hex.EncodeToString(sum[:8]) + `"`
		switch {
		case s.down:
			w.WriteHeader(http.StatusServiceUnavailable)
		case r.Header.Get("If-None-Match") == etag:
			s.notAgain++
			w.WriteHeader(http.StatusNotModified)
		default:
			s.full++
			w.Header().Set("ETag", etag)
			w.Write(s.raw)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *shelf) put(raw []byte, down bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.raw, s.down = raw, down
}

func settings(t testing.TB, flags map[string]any) *config.Config {
	t.Helper()
	all := map[string]any{"runtime.isolation": "in-process", "catalog.preset": "everything"}
	for k, v := range flags {
		all[k] = v
	}
	cfg, err := config.Load("", nil, all)
	check(t, err)
	return cfg
}

func opened(t testing.TB, home string, cfg *config.Config) *Service {
	t.Helper()
	s, err := Open(t.Context(), Options{Home: home, Config: cfg, Logger: zerolog.Nop()})
	check(t, err)
	t.Cleanup(func() { s.Close(context.Background()) })
	check(t, s.Started(t.Context(), "test"))
	return s
}

// inForce checks the revision of the bundle and the reason of the last error.
func inForce(t *testing.T, s *Service, revision, reason string) {
	t.Helper()
	st := s.PolicyStatus()
	got := ""
	if st.LastError != nil {
		got = st.LastError.Reason
	}
	if st.Bundle != revision || got != reason {
		t.Fatalf("bundle %q in force, error %q; want %q and %q (%v)", st.Bundle, got, revision, reason, st.LastError)
	}
}

func renew(t *testing.T, s *Service, news bool, reason string) {
	t.Helper()
	got, err := s.RenewPolicy(t.Context())
	if f := fault.From(err); got != news || (err != nil) != (reason != "") || err != nil && f.Reason != reason {
		t.Fatalf("renewing: news %t, %v; want %t, %q", got, err, news, reason)
	}
}

func TestPolicyOfAURL(t *testing.T) {
	p, shelf, home := newPublisher(t), newShelf(t), t.TempDir()
	one, two := p.bundle(1), p.bundle(2)
	shelf.put(one, false)
	cfg := settings(t, map[string]any{"policy.path": shelf.URL + "/policy.tar.gz?token=secret", "policy.keys": []string{p.public}})
	s := opened(t, home, cfg)
	inForce(t, s, "1", "")
	first := s.Policy.Revision()
	renew(t, s, false, "")
	renew(t, s, false, "")
	if shelf.full != 1 || shelf.notAgain != 2 {
		t.Errorf("%d bodies and %d answers without one, want 1 and 2", shelf.full, shelf.notAgain)
	}
	if strings.Contains(s.Policy.Policy(), "secret") {
		t.Errorf("the name %s shows the query", s.Policy.Policy())
	}

	shelf.put(two, false) // better
	renew(t, s, true, "")
	inForce(t, s, "2", "")
	if s.Policy.Revision() == first {
		t.Error("the revision of the content is the same")
	}

	broken := bytes.Clone(one)
	broken[len(broken)/2] ^= 1
	shelf.put(broken, false)
	renew(t, s, true, "bundle-unreadable")
	renew(t, s, false, "") // told once
	inForce(t, s, "2", "bundle-unreadable")

	shelf.put(nil, true) // away
	renew(t, s, true, "policy-download")
	renew(t, s, false, "")
	inForce(t, s, "2", "policy-download")
	shelf.put(broken, false)
	renew(t, s, true, "bundle-unreadable")

	shelf.put(two, false) // good again, the one in force
	renew(t, s, true, "")
	inForce(t, s, "2", "")
	shelf.put(one, false) // back to the first: an undo
	renew(t, s, true, "")
	inForce(t, s, "1", "")
	if s.Policy.Revision() != first {
		t.Error("the same content has another revision")
	}
	if err := s.Reload(t.Context()); err != nil {
		t.Errorf("a reload by hand: %v", err)
	}
}

func TestStartWithoutNetwork(t *testing.T) {
	p, shelf, home := newPublisher(t), newShelf(t), t.TempDir()
	flags := map[string]any{"policy.path": shelf.URL + "/policy.tar.gz", "policy.keys": []string{p.public}}
	refuses := func(flags map[string]any, reason string) {
		t.Helper()
		_, err := Open(t.Context(), Options{Home: home, Config: settings(t, flags), Logger: zerolog.Nop()})
		if f := fault.From(err); err == nil || f.Reason != reason || f.Code.Exit() < 2 {
			t.Fatalf("start: %v, want %s", err, reason)
		}
	}
	shelf.put(nil, true)
	refuses(flags, "policy-download") // there is no policy at all

	shelf.put(p.bundle(1), false)
	s := opened(t, home, settings(t, flags))
	inForce(t, s, "1", "")
	check(t, s.Close(context.Background()))

	shelf.put(nil, true)
	s = opened(t, home, settings(t, flags))
	inForce(t, s, "1", "policy-download")
	shelf.put(p.bundle(2), false)
	renew(t, s, true, "")
	inForce(t, s, "2", "")
	check(t, s.Close(context.Background()))

	// A broken one at a start is no reason to be without a policy.
	shelf.put([]byte("broken"), false)
	s = opened(t, home, settings(t, flags))
	inForce(t, s, "2", "bundle-unreadable")
	renew(t, s, false, "")
	check(t, s.Close(context.Background()))

	// The one that was kept counts only while it passes.
	shelf.put(nil, true)
	least := map[string]any{"policy.min-revision": "3"}
	for k, v := range flags {
		least[k] = v
	}
	refuses(least, "policy-download")
	kept, err := filepath.Glob(filepath.Join(home, "policy", "*.tar.gz"))
	if err != nil || len(kept) != 1 {
		t.Fatalf("kept: %v, %v", kept, err)
	}
	raw, err := os.ReadFile(kept[0])
	check(t, err)
	if st, err := os.Stat(kept[0]); err != nil || runtime.GOOS != "windows" && st.Mode().Perm() != 0o600 {
		t.Errorf("mode of the kept policy: %v, %v", st.Mode(), err)
	}
	raw[len(raw)/2] ^= 1
	check(t, os.WriteFile(kept[0], raw, 0o600))
	refuses(flags, "policy-download")
}

func TestURLsThatAreRefused(t *testing.T) {
	for policy, want := range map[string]bool{
		"http://policies.example.com/p.tar.gz": true, "https://user:word@policies.example.com/p": true, "https:///p": true,
		"https://policies.example.com/p.tar.gz": false, "http://127.0.0.1:1/p": false, "http://localhost/p": false, "http://[::1]/p": false,
		"http://127.0.0.1.example.com/p": true, "https://policies.example.com/p#x": true,
	} {
		_, err := newFeed(t.TempDir(), settings(t, map[string]any{"policy.path": policy}))
		if (err != nil) != want || err != nil && fault.From(err).Reason != "policy-url" {
			t.Errorf("%s: %v", policy, err)
		}
	}
	if _, err := newFeed(t.TempDir(), settings(t, map[string]any{"policy.path": "http://policies.example.com/p", "policy.keys": "k.pem"})); err != nil {
		t.Errorf("plain http with a key: %v", err)
	}
}

func TestPolicyOfAFile(t *testing.T) {
	p := newPublisher(t)
	file := filepath.Join(t.TempDir(), "policy.tar.gz")
	put := func(raw []byte) { check(t, os.WriteFile(file, raw, 0o600)) }
	put(p.bundle(1))
	s := opened(t, t.TempDir(), settings(t, map[string]any{"policy.path": file, "policy.keys": []string{p.public}, "policy.min-revision": "1"}))
	inForce(t, s, "1", "")
	renew(t, s, false, "")
	put(p.bundle(12))
	renew(t, s, true, "")
	put(p.bundle(0))
	renew(t, s, true, "bundle-rolled-back")
	since := s.PolicyStatus().LastErrorAt
	renew(t, s, false, "")
	inForce(t, s, "12", "bundle-rolled-back")
	if at := s.PolicyStatus().LastErrorAt; !at.Equal(since) {
		t.Errorf("refused at %v, then at %v", since, at)
	}
	check(t, os.Remove(file))
	renew(t, s, true, "policy-missing")
	put(p.bundle(13))
	renew(t, s, true, "")
	inForce(t, s, "13", "")
}

// A policy that passes its own tests and decides nothing about the tools that
// there are is not put into force.
func TestPolicyThatFailsTheCatalog(t *testing.T) {
	p := newPublisher(t)
	file := filepath.Join(p.dir, "rego", "access", "access.rego")
	access, err := os.ReadFile(file)
	check(t, err)
	partial := strings.Replace(string(access), "callable := count(reasons) == 0", "callable := count(reasons) == 0 if input.tool.name != \"base64\"", 1)
	if partial == string(access) {
		t.Fatal("the rule was not changed")
	}
	p.write("rego/access/access.rego", partial)
	_, err = Open(t.Context(), Options{Home: t.TempDir(), Config: settings(t, map[string]any{"policy.path": p.dir}), Logger: zerolog.Nop()})
	if f := fault.From(err); err == nil || f.Reason != "policy-catalog-failed" || !strings.Contains(f.Message, "base64") {
		t.Errorf("start: %v", err)
	}
}

var activations = flag.Int("activations", 8, "how many policies TestActivationsUnderLoad puts into force")

// Activations under load: no call is lost, each is decided by one revision
// that was in force, and what a policy held is given back.
func TestActivationsUnderLoad(t *testing.T) {
	p, shelf := newPublisher(t), newShelf(t)
	shelf.put(p.bundle(0), false)
	s := opened(t, t.TempDir(), settings(t, map[string]any{"policy.path": shelf.URL + "/p.tar.gz", "policy.keys": []string{p.public}}))

	var calls, lost atomic.Int64
	var seen sync.Map
	// load calls until it is told to stop; when that returns, nothing runs.
	load := func() (stop func()) {
		done := make(chan struct{})
		var wg sync.WaitGroup
		for i := range 4 {
			wg.Go(func() {
				who := decision.Principal{Subject: fmt.Sprint("load-", i), Method: "none", Groups: []string{}, Scopes: []string{}, Untrusted: true}
				for {
					select {
					case <-done:
						return
					default:
					}
					out := s.Engine.Call(context.Background(), executor.Call{Principal: who, Name: "base64", Args: json.RawMessage(`{"text":"hello world"}`), Origin: decision.OriginMCPHTTP})
					calls.Add(1)
					if out.Err != nil || out.Decision == nil {
						lost.Add(1)
						t.Errorf("a call is lost: %v", out.Err)
						return
					}
					seen.Store(out.Decision.PolicyRevision, true)
				}
			})
		}
		return func() { close(done); wg.Wait() }
	}
	heap := func() uint64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	activate := func(from, to int) {
		for n := from; n <= to; n++ {
			shelf.put(p.bundle(n), false) // each another: a cache by revision would show
			if news, err := s.RenewPolicy(t.Context()); !news || err != nil {
				t.Fatalf("activation %d: %t, %v", n, news, err)
			}
		}
	}
	// The first activations fill what is kept for good: caches of the
	// process, words that CUE remembers. What calls hold that are under way is
	// no part of either figure.
	number, warm := *activations, max(4, *activations/10)
	if testing.Short() {
		number, warm = 2, 1
	}
	stop := load()
	activate(1, warm)
	stop()
	before := heap()
	counted := calls.Load()
	stop = load()
	activate(warm+1, warm+number)
	stop()
	// The log remembers the ids of the last 65,000 closed calls, some 100 bytes
	// each. What the service does in the background with a policy, as to look at
	// the catalog ahead, holds that one until it is done.
	limit := before + 2<<20 + uint64(calls.Load()-counted)*128
	after := heap()
	for end := time.Now().Add(20 * time.Second); after > limit && time.Now().Before(end); after = heap() {
		time.Sleep(100 * time.Millisecond)
	}
	revisions := 0
	seen.Range(func(any, any) bool { revisions++; return true })
	t.Logf("%d activations, %d calls, %d lost, %d revisions seen, heap %.1f MiB then %.1f MiB",
		number, calls.Load(), lost.Load(), revisions, float64(before)/(1<<20), float64(after)/(1<<20))
	if calls.Load() == 0 || lost.Load() > 0 || revisions < 2 {
		t.Errorf("%d calls, %d lost, %d revisions", calls.Load(), lost.Load(), revisions)
	}
	if testing.Short() {
		return // too few for a figure
	}
	// One policy holds some MiB: a leak of one in two hundred would show.
	if after > limit {
		t.Errorf("the heap grew from %d to %d bytes", before, after)
	}
}
