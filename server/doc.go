// Package server is the MCP door of toolwarrant: Streamable HTTP at /mcp for
// the protocol versions 2026-07-28, 2025-11-25, 2025-06-18, 2025-03-26 and
// 2024-11-05 on one address, and stdio.
//
// It decides nothing. Every tools/call of either protocol era and of stdio
// goes through one function (call.go) that turns the wire into an executor.Call,
// and the executor.Result back into the wire; who may see or call what, what
// has to be approved and what is recorded is behind Caller. The MCP library
// below could be replaced without touching a rule.
//
// # How a request travels
//
//	net/http -> visitor check (Host, Origin) -> frame check (size, UTF-8,
//	duplicate names, one object, no batch) -> era: the stateless handler for
//	2026-07-28, the stateful one for the older versions -> library ->
//	middleware (panic, deadline) -> Caller
//
// The library serves a protocol era per handler: only the stateless one
// speaks 2026-07-28, only the stateful one can ask a human while a call of an
// older version waits. dispatch.go chooses by the version that the request
// names.
//
// # How a list travels
//
// A list of tools can be megabytes, and clients ask for it over and over. The
// Caller gives it encoded (List), in segments that lists which are nearly alike
// share; lister.go remembers which list each caller gets, for one revision of
// policy and catalog. The library is given a word in the place of the list, and
// where its message leaves, the list is written there (splice.go). Pages end at
// Options.PageBytes; a cursor names the last tool of the page before.
//
// # What a client hears while it waits
//
// A call with a progressToken is told of its stages (progress.go), in 2026-07-28
// on a stream in the place of one JSON document. A stream without news shows
// that it lives (outlet.go). When lists change, each connected client whose own
// list is another is told (changes.go).
//
// # What it defends against
//
// Web pages: a foreign Host (DNS rebinding) or Origin is 403 on every path.
// Clients that forge an answer: inputResponses count only next to a
// requestState that package approval sealed, and in an older session, whose
// answers come by elicitation, neither counts. Clients that vanish: every
// handler has a deadline, a dropped connection cancels its call, sessions
// expire. Hostile bytes: frames are checked before the library sees them, and
// a panic ends one request, never the process. Without authentication the
// server listens on loopback only (CheckAddr).
//
// Only cmd, bench and internal/conformance import this package. Governed
// (governed.go) is the Caller of an open installation; nothing else here knows
// package service. Speaker and Extension are for those who speak the protocol
// themselves; the conformance suite is served so.
package server
