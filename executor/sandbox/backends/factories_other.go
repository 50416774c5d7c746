//go:build !linux

package backends

import (
	"github.com/toolwarrant/toolwarrant/executor/sandbox"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/plain"
)

// makers are that of the one that confines nothing: what confines is made of
// what Linux has.
func makers(Options) []maker {
	return []maker{{plain.ID, func() sandbox.Factory { return plain.Factory{} }}}
}
