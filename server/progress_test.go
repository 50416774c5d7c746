package server

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// heard collects what a client is notified of.
type heard struct {
	mu       sync.Mutex
	progress []*mcp.ProgressNotificationParams
	changes  int
}

func (h *heard) options(human elicit) *mcp.ClientOptions {
	o := &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.progress = append(h.progress, r.Params)
		},
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.changes++
		},
	}
	if human != nil {
		o.ElicitationHandler = human
	}
	return o
}

func (h *heard) stages() (stages []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, p := range h.progress {
		if len(stages) == 0 || stages[len(stages)-1] != p.Message {
			stages = append(stages, p.Message)
		}
	}
	return stages
}

func (h *heard) changed() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.changes
}

// clients connects one client per version over HTTP, and one of each era over
// stdio, to servers that fast makes quick to tell.
func clients(t *testing.T, f Caller, human elicit, test func(t *testing.T, s *Server, h *heard, cs *mcp.ClientSession)) {
	client := func(h *heard) *mcp.Client {
		return mcp.NewClient(&mcp.Implementation{Name: "agent", Version: "1"}, h.options(human))
	}
	for _, v := range versions {
		t.Run("http "+v, func(t *testing.T) {
			s, url := start(t, f)
			s.setPace(2*time.Millisecond, 5*time.Millisecond)
			h := &heard{}
			cs, err := client(h).Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: url, MaxRetries: -1}, &mcp.ClientSessionOptions{ProtocolVersion: v})
			if err != nil {
				t.Fatal(err)
			}
			defer cs.Close()
			test(t, s, h, cs)
		})
	}
	for _, v := range versions[:2] {
		t.Run("stdio "+v, func(t *testing.T) {
			s := New(Options{Caller: f, Name: "test"})
			s.setPace(2*time.Millisecond, 5*time.Millisecond)
			inR, inW := io.Pipe()
			outR, outW := io.Pipe()
			ended := make(chan error, 1)
			go func() {
				ended <- s.ServeStdio(context.Background(), inR, outW)
				outW.Close()
			}()
			h := &heard{}
			cs, err := client(h).Connect(t.Context(), &mcp.IOTransport{Reader: outR, Writer: inW, MaxLineLength: -1}, &mcp.ClientSessionOptions{ProtocolVersion: v})
			if err != nil {
				t.Fatal(err)
			}
			test(t, s, h, cs)
			cs.Close()
			inW.Close()
			// Who still listens is told of the end, and the client no longer reads.
			if err := <-ended; err != nil && !errors.Is(err, io.ErrClosedPipe) {
				t.Error(err)
			}
		})
	}
}

// setPace makes a server tell more often; for doors that are opened afterwards
// and for those over HTTP.
func (s *Server) setPace(progress, beat time.Duration) {
	s.every, s.beat = progress, beat
	s.http.every = progress
}

// A client that asks for it hears of every stage, in growing numbers, and a
// stage that lasts is told again.
func TestProgress(t *testing.T) {
	f := newFake()
	human := func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		time.Sleep(20 * time.Millisecond) // so that it is told more than once
		return &mcp.ElicitResult{Action: "accept"}, nil
	}
	clients(t, f, human, func(t *testing.T, _ *Server, h *heard, cs *mcp.ClientSession) {
		params := &mcp.CallToolParams{Name: "danger", Meta: mcp.Meta{"progressToken": "p1"}}
		res, err := cs.CallTool(t.Context(), params)
		if err != nil || res.IsError {
			t.Fatalf("%v %v", err, res)
		}
		want := []string{stageStarted, stageWaiting, stageRunning}
		if cs.InitializeResult().ProtocolVersion >= modernVersion {
			want = []string{stageStarted, stageStarted, stageRunning} // the client asks between two requests
		}
		settles(t, "the stages do not come", func() bool { return slices.Contains(h.stages(), want[2]) })
		for _, s := range want {
			if !slices.Contains(h.stages(), s) {
				t.Errorf("%v lacks %q", h.stages(), s)
			}
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		last := 0.0
		for i, p := range h.progress {
			if p.ProgressToken != "p1" || p.Total != 0 {
				t.Errorf("%+v", p)
			}
			if p.Progress <= last && p.Progress != 1 { // a request that comes back begins anew
				t.Errorf("number %d is %v after %v", i, p.Progress, last)
			}
			last = p.Progress
		}
		h.progress = nil
	})
}

// Nobody is told who did not ask, and nothing is told after the end.
func TestNoProgress(t *testing.T) {
	f := newFake()
	clients(t, f, nil, func(t *testing.T, _ *Server, h *heard, cs *mcp.ClientSession) {
		for _, meta := range []mcp.Meta{nil, {"progressToken": nil}, {"progressToken": true}, {"progressToken": map[string]any{}}} {
			res, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: "echo", Meta: meta})
			if err != nil || res.IsError {
				t.Fatalf("%v: %v %v", meta, err, res)
			}
		}
		if got := h.stages(); len(got) > 0 {
			t.Errorf("told of %v", got)
		}
	})
	n := 0
	p := newProgress(time.Millisecond, func(float64, string) { n++ })
	p.stop()
	p.stop()
	was := n
	p.stage("late")
	time.Sleep(10 * time.Millisecond)
	if n != was {
		t.Error("told after the end")
	}
	(*progress)(nil).stage("x")
	(*progress)(nil).stop()
}

// Stages never wait for a client that does not take them.
func TestProgressDoesNotWait(t *testing.T) {
	block := make(chan struct{})
	p := newProgress(time.Hour, func(float64, string) { <-block })
	for range 100 {
		p.stage("x")
	}
	close(block)
	p.stop()
}

// A client hears of a change when it is one for it, and only then.
func TestChanges(t *testing.T) {
	f := &changing{fake: newFake()}
	clients(t, f, nil, func(t *testing.T, s *Server, h *heard, cs *mcp.ClientSession) {
		if _, err := cs.ListTools(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		if cs.InitializeResult().ProtocolVersion >= modernVersion {
			// The client of the library listens by itself; it has to have begun.
			settles(t, "nobody listens", func() bool { return s.told.size() > 0 })
		} else {
			time.Sleep(50 * time.Millisecond) // its stream may still be opening
		}
		s.Changed()
		time.Sleep(50 * time.Millisecond)
		if n := h.changed(); n != 0 {
			t.Errorf("told %d times of nothing", n)
		}
		f.more.Store(!f.more.Load())
		s.Changed()
		settles(t, "the change is not told", func() bool { return h.changed() == 1 })
	})
}

// size is how many sessions are known.
func (t *told) size() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.last)
}
