// Package rego holds the built-in decision policy as an embedded file system:
// Rego modules, their settings in data.json, and nothing else. Only package
// resolver reads it.
package rego

import "embed"

// FS holds every module and data.json, under the paths of this folder.
//
//go:embed data.json *.rego */*.rego
var FS embed.FS
