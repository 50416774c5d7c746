// Package policytest holds the tests of the built-in policy as an embedded
// file system, so that "policy init" can hand them out and "policy test" can
// run them. Only package resolver reads it.
package policytest

import "embed"

// FS holds every test module, under the paths of this folder.
//
//go:embed *.rego */*.rego
var FS embed.FS
