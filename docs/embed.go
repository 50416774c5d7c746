// Package docs carries the pages of docs/rules inside the program, so that a
// report can say what a rule is for where no network is. It holds text alone.
package docs

import "embed"

// Rules has one page, rules/<id>.md, for each rule.
//
//go:embed rules/*.md
var Rules embed.FS
