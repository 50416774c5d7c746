// Package schemas holds the JSON Schemas (draft 2020-12) of the formats of
// toolwarrant, as an embedded file system. Every file is generated from the
// CUE package under cue/ by go generate; none is edited by hand.
package schemas

import "embed"

// FS holds *.json.
//
//go:embed *.json
var FS embed.FS
