// Package cue holds, as an embedded file system, every format that
// toolwarrant stores or exchanges, and the baseline and profiles of the
// built-in policy.
package cue

import "embed"

// FS holds the CUE package.
//
//go:embed *.cue cue.mod/*.cue profiles/*.cue
var FS embed.FS

//go:generate go run ../internal/schemagen ../schemas
