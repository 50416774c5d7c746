package broker

import (
	"context"
	"encoding/json"

	"github.com/toolwarrant/toolwarrant/executor/worker"
	"github.com/toolwarrant/toolwarrant/fault"
)

// ProcessHelper is the helper name in the failures of commands.
const ProcessHelper = "ProcessBuilder"

// ProcessClass is the class that code needs for a command.
const ProcessClass = "java.lang.ProcessBuilder"

// Bounds of one command, as the code may ask for it.
const (
	maxWords = 4096
	maxInput = 16 << 20
)

// Commands runs the commands of one call in its sandbox. It is safe for
// concurrent use; what it returns is masked already.
type Commands interface {
	Run(ctx context.Context, c worker.Command) (worker.CommandResult, *worker.Failure)
}

// processRun runs a command where the class that starts them may be looked up.
// The worker may not have asked for it: the grant is checked here.
func processRun(ctx context.Context, b *Broker, in *args) (json.RawMessage, *worker.Failure) {
	if refused := b.class.Check(ProcessClass); refused != nil {
		return nil, refused
	}
	var c worker.Command
	if in.options(0, &c); in.fail != nil {
		return nil, in.fail
	}
	switch {
	case len(c.Argv) == 0 || c.Argv[0] == "":
		return nil, fail(fault.InvalidInput, ProcessHelper, "command-empty", "there is no command: give its name and its arguments, as in new ProcessBuilder(\"python3\", \"-c\", code)")
	case len(c.Argv) > maxWords || len(c.Input) > maxInput || len(c.Env) > maxWords:
		return nil, fail(fault.InvalidInput, ProcessHelper, "command-too-large", "a command has at most 4096 words, 4096 variables and 16 MiB of input")
	}
	if b.opts.Commands == nil {
		return nil, fail(fault.RuntimeError, ProcessHelper, "sandbox-unavailable", "this installation runs no commands: it has no sandbox; nothing was started")
	}
	return reply(b.opts.Commands.Run(ctx, c))
}
