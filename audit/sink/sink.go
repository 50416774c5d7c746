// Package sink is what the places have in common that the audit log is sent
// to. Each place is a package below it and an audit.Sink: Write returns nil
// when the destination has the lines, and only then. Package spool keeps the
// lines of one on disk until then.
//
// The errors here tell a spool what an ordinary failure does not: that lines
// will never be taken, or when to come back.
package sink

import (
	"fmt"
	"time"
)

// TooLarge is the failure of a batch that the destination takes in smaller
// ones alone, or, where it is one line, never.
type TooLarge struct{ Err error }

// Error implements error.
func (e *TooLarge) Error() string { return e.Err.Error() }

// Unwrap gives the cause.
func (e *TooLarge) Unwrap() error { return e.Err }

// Later is a failure that ends, by the word of the destination, after a time.
type Later struct {
	After time.Duration
	Err   error
}

// Error implements error.
func (e *Later) Error() string { return e.Err.Error() }

// Unwrap gives the cause.
func (e *Later) Unwrap() error { return e.Err }

// Refused says that the destination took the batch except for some lines,
// which it will never take.
type Refused struct {
	Lines int64
	Why   string // the destination's own words
}

// Error implements error.
func (e *Refused) Error() string {
	return fmt.Sprintf("the destination refused %d lines: %q", e.Lines, e.Why)
}
