package server

import "github.com/modelcontextprotocol/go-sdk/mcp"

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
}
