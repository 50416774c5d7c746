package server

import (
	"context"
	"encoding/json"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rs/zerolog"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/fault"
)

const (
	// dispatchTool is the one tool that the library knows. Every tools/call
	// is sent through it, so that the library sets the result type; its name
	// is never shown, and a client that calls it calls an unknown tool.
	dispatchTool = "toolwarrant-dispatch"
	// otherDeadline bounds every method that is not a tool call.
	otherDeadline = 30 * time.Second
	// listTTL is how long a client may use a list before it asks again.
	listTTL = 5 * time.Second
	// listPage bounds the tools of one page of a list, in bytes.
	listPage = 4 << 20
)

// door is one entrance: an MCP server of the library with our middleware.
type door struct {
	caller   Caller
	origin   decision.Origin
	log      zerolog.Logger
	deadline func(tool string) time.Duration
	// stop ends when the process gives up on calls that still run.
	stop context.Context
	// drop gives the context that ends when nobody waits for the answer to a
	// request any more; gone, the one after which no answer of the client to
	// a question can arrive.
	drop, gone func(*mcp.RequestExtra) context.Context
	// who gives the authenticated principal of a request; false where nobody
	// was asked.
	who func(*mcp.RequestExtra) (decision.Principal, bool)
	// mustKnow is that everybody is asked: who is not known is nobody.
	mustKnow bool
	// expect has the list of a stand written where the answer to a request
	// leaves; false when it cannot be, and the answer has to carry it.
	expect func(*mcp.RequestExtra, stand) bool
	// arrived is told of a session that begins; nil = nobody is.
	arrived func(*mcp.RequestExtra, *mcp.ServerSession)
	page    int // bytes of the tools in one page of a list
	// begin notes that a request has come through the protocol to us.
	begin func(extra *mcp.RequestExtra, call bool)
	every time.Duration // between two notes of progress
	told  *told
	ext   Extension
}

type callKey struct{}

// callInFlight is a call on its way through the library to call.
type callInFlight struct {
	door *door
	req  *mcp.CallToolRequest
}

// server makes the library's side of the door.
func (d *door) server(name, version string) *mcp.Server {
	opt := &mcp.ServerOptions{
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{ListChanged: true}},
		Logger:       d.slog(),
		SetCacheable: func(_ context.Context, _ mcp.Request, c *mcp.Cacheable) { c.CacheScope = "private" },
	}
	if d.ext.Options != nil {
		d.ext.Options(opt)
	}
	s := mcp.NewServer(&mcp.Implementation{Name: name, Version: version}, opt)
	addDispatch(s)
	if d.ext.Features != nil {
		d.ext.Features(s)
	}
	// The first one is the outermost.
	s.AddReceivingMiddleware(d.recovering, d.bounded, d.identified, d.route)
	s.AddSendingMiddleware(d.heeding)
	return s
}

// recovering ends one request where a panic would end the process.
func (d *door) recovering(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (res mcp.Result, err error) {
		defer func() {
			if p := recover(); p != nil {
				d.log.Error().Str("method", method).Str("panic", panicText(p)).Bytes("stack", debug.Stack()).Msg("panic in a request")
				res, err = nil, internalRPC()
			}
		}()
		return next(ctx, method, req)
	}
}

// bounded gives every request a deadline and ends it early when its client is
// gone or the process stops. Without it, a question whose client vanished
// would hold its handler and its session for ever: closing the session waits
// for the handler, and the handler for the answer.
func (d *door) bounded(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		limit := otherDeadline
		r, call := req.(*mcp.CallToolRequest)
		if call && r.Params != nil {
			limit = d.deadline(r.Params.Name)
		}
		d.begin(req.GetExtra(), call)
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		if method != methodListen { // who listens for changes does so until it leaves
			var stop context.CancelFunc
			ctx, stop = context.WithTimeout(ctx, limit)
			defer stop()
		}
		defer context.AfterFunc(d.drop(req.GetExtra()), func() { cancel(errGone) })()
		defer context.AfterFunc(d.stop, func() { cancel(errStopping) })()
		return next(ctx, method, req)
	}
}

// route serves what the library must not: the list, which depends on who
// asks, and the call.
func (d *door) route(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		switch method {
		case methodList:
			if r, ok := req.(*mcp.ListToolsRequest); ok {
				return d.list(ctx, r)
			}
			return nil, internalRPC()
		case methodCall:
			r, ok := req.(*mcp.CallToolRequest)
			if !ok || r.Params == nil {
				return nil, internalRPC()
			}
			// The library must see neither the name nor the answers: it only
			// wraps what d.call gives.
			inner := &mcp.CallToolRequest{Session: r.Session, Extra: r.Extra,
				Params: &mcp.CallToolParamsRaw{Meta: r.Params.Meta, Name: dispatchTool}}
			return next(context.WithValue(ctx, callKey{}, &callInFlight{d, r}), method, inner)
		case methodListen:
			if r, ok := req.(*mcp.SubscriptionsListenRequest); ok {
				d.listens(ctx, r.Session, r.Extra, r.ClientInfo())
			}
		case "initialize":
			legacyInitialize(req)
			if session, ok := req.GetSession().(*mcp.ServerSession); ok && d.arrived != nil {
				d.arrived(req.GetExtra(), session)
			}
		}
		return next(ctx, method, req)
	}
}

// list serves tools/list from what the policy lets this caller see.
func (d *door) list(ctx context.Context, req *mcp.ListToolsRequest) (mcp.Result, error) {
	cursor := ""
	if req.Params != nil {
		cursor = req.Params.Cursor
	}
	after, ok := placeOf(cursor)
	if !ok {
		return nil, &jsonrpc.Error{Code: codeInvalidParams, Message: "unknown cursor: use the nextCursor of the page before, or none to begin anew"}
	}
	who := d.principal(req.Extra, req.ClientInfo())
	tools, err := d.caller.Tools(ctx, who)
	if err != nil {
		f := fault.From(err)
		d.log.Error().Err(err).Msg("tools/list failed")
		data, _ := json.Marshal(map[string]string{"code": string(f.Code), "reason": f.Reason})
		return nil, &jsonrpc.Error{Code: codeInternal, Message: f.Message, Data: data}
	}
	if req.ProtocolVersion() < modernVersion { // later ones have sessions of one request
		d.told.remember(req.Session, who, tools)
	}
	parts, next := tools.page(after, d.page)
	res := listed{ListToolsResult: &mcp.ListToolsResult{
		Cacheable:  mcp.Cacheable{TTLMs: int(listTTL.Milliseconds()), CacheScope: "private"},
		NextCursor: cursorFor(next),
	}}
	s := newStand(parts)
	if res.Tools = s.word; !d.expect(req.Extra, s) {
		res.Tools = s.whole()
	}
	return res, nil
}

func internalRPC() error {
	return &jsonrpc.Error{Code: codeInternal, Message: "internal error"}
}

// slog gives the library a logger: its warnings and errors, as debug lines,
// since nearly all of them are about what clients do wrong.
func (d *door) slog() *slog.Logger {
	if max(d.log.GetLevel(), zerolog.GlobalLevel()) > zerolog.DebugLevel {
		return slog.New(slog.DiscardHandler)
	}
	return slog.New(zerolog.NewSlogHandler(d.log.With().Str("from", "mcp library").Logger()))
}
