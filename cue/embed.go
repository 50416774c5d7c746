// Package cue holds, as an embedded file system, every format that
// toolwarrant stores or exchanges, and the baseline and the profiles of the
// built-in policy.
//
// The .cue files are the source: the JSON Schemas in package schemas are
// generated from them, and the tests here hold the Go types, the enumerations
// in Go and what programs really write against them. A format only grows:
// members and words are added, none is changed or taken away, and what a
// later version will fill is there from the start, null.
//
// Two readers meet here. Compliance edits baseline.cue, bindings.cue and
// profiles/; the shape of those is policy.cue. Everything else describes
// documents. Nothing evaluates document formats in CUE while toolwarrant
// runs: names that an author or a caller chose would become CUE labels, and
// CUE keeps labels for the life of the process. Documents are checked with
// the generated schemas instead.
//
// Any package may import this one; it imports nothing.
package cue

import "embed"

// FS holds the CUE module: *.cue, profiles/*.cue and cue.mod.
//
//go:embed *.cue cue.mod/*.cue profiles/*.cue
var FS embed.FS

//go:generate go run ../internal/schemagen ../schemas
