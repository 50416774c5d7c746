package executor

import (
	"context"

	"github.com/toolwarrant/toolwarrant/executor/worker"
)

// Runtime runs one program under the limits it is given. Implementations live
// in sub-packages (executor/process, executor/js). Run must end the code at
// the time limit of the call, must return soon after that or after ctx ends,
// must not panic, and must be safe for concurrent use; a Failure inside the
// Reply is the program's, an error is the runtime's own: the code did not run.
type Runtime interface {
	Run(ctx context.Context, call worker.Call, broker worker.Broker) (worker.Reply, error)
	// Isolation is what confines every call of this runtime.
	Isolation() worker.Isolation
	// Close ends the runtime; calls that still run are interrupted.
	Close() error
}
