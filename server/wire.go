package server

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Extension adds to the library's side of every entrance what this package has
// no use for: prompts, resources, completion, logging. It cannot add tools nor
// answer a call: every tools/call goes to the Caller, whatever the library
// knows. The zero value adds nothing.
type Extension struct {
	// Options changes the options of an entrance before it is made.
	Options func(*mcp.ServerOptions)
	// Features adds features to an entrance; it is called once for each.
	Features func(*mcp.Server)
	// Events keeps the events of the sessions before 2026-07-28, so that a stream
	// that broke can be taken up again: then a broken stream ends no call. nil =
	// it does.
	Events mcp.EventStore
	// OwnProgress means that the Caller notifies of progress by itself.
	OwnProgress bool
}

// Wire is the answer to a call as the library sends it: Err, if it is not nil,
// as a JSON-RPC error, else Result.
type Wire struct {
	Result *mcp.CallToolResult
	Err    error
}

type wireKey struct{}

func withWire(ctx context.Context, req *mcp.CallToolRequest) context.Context {
	return context.WithValue(ctx, wireKey{}, req)
}

// WireRequest gives a Caller that speaks the protocol itself the request that
// its call came with, with the session to notify and to ask over. nil outside
// of a call. Nothing of it has been checked.
func WireRequest(ctx context.Context) *mcp.CallToolRequest {
	req, _ := ctx.Value(wireKey{}).(*mcp.CallToolRequest)
	return req
}
