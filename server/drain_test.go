package server

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rs/zerolog"

	"github.com/toolwarrant/toolwarrant/approval"
	"github.com/toolwarrant/toolwarrant/fault"
)

// TestDrainWhileAsked: where the process ends before a human has answered, the
// model is not told that they refused, and neither is the record.
func TestDrainWhileAsked(t *testing.T) {
	i := install(t, map[string]map[string]any{"t_ask": askingTool(gives)})
	s := New(Options{Caller: Governed(i.Service), DrainTimeout: 50 * time.Millisecond, Logger: zerolog.Nop()})
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, ln) }()
	asked := make(chan struct{})
	cs := connect(t, "http://"+ln.Addr().String()+"/mcp", newestLegacy, "a", func(ctx context.Context, _ *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		close(asked)
		<-ctx.Done()
		return nil, ctx.Err()
	})
	result := make(chan *mcp.CallToolResult, 1)
	go func() {
		res, _ := cs.CallTool(context.Background(), &mcp.CallToolParams{Name: "t_ask", Arguments: map[string]any{"a": "1"}})
		result <- res
	}()
	<-asked
	stop()
	res := <-result
	if res == nil || !res.IsError || !strings.HasPrefix(text(res), "INTERRUPTED (stopping): ") || strings.Contains(text(res), "Do not call it again") || !strings.Contains(text(res), "again in a moment") {
		t.Errorf("its client got %+v %s", res, text(res))
	}
	if err := <-ended; fault.From(err).Code != fault.Interrupted || fault.From(err).Reason != "drain" {
		t.Errorf("Serve: %v", err)
	}
	if n := i.count("t_ask", fault.Interrupted); n != 1 {
		t.Errorf("records: %+v", i.endings())
	}
	all, err := i.Approvals.List(context.Background())
	if err != nil || len(all) != 1 || all[0].State != approval.StateCancelled {
		t.Errorf("%+v, %v", all, err)
	}
	if n := i.runs("t_ask"); n != 0 {
		t.Errorf("ran %d times", n)
	}
}
