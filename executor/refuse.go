package executor

import (
	"context"

	"github.com/toolwarrant/toolwarrant/fault"
)

// Refuse records a call that its transport refused before it could be made: a
// message that breaks the protocol, and of which only the tool's name is
// known, if that. Nothing is looked up, decided or run. It never panics.
func (e *Engine) Refuse(ctx context.Context, in Call, f *fault.Error) Result {
	in.Args = nil // what they mean, and what of them is secret, only a tool could say
	return e.record(ctx, e.receive(in), f)
}
