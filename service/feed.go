package service

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/toolwarrant/toolwarrant/config"
	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/executor/egress"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/internal/atomicfile"
	"github.com/toolwarrant/toolwarrant/resolver"
)

// feed is a policy bundle at a URL. It speaks the protocol of OPA's bundle
// service: a GET with the ETag of what is there already. The exchange is made
// by package egress, the one place that opens a connection, so that it has
// the same bounds of size, time and redirects as a fetch of a tool. OPA's own
// downloader unpacks what it gets without bounding the sum, and before a
// signature was looked at; it is not used.
//
// The last bundle that came into force is kept in the home, for a start
// without the network. It is checked like any other when it is used.
type feed struct {
	url     string
	kept    string // file of the last good one
	options egress.Options

	mu   sync.Mutex
	etag string
	body []byte
}

// isURL tells a URL from the path of a file.
func isURL(policy string) bool {
	return strings.HasPrefix(policy, "https://") || strings.HasPrefix(policy, "http://")
}

// newFeed checks the URL of a bundle. Over plain http to another machine only
// a signature says where a bundle comes from.
func newFeed(home string, cfg *config.Config) (*feed, error) {
	raw := cfg.Policy.Path
	u, err := url.Parse(raw)
	if err != nil || u.Hostname() == "" {
		return nil, fault.New(fault.Usage, "policy-url", "the URL of the policy cannot be read")
	}
	if u.User != nil || u.Fragment != "" {
		return nil, fault.New(fault.Usage, "policy-url", "the URL of the policy holds a password or a fragment; the log and every record would show it")
	}
	if u.Scheme == "http" && len(cfg.Policy.Keys) == 0 && !isLoopback(u.Hostname()) {
		return nil, fault.New(fault.Usage, "policy-url", "a policy that comes over plain http has to be signed; name the public key in policy.keys, or use https")
	}
	sum := sha256.Sum256([]byte(raw))
	f := &feed{url: raw, kept: filepath.Join(home, "policy", hex.EncodeToString(sum[:8])+".tar.gz")}
	if cfg.Egress.Resolver != "" {
		f.options.Resolver = egress.NewResolver(cfg.Egress.Resolver)
	}
	return f, nil
}

func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback() || host == "localhost"
}

// current gives the bundle that was last received, and asks for it if there
// is none yet.
func (f *feed) current(ctx context.Context) ([]byte, error) {
	f.mu.Lock()
	body := f.body
	f.mu.Unlock()
	if body != nil {
		return body, nil
	}
	if _, err := f.poll(ctx); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.body, nil
}

// poll asks for the bundle, and reports whether the answer was a new one.
func (f *feed) poll(ctx context.Context) (changed bool, err error) {
	f.mu.Lock()
	etag := f.etag
	f.mu.Unlock()
	req := egress.Request{URL: f.url, Headers: []egress.Header{{Name: "Accept-Encoding", Value: "identity"}, {Name: "Prefer", Value: "modes=snapshot"}}}
	if etag != "" {
		req.Headers = append(req.Headers, egress.Header{Name: "If-None-Match", Value: etag})
	}
	// The operator named the URL, so that its address may be a private one.
	resp, failure := egress.New(decision.Network{Mode: "open"}, f.options).Fetch(ctx, req)
	if failure != nil {
		return false, fault.New(fault.PolicyUnavailable, "policy-download", "the policy %s cannot be fetched: %s", f.name(), failure.Message)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case resp.Status == 304 && f.body != nil:
		return false, nil
	case resp.Status != 200:
		return false, fault.New(fault.PolicyUnavailable, "policy-download", "the policy %s cannot be fetched: the server answers with status %d", f.name(), resp.Status)
	}
	changed = f.body == nil || string(f.body) != string(resp.Body)
	f.body, f.etag = resp.Body, ""
	for _, h := range resp.Headers {
		if h.Name == "etag" {
			f.etag = h.Value
		}
	}
	return changed, nil
}

// name is the URL without what may be a secret in its query.
func (f *feed) name() string {
	name, _, _ := strings.Cut(f.url, "?")
	return name
}

// restore makes the last good bundle the current one, and reports whether
// there is one.
func (f *feed) restore() bool {
	st, err := os.Stat(f.kept)
	if err != nil || !st.Mode().IsRegular() || st.Size() > resolver.MaxBundleBytes {
		return false
	}
	raw, err := os.ReadFile(f.kept)
	if err != nil {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.body, f.etag = raw, ""
	return true
}

// keep puts the bundle that came into force where restore finds it.
func (f *feed) keep(raw []byte) error {
	err := os.MkdirAll(filepath.Dir(f.kept), 0o700)
	if err == nil {
		err = atomicfile.WriteFile(f.kept, raw, 0o600)
	}
	if err != nil {
		return fault.New(fault.Internal, "policy-keep", "the policy in force cannot be kept at %s for a start without the network", f.kept).Because(err)
	}
	return nil
}
