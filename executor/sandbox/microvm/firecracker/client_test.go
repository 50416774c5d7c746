package firecracker

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func listen(t *testing.T) (net.Listener, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Skip("no unix sockets here:", err)
	}
	t.Cleanup(func() { l.Close() })
	return l, path
}

func serve(t *testing.T, h http.HandlerFunc) *Client {
	t.Helper()
	l, path := listen(t)
	s := &http.Server{Handler: h}
	go s.Serve(l)
	t.Cleanup(func() { s.Close() })
	c := NewClient(path)
	t.Cleanup(c.Close)
	return c
}

// TestRequests holds each request to the letter of the API.
func TestRequests(t *testing.T) {
	var got string
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = strings.TrimSpace(r.Method + " " + r.URL.Path + " " + string(body))
		if r.Header.Get("Accept") != "application/json" || len(body) > 0 && r.Header.Get("Content-Type") != "application/json" {
			got += " without its headers"
		}
		if r.Method == http.MethodGet {
			io.WriteString(w, `{"id":"x","state":"Not started","vmm_version":"1.13.0","app_name":"Firecracker"}`)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	})
	ctx := context.Background()
	for _, tt := range []struct {
		call func() error
		want string
	}{
		{func() error { return c.SetMachine(ctx, MachineConfig{VCPUs: 2, MemoryMiB: 256}) }, `PUT /machine-config {"vcpu_count":2,"mem_size_mib":256,"smt":false}`},
		{func() error { return c.SetBoot(ctx, BootSource{"/k", "/i", "quiet"}) }, `PUT /boot-source {"kernel_image_path":"/k","initrd_path":"/i","boot_args":"quiet"}`},
		{func() error { return c.SetVsock(ctx, Vsock{3, "/v"}) }, `PUT /vsock {"guest_cid":3,"uds_path":"/v"}`},
		{func() error { return c.Start(ctx) }, `PUT /actions {"action_type":"InstanceStart"}`},
		{func() error {
			i, err := c.Info(ctx)
			if i != (Info{"x", "Not started", "1.13.0"}) {
				t.Errorf("info is %+v", i)
			}
			return err
		}, "GET /"},
	} {
		if err := tt.call(); err != nil || got != tt.want {
			t.Errorf("sent %s\nwant %s (%v)", got, tt.want, err)
		}
	}
}

func TestAnswers(t *testing.T) {
	for name, tt := range map[string]struct {
		h    http.HandlerFunc
		want string
	}{
		"refusal": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(400)
			io.WriteString(w, `{"fault_message":"no kvm"}`)
		}, "firecracker refuses PUT /actions (400): no kvm"},
		"no reason": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500); io.WriteString(w, "oops\xff") }, "(500): oops?"},
		"long reason": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(400)
			io.WriteString(w, strings.Repeat("x", 5000))
		}, strings.Repeat("x", 500)},
		"endless": {func(w http.ResponseWriter, _ *http.Request) { io.Copy(w, zeros{}) }, "more than 64 KiB"},
		"redirect": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "http://127.0.0.1/")
			w.WriteHeader(302)
		}, "(302)"},
		"hangs up": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "EOF"},
		"hangs":    {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, "deadline"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
			if name != "hangs" {
				ctx, cancel = context.WithTimeout(context.Background(), 20*time.Second)
			}
			defer cancel()
			err := serve(t, tt.h).Start(ctx)
			if err == nil || !strings.Contains(err.Error(), tt.want) || len(err.Error()) > 700 {
				t.Errorf("got %v, want ... %s", err, tt.want)
			}
		})
	}
	if _, err := serve(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "[]") }).Info(context.Background()); err == nil {
		t.Error("an answer of another shape is taken")
	}
	if err := NewClient(filepath.Join(t.TempDir(), "none")).Start(context.Background()); err == nil {
		t.Error("no monitor, no error")
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

func TestConnect(t *testing.T) {
	for name, tt := range map[string]struct {
		answer string
		none   bool
		ok     bool
	}{
		"ok":         {answer: "OK 1073741824\nhello", ok: true},
		"no guest":   {none: true},
		"other word": {answer: "NO\n"},
		"no line":    {answer: strings.Repeat("OK", 400)},
		"cut":        {answer: "OK 1", none: true},
	} {
		t.Run(name, func(t *testing.T) {
			l, path := listen(t)
			go func() {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				defer conn.Close()
				line, _ := bufio.NewReader(conn).ReadString('\n')
				if line != "CONNECT 1024\n" {
					t.Errorf("the host says %q", line)
				}
				fmt.Fprint(conn, tt.answer)
			}()
			conn, err := Connect(context.Background(), path, 1024)
			if (err == nil) != tt.ok || errors.Is(err, ErrNoGuest) != tt.none {
				t.Fatalf("got %v", err)
			}
			if err == nil {
				defer conn.Close()
				if rest, _ := io.ReadAll(conn); string(rest) != "hello" {
					t.Errorf("the guest said %q", rest)
				}
			}
		})
	}
	t.Run("hangs", func(t *testing.T) {
		_, path := listen(t) // connects, but nobody accepts
		ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
		defer cancel()
		if _, err := Connect(ctx, path, 1); err == nil {
			t.Error("connected to a device that does not answer")
		}
	})
}

// FuzzHandshake reads hostile answers.
func FuzzHandshake(f *testing.F) {
	f.Add([]byte("OK 5\nrest"))
	f.Fuzz(func(t *testing.T, answer []byte) {
		rw := struct {
			io.Reader
			io.Writer
		}{strings.NewReader(string(answer)), io.Discard}
		err := handshake(rw, 1)
		line, _, found := strings.Cut(string(answer), "\n")
		if ok := found && len(line) < 32 && strings.HasPrefix(line, "OK "); ok != (err == nil) {
			t.Errorf("%q gives %v", answer, err)
		}
	})
}
