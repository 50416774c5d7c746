package server

import (
	"context"
	"encoding/json"
	"runtime"
	"sync"
	"time"
	"weak"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/internal/tick"
)

// changesEvery is how often a server looks whether its lists are others.
const changesEvery = time.Second

// Changed tells every connected client whose list of tools is another now: in
// the versions before 2026-07-28 on the stream that a session listens on, or on
// stdio; in 2026-07-28 on a subscriptions/listen that asked for it. Several
// calls at a time become one notification. A client that is not connected asks
// again when its list has grown old. Serve and ServeStdio call it by
// themselves where Options.ListRevision says that something changed. Safe for
// concurrent use.
func (s *Server) Changed() {
	s.entrances.Range(func(entrance, _ any) bool {
		addDispatch(entrance.(*mcp.Server))
		return true
	})
}

// follow calls Changed when the revision of the lists is another, until ctx
// ends.
func (s *Server) follow(ctx context.Context) {
	if s.opt.ListRevision == nil {
		return
	}
	last := s.opt.ListRevision()
	for range tick.Every(ctx, changesEvery) {
		if now := s.opt.ListRevision(); now != last {
			last = now
			s.Changed()
		}
	}
}

// addDispatch gives the library its one tool. It is the library's only way to
// be told that the list of tools is another: adding a tool again says so to
// every session.
func addDispatch(m *mcp.Server) {
	m.AddTool(&mcp.Tool{Name: dispatchTool, InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			c, ok := ctx.Value(callKey{}).(*callInFlight)
			if !ok { // nothing reaches this but route
				return nil, internalRPC()
			}
			return c.door.call(ctx, c.req)
		})
}

// told remembers which list each session was given last, so that one whose
// list is still the same hears of no change. Sessions are not kept alive by it.
// Safe for concurrent use. The zero value is ready.
type told struct {
	mu   sync.Mutex
	last map[weak.Pointer[mcp.ServerSession]]lastTold
}

type lastTold struct {
	who  decision.Principal
	list listKey
}

// remember notes the list of a session, and who it was given to.
func (t *told) remember(session *mcp.ServerSession, who decision.Principal, list *List) {
	if session == nil {
		return
	}
	key := weak.Make(session)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.last == nil {
		t.last = map[weak.Pointer[mcp.ServerSession]]lastTold{}
	}
	if _, known := t.last[key]; !known {
		runtime.AddCleanup(session, t.forget, key)
	}
	t.last[key] = lastTold{who, list.key}
}

func (t *told) forget(key weak.Pointer[mcp.ServerSession]) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.last, key)
}

func (t *told) of(session *mcp.ServerSession) (lastTold, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	l, ok := t.last[weak.Make(session)]
	return l, ok
}

// heeding keeps the news from a session whose own list is what it was. One that
// never asked for a list hears of every change, and so does one whose list
// cannot be had now.
func (d *door) heeding(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if method != notificationChanged {
			return next(ctx, method, req)
		}
		session, ok := req.GetSession().(*mcp.ServerSession)
		if !ok {
			return next(ctx, method, req)
		}
		last, known := d.told.of(session)
		if !known {
			return next(ctx, method, req)
		}
		asking, cancel := context.WithTimeout(ctx, otherDeadline)
		defer cancel()
		if list, err := d.caller.Tools(asking, last.who); err == nil {
			if list.key == last.list {
				return nil, nil
			}
			d.told.remember(session, last.who, list)
		}
		return next(ctx, method, req)
	}
}

// listens notes which list a client has that begins to listen for changes: it
// may have asked for it over another connection.
func (d *door) listens(ctx context.Context, session *mcp.ServerSession, extra *mcp.RequestExtra, info *mcp.Implementation) {
	who := d.principal(extra, info)
	if list, err := d.caller.Tools(ctx, who); err == nil {
		d.told.remember(session, who, list)
	}
}
