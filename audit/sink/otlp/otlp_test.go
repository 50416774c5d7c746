package otlp

import (
	"context"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	logs "go.opentelemetry.io/proto/otlp/logs/v1"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/audit/sink"
	"github.com/toolwarrant/toolwarrant/audit/sink/remote"
	"github.com/toolwarrant/toolwarrant/audit/sink/sinktest"
)

// collector takes what the protocol defines, by its own types.
type collector struct {
	t       *testing.T
	mu      sync.Mutex
	records []*logs.LogRecord
	data    []*logs.LogsData
	raw     []byte
	answer  []byte
	status  int
}

func (c *collector) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return // cut on the way
	}
	var data logs.LogsData
	if err := proto.Unmarshal(body, &data); err != nil || req.Method != http.MethodPost || req.URL.Path != "/v1/logs" || req.Header.Get("Content-Type") != "application/x-protobuf" {
		c.t.Errorf("%s %s %s: %v", req.Method, req.URL.Path, req.Header.Get("Content-Type"), err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.raw = append(c.raw, body...)
	c.data = append(c.data, &data)
	for _, r := range data.ResourceLogs {
		for _, s := range r.ScopeLogs {
			c.records = append(c.records, s.LogRecords...)
		}
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
	if c.status != 0 {
		w.WriteHeader(c.status)
	}
	_, _ = w.Write(c.answer)
}

func (c *collector) lines() (out []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range c.records {
		out = append(out, r.Body.GetStringValue())
	}
	return out
}

func start(t *testing.T) (*collector, *httptest.Server) {
	c := &collector{t: t}
	srv := httptest.NewServer(c)
	t.Cleanup(srv.Close)
	return c, srv
}

func mustNew(t *testing.T, url string) *Sink {
	t.Helper()
	s, err := New(remote.HTTP{URL: url}, "1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestDestination(t *testing.T) {
	sinktest.Run(t, func(t *testing.T) sinktest.Destination {
		c, srv := start(t)
		proxy := sinktest.NewProxy(t, srv.Listener.Addr().String())
		return sinktest.Destination{
			Proxy: proxy, Lines: c.lines,
			Sink: func(t *testing.T) audit.Sink { return mustNew(t, "http://"+proxy.Addr) },
			Raw:  func() []byte { c.mu.Lock(); defer c.mu.Unlock(); return append([]byte(nil), c.raw...) },
		}
	})
}

// TestRecord: the body is the line; the attributes are a way to route it.
func TestRecord(t *testing.T) {
	c, srv := start(t)
	s := mustNew(t, srv.URL)
	line := `{"time":"2026-11-28T10:00:00.123456Z","schema":"toolwarrant.audit/1","seq":7,"prev":null,"phase":"close","writer":"w-1","callId":"c-1","traceId":"4bf92f3577b34da6a3ce929d0e0e4736","outcome":"DENIED"}`
	if err := s.Write(context.Background(), [][]byte{[]byte(line), []byte("no record"), {0xff, '{'}}, true); err != nil {
		t.Fatal(err)
	}
	r := c.records[0]
	if r.Body.GetStringValue() != line || c.records[1].Body.GetStringValue() != "no record" || string(c.records[2].Body.GetBytesValue()) != "\xff{" {
		t.Errorf("the bodies are %v", c.records)
	}
	at := time.Date(2026, 11, 28, 10, 0, 0, 123456000, time.UTC)
	if r.TimeUnixNano != uint64(at.UnixNano()) || r.ObservedTimeUnixNano == 0 || hex.EncodeToString(r.TraceId) != "4bf92f3577b34da6a3ce929d0e0e4736" ||
		r.SeverityNumber != logs.SeverityNumber_SEVERITY_NUMBER_WARN || r.EventName != "toolwarrant.audit" {
		t.Errorf("%v", r)
	}
	got := map[string]string{}
	for _, a := range append(r.Attributes, c.data[0].ResourceLogs[0].Resource.Attributes...) {
		got[a.Key] = a.Value.GetStringValue()
		if a.Key == "toolwarrant.seq" && a.Value.GetIntValue() != 7 {
			t.Errorf("seq %v", a.Value)
		}
	}
	for key, want := range map[string]string{
		"toolwarrant.phase": "close", "toolwarrant.writer": "w-1", "toolwarrant.call_id": "c-1", "toolwarrant.outcome": "DENIED",
		"service.name": "toolwarrant", "service.version": "1.2.3",
	} {
		if got[key] != want {
			t.Errorf("%s is %q, want %q", key, got[key], want)
		}
	}
}

// TestPartialSuccess: lines that the collector rejects are told.
func TestPartialSuccess(t *testing.T) {
	var partial, answer []byte
	partial = protowire.AppendTag(partial, 1, protowire.VarintType)
	partial = protowire.AppendVarint(partial, 2)
	partial = protowire.AppendTag(partial, 2, protowire.BytesType)
	partial = protowire.AppendString(partial, "too old")
	answer = protowire.AppendTag(answer, 1, protowire.BytesType)
	answer = protowire.AppendBytes(answer, partial)
	c, srv := start(t)
	s := mustNew(t, srv.URL)
	for _, tt := range []struct {
		status  int
		answer  []byte
		refused int64
		ok      bool
	}{
		{200, nil, 0, true}, {200, answer, 2, false}, {202, []byte("<html>"), 0, true}, {500, nil, 0, false}, {400, nil, 0, false}, {301, nil, 0, false},
	} {
		c.mu.Lock()
		c.status, c.answer = tt.status, tt.answer
		c.mu.Unlock()
		err := s.Write(context.Background(), [][]byte{[]byte("{}"), []byte("{}"), []byte("{}")}, true)
		var r *sink.Refused
		if errors.As(err, &r) != (tt.refused > 0) || r != nil && (r.Lines != tt.refused || r.Why != "too old") || (err == nil) != tt.ok {
			t.Errorf("%d: %v", tt.status, err)
		}
	}
}

// FuzzRejected: no answer of a destination does harm.
func FuzzRejected(f *testing.F) {
	f.Add([]byte{0x0a, 0x02, 0x08, 0x05})
	f.Add([]byte{0x0a, 0xff})
	f.Fuzz(func(t *testing.T, answer []byte) {
		if n, why := rejected(answer); n < 0 || len(why) > 200 {
			t.Errorf("%d %q", n, why)
		}
	})
}
