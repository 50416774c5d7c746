package webhook

import (
	"encoding/base64"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/audit/sink/remote"
	"github.com/toolwarrant/toolwarrant/audit/sink/sinktest"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/internal/standardhook"
)

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

// receiver is a server that verifies signatures.
type receiver struct {
	t     *testing.T
	mu    sync.Mutex
	lines []string
	raw   []byte
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return // cut on the way
	}
	key, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, standardhook.Prefix))
	id, at := req.Header.Get("webhook-id"), req.Header.Get("webhook-timestamp")
	if got, want := req.Header.Get("webhook-signature"), standardhook.Sign([][]byte{key}, id, at, body); got != want || id == "" {
		r.t.Errorf("signature %q, want %q", got, want)
	}
	if n, err := strconv.ParseInt(at, 10, 64); err != nil || time.Since(time.Unix(n, 0)).Abs() > 5*time.Minute {
		r.t.Errorf("timestamp %q", at)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.raw = append(r.raw, body...)
	for line := range strings.Lines(string(body)) {
		r.lines = append(r.lines, strings.TrimSuffix(line, "\n"))
	}
}

func secretFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestDestination(t *testing.T) {
	file := secretFile(t, secret+"\n")
	sinktest.Run(t, func(t *testing.T) sinktest.Destination {
		r := &receiver{t: t}
		srv := httptest.NewServer(r)
		t.Cleanup(srv.Close)
		proxy := sinktest.NewProxy(t, srv.Listener.Addr().String())
		return sinktest.Destination{
			Proxy: proxy,
			Sink: func(t *testing.T) audit.Sink {
				s, err := New(remote.HTTP{URL: "http://" + proxy.Addr + "/hook?x=y"}, file)
				if err != nil {
					t.Fatal(err)
				}
				return s
			},
			Lines: func() []string { r.mu.Lock(); defer r.mu.Unlock(); return append([]string(nil), r.lines...) },
			Raw:   func() []byte { r.mu.Lock(); defer r.mu.Unlock(); return append([]byte(nil), r.raw...) },
		}
	})
}

func TestSecretFile(t *testing.T) {
	to := remote.HTTP{URL: "https://hooks.example/x"}
	for text, ok := range map[string]bool{
		secret: true, secret + "\n" + secret + "\n": true,
		"": false, "whsec_": false, "whsec_AAAA": false, "whsec_!": false, strings.TrimPrefix(secret, standardhook.Prefix): false, secret + "\nx": false,
	} {
		_, err := New(to, secretFile(t, text))
		if (err == nil) != ok {
			t.Errorf("%q: %v", text, err)
		}
		if err != nil && (fault.From(err).Code != fault.Usage || len(text) > len(standardhook.Prefix) && strings.Contains(err.Error(), text)) {
			t.Errorf("%q: %v", text, err)
		}
	}
	open := secretFile(t, secret)
	if err := os.Chmod(open, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := New(to, open); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("a secret that everybody reads: %v", err)
	}
}
