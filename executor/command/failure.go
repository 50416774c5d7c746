package command

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/executor/sandbox"
	"github.com/toolwarrant/toolwarrant/executor/worker"
	"github.com/toolwarrant/toolwarrant/fault"
)

// helper is what failures of commands are failures of.
const helper = "ProcessBuilder"

func fail(code fault.Code, reason, message string) *worker.Failure {
	return &worker.Failure{Code: string(code), Reason: reason, Helper: helper, Message: "[" + helper + "] " + message}
}

func interrupted() *worker.Failure {
	return fail(fault.Interrupted, "interrupted", "the call has ended")
}

// errTime ends a command for which the call has no time left.
var errTime = fault.New(fault.Timeout, "timeout", "the time limit of the call is reached")

// check says what is wrong with a command itself. Nothing of the decision
// depends on it.
func (r *Runner) check(c worker.Command) *worker.Failure {
	box := r.o.Policy.Sandbox
	if box == nil || len(box.Backends) == 0 {
		return fail(fault.Security, "sandbox-not-decided", "denied: the policy says of no sandbox that commands of this tool may run in it; nothing was started")
	}
	words := append([]string{c.Dir}, c.Argv...)
	for _, w := range words {
		if strings.ContainsRune(w, 0) {
			return fail(fault.InvalidInput, "command-zero-byte", "a word of the command has a zero byte")
		}
	}
	for _, e := range c.Env {
		if err := sandbox.CheckEnv(e[0] + "=" + e[1]); err != nil || strings.Contains(e[0], "=") {
			return fail(fault.InvalidInput, "environment", "a variable needs a name of letters, digits and _, and a value without a zero byte")
		}
		if r.o.Mask.String(e[1]) != e[1] && !r.named(e[0]) {
			return fail(fault.Security, "environment-secret", "denied: the variable "+e[0]+" has the value of a secret, and the policy does not name it for commands")
		}
	}
	return nil
}

// named reports whether the policy lets a variable of this name into commands.
func (r *Runner) named(name string) bool {
	for _, n := range r.o.Policy.Sandbox.Env {
		if n == name {
			return true
		}
	}
	return false
}

// reasonOf is why a command did not run, as the record has it.
func reasonOf(ctx context.Context, err error) string {
	if ctx.Err() != nil {
		return "interrupted"
	}
	var f *fault.Error
	if errors.As(err, &f) {
		return cmp.Or(f.Reason, "failed")
	}
	return "failed"
}

// failure is an error of a sandbox as the code is given it: without a path or
// a text of this machine. Whoever runs a command of his own is told what he can
// do about it.
func failure(ctx context.Context, err error, box *decision.Sandbox, own *Own) *worker.Failure {
	if ctx.Err() != nil {
		return interrupted()
	}
	allowed := strings.Join(box.Backends, ", ")
	var short *sandbox.Unenforceable
	var f *fault.Error
	switch {
	case errors.Is(err, errTime):
		return fail(fault.Timeout, errTime.Reason, errTime.Message)
	case errors.As(err, &f) && f.Code == fault.PolicyDenied:
		return fail(fault.Security, f.Reason, f.Message)
	case errors.As(err, &short):
		message := "nothing was started: " + short.Error() + " as the policy demands"
		if own != nil {
			message += "; \"toolwarrant sandbox backends\" shows what each does enforce, and --allow-partial goes on with that, on record"
		}
		return fail(fault.Security, sandbox.ErrUnenforceable.Reason, message)
	case errors.Is(err, sandbox.ErrUnenforceable):
		return fail(fault.Security, sandbox.ErrUnenforceable.Reason, "nothing was started: no sandbox that the policy allows ("+allowed+") enforces here what it demands")
	case errors.Is(err, sandbox.ErrUnavailable):
		return fail(fault.RuntimeError, sandbox.ErrUnavailable.Reason, "nothing was started: no sandbox that the policy allows ("+allowed+") works here; \"toolwarrant sandbox backends\" tells why")
	case errors.As(err, &f) && errors.Is(err, sandbox.ErrImage) && own != nil && own.Image != "":
		return fail(fault.InvalidInput, f.Reason, "nothing was started: the image "+own.Image+" cannot be used: "+f.Message)
	case errors.As(err, &f) && errors.Is(err, sandbox.ErrImage) && own != nil && own.Backend != "":
		return fail(fault.InvalidInput, f.Reason, "nothing was started: "+f.Message)
	case errors.Is(err, sandbox.ErrImage):
		return fail(fault.RuntimeError, sandbox.ErrImage.Reason, "nothing was started: the image that the policy names is not here")
	case errors.As(err, &f) && errors.Is(err, sandbox.ErrSpec) && own != nil:
		return fail(fault.InvalidInput, f.Reason, "nothing was started: "+f.Message+" ("+fault.Dotted(f.Pointer)+")")
	case errors.As(err, &f) && errors.Is(err, sandbox.ErrSpec) && strings.HasPrefix(f.Pointer, "/network/"):
		// Of the hosts that the document names, which its author can mend.
		return fail(fault.InvalidInput, f.Reason, "nothing was started: "+f.Message+" ("+fault.Dotted(f.Pointer)+")")
	case errors.As(err, &f) && f.Reason != "":
		return fail(fault.RuntimeError, f.Reason, "the command did not run to its end; the log of the server says more")
	}
	return fail(fault.RuntimeError, sandbox.ErrFailed.Reason, "the command did not run to its end; the log of the server says more")
}
