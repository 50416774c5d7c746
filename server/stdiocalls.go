package server

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// watched is a transport that knows which calls of its client came through the
// protocol to us. Those that the library refuses by itself, because the session
// is not initialized or the parameters have another shape, are told to refused
// before they are answered.
type watched struct {
	mcp.Transport
	refused func(frame, *rpcError)

	mu      sync.Mutex
	counter uint64
	byID    map[any]*passing    // the id on the wire
	byMark  map[string]*passing // what we gave it on its way
}

// passing is a call on its way through the library.
type passing struct {
	frame   frame
	mark    string
	reached atomic.Bool
}

func (w *watched) Connect(ctx context.Context) (mcp.Connection, error) {
	conn, err := w.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &watchedConn{conn, w}, nil
}

// begin is door.begin for this client.
func (w *watched) begin(extra *mcp.RequestExtra, call bool) {
	if extra == nil || !call {
		return
	}
	w.mu.Lock()
	p := w.byMark[extra.Header.Get(requestHeader)]
	w.mu.Unlock()
	if p != nil {
		p.reached.Store(true)
	}
}

func (w *watched) came(r *jsonrpc.Request) {
	if r.Method != methodCall || !r.ID.IsValid() {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.counter++
	p := &passing{frame: frame{method: methodCall, params: []byte(r.Params)}, mark: strconv.FormatUint(w.counter, 10)}
	if w.byID == nil {
		w.byID, w.byMark = map[any]*passing{}, map[string]*passing{}
	}
	w.byID[r.ID.Raw()], w.byMark[p.mark] = p, p
	r.Extra = &mcp.RequestExtra{Header: http.Header{requestHeader: {p.mark}}}
}

func (w *watched) goes(r *jsonrpc.Response) {
	w.mu.Lock()
	p := w.byID[r.ID.Raw()]
	if p != nil {
		delete(w.byID, r.ID.Raw())
		delete(w.byMark, p.mark)
	}
	w.mu.Unlock()
	if p == nil || p.reached.Load() {
		return
	}
	bad := &rpcError{code: codeInvalidRequest, message: "the request was refused"}
	if r.Error != nil {
		bad.message = r.Error.Error()
	}
	w.refused(p.frame, bad)
}

type watchedConn struct {
	mcp.Connection
	w *watched
}

func (c *watchedConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := c.Connection.Read(ctx)
	if r, ok := m.(*jsonrpc.Request); ok && err == nil {
		c.w.came(r)
	}
	return m, err
}

func (c *watchedConn) Write(ctx context.Context, m jsonrpc.Message) error {
	if r, ok := m.(*jsonrpc.Response); ok {
		c.w.goes(r)
	}
	return c.Connection.Write(ctx, m)
}
