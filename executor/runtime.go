package executor

import (
	"context"

	"github.com/toolwarrant/toolwarrant/executor/worker"
)

// Runtime runs one program under the limits it is given. Implementations live
// in sub-packages (executor/js). Run must return soon after ctx ends, must not
// panic, and must be safe for concurrent use; a Failure inside the Reply is
// the program's, an error is the runtime's own.
type Runtime interface {
	Run(ctx context.Context, call worker.Call, broker worker.Broker) (worker.Reply, error)
	// Isolation is what confines every call of this runtime.
	Isolation() worker.Isolation
	// Close ends the runtime; calls that still run are interrupted.
	Close() error
}
