package remote

import (
	"crypto/tls"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolwarrant/toolwarrant/audit/sink"
	"github.com/toolwarrant/toolwarrant/audit/sink/sinktest"
	"github.com/toolwarrant/toolwarrant/fault"
)

func write(t *testing.T, text string, perm os.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte(text), perm); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestRefusedURLs: what is not safe to send to is no destination.
func TestRefusedURLs(t *testing.T) {
	for url, ok := range map[string]bool{
		"https://logs.example/v1/logs": true, "https://10.0.0.7:4318": true, "http://127.0.0.1:4318": true, "http://localhost:4318/x": true, "http://[::1]:4318": true,
		"http://logs.example/": false, "http://10.0.0.7/": false, "http://localhost.example/": false, "http://127.0.0.1.example/": false,
		"https://u:p4ssw0rd@logs.example/": false, "https://p4ssw0rd@logs.example/": false, "https://logs.example/#x": false,
		"ftp://logs.example/": false, "logs.example": false, "": false, "https://": false, "https://%zz/": false, "unix:///x": false,
	} {
		_, err := NewClient(HTTP{URL: url})
		if (err == nil) != ok {
			t.Errorf("%q: %v", url, err)
		}
		if f := fault.From(err); err != nil && (f.Code != fault.Usage || f.Reason != "sink-url" || strings.Contains(f.Error(), "p4ssw0rd")) {
			t.Errorf("%q: %v", url, err)
		}
	}
}

// TestFiles: what the operator named and cannot be used is said at the start.
func TestFiles(t *testing.T) {
	id := sinktest.NewIdentity(t, "logs.example")
	const to = "https://logs.example/"
	for name, c := range map[string]struct {
		o      HTTP
		reason string // "" = fine
	}{
		"all":                {HTTP{URL: to, TLS: TLS{CAFile: id.CAFile, CertFile: id.CertFile, KeyFile: id.KeyFile}, HeaderFile: write(t, "Authorization: Bearer x\nX-Y:z\n", 0o600)}, ""},
		"no CA":              {HTTP{URL: to, TLS: TLS{CAFile: "/nowhere"}}, "sink-tls"},
		"an empty CA":        {HTTP{URL: to, TLS: TLS{CAFile: write(t, "x", 0o600)}}, "sink-tls"},
		"half a pair":        {HTTP{URL: to, TLS: TLS{CertFile: id.CertFile}}, "sink-tls"},
		"no pair":            {HTTP{URL: to, TLS: TLS{CertFile: id.CertFile, KeyFile: id.CAFile}}, "sink-tls"},
		"a key for all":      {HTTP{URL: to, TLS: TLS{CertFile: id.CertFile, KeyFile: write(t, "x", 0o644)}}, "key-permissions"},
		"no header file":     {HTTP{URL: to, HeaderFile: "/nowhere"}, "key-unreadable"},
		"a header for all":   {HTTP{URL: to, HeaderFile: write(t, "A: b", 0o644)}, "key-permissions"},
		"no header":          {HTTP{URL: to, HeaderFile: write(t, "A: b\ns3cr3t", 0o600)}, "sink-headers"},
		"a header with more": {HTTP{URL: to, HeaderFile: write(t, "A: b\x01s3cr3t", 0o600)}, "sink-headers"},
	} {
		_, err := NewClient(c.o)
		got := ""
		if err != nil {
			got = fault.From(err).Reason
			if strings.Contains(err.Error(), "s3cr3t") {
				t.Errorf("%s: the error shows the header: %v", name, err)
			}
		}
		if got != c.reason {
			t.Errorf("%s: got %q (%v), want %q", name, got, err, c.reason)
		}
	}
}

// TestPost: credentials go along and nowhere else, are read anew, redirects
// are not followed, and the environment names no proxy.
func TestPost(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	t.Setenv("HTTPS_PROXY", "http://127.0.0.1:1")
	var got []*http.Request
	status, header := 200, http.Header{}
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = append(got, r)
		for k, v := range header {
			w.Header()[k] = v
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte("answer"))
	}))
	id := sinktest.NewIdentity(t, "logs.example")
	srv.TLS = &tls.Config{Certificates: []tls.Certificate{id.Pair}}
	srv.StartTLS()
	defer srv.Close()

	headers := write(t, "Authorization: Bearer one\nContent-Type: wrong", 0o600)
	c, err := NewClient(HTTP{URL: srv.URL + "/path?key=s3cr3t", TLS: TLS{CAFile: id.CAFile, ServerName: "logs.example"}, HeaderFile: headers})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	post := func() ([]byte, error) {
		return c.Post(t.Context(), []byte("body"), http.Header{"Content-Type": {"text/plain"}})
	}
	if answer, err := post(); err != nil || string(answer) != "answer" || got[0].Header.Get("Authorization") != "Bearer one" || got[0].Header.Get("Content-Type") != "text/plain" || got[0].UserAgent() != "toolwarrant" {
		t.Fatalf("%q, %v, %v", answer, err, got)
	}
	if err := os.WriteFile(headers, []byte("Authorization: Bearer two"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := post(); err != nil || got[1].Header.Get("Authorization") != "Bearer two" {
		t.Errorf("%v, %v", err, got[1].Header)
	}

	var large *sink.TooLarge
	var later *sink.Later
	for _, tt := range []struct {
		status int
		after  string
		is     any
	}{{302, "", nil}, {400, "", nil}, {401, "", nil}, {413, "", &large}, {429, "7", &later}, {503, "7", &later}, {503, "", nil}, {500, "7", nil}} {
		status, header = tt.status, http.Header{"Location": {srv.URL + "/other"}, "Retry-After": {tt.after}}
		n := len(got)
		_, err := post()
		if err == nil || tt.is != nil && !errors.As(err, tt.is) || len(got) != n+1 || strings.Contains(err.Error(), "s3cr3t") {
			t.Errorf("%d: %v", tt.status, err)
		}
	}
	if later.After != 7*time.Second {
		t.Errorf("after %v", later.After)
	}
	srv.Close()
	if _, err := post(); err == nil || strings.Contains(err.Error(), "s3cr3t") || strings.Contains(err.Error(), "two") {
		t.Errorf("%v", err)
	}
	if err := os.Remove(headers); err != nil {
		t.Fatal(err)
	}
	if _, err := post(); fault.From(err) == nil || fault.From(err).Reason != "key-unreadable" {
		t.Errorf("%v", err)
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 11, 28, 10, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Duration{
		"": 0, "5": 5 * time.Second, "-5": 0, "x": 0, "999999999999": 0, "Sat, 28 Nov 2026 10:00:30 GMT": 30 * time.Second, "Sat, 28 Nov 2026 09:00:00 GMT": -time.Hour,
	} {
		if got := retryAfter(text, now); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

// TestIdleConnectionClosed: that the other side closes what is idle fails no
// request.
func TestIdleConnectionClosed(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(r.Header["Idempotency-Key"]) != 0 {
			t.Error("the mark of the transport is sent")
		}
	}))
	defer srv.Close()
	c, err := NewClient(HTTP{URL: srv.URL})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for i := range 200 {
		if _, err := c.Post(t.Context(), []byte("body"), nil); err != nil {
			t.Fatalf("%d: %v", i, err)
		}
		srv.CloseClientConnections()
	}
}
