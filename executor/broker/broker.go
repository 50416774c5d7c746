// Package broker serves the effects of one call: it is the executor's end of
// worker.Broker, and the only way from the code to the network, the files, the
// parsers and the class gate.
//
// It owns the wire form of each operation (documented in ops.go), the count of
// operations, and the ledger of what was used. What an operation may do is
// decided in the gate that it calls (executor/class, egress, filesystem,
// parser) against the decision that the Broker was made with; that the worker
// installs no fetch where there is no grant is a courtesy, not the check.
//
// Threat model: the worker that asks is hostile. It may send any operation in
// any number, at any size and at once, whatever the program was granted. Every
// request is decoded strictly under a size cap, unknown operations are
// refused, a panic ends one operation and not the process, and no answer shows
// a path, an address or an error text of this machine.
package broker

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"sync/atomic"

	"github.com/rs/zerolog"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/executor/class"
	"github.com/toolwarrant/toolwarrant/executor/egress"
	"github.com/toolwarrant/toolwarrant/executor/filesystem"
	"github.com/toolwarrant/toolwarrant/executor/worker"
	"github.com/toolwarrant/toolwarrant/fault"
)

// Limits of one call. They are not policy: no document can raise them.
const (
	MaxOps     = worker.MaxOps
	MaxRequest = 16 << 20 // bytes of the arguments of one operation
	MaxReply   = 32 << 20 // bytes of the result of one operation
	maxAtOnce  = 4        // operations that run at the same time
)

// Fetcher answers requests in place of the network, for a Local Pass from
// recorded exchanges. Host rules of the policy are checked before it is asked;
// it returns the whole body, and the Broker cuts the part that was asked for.
type Fetcher interface {
	Fetch(ctx context.Context, req egress.Request) (*egress.Response, *worker.Failure)
}

// Options are what the operator sets for every call. The zero value is ready.
type Options struct {
	Resolver  string         // DNS server as host:port; "" = the system's
	Workspace string         // a base folder that is made when missing; "" = none
	Roots     []string       // folders under which a base folder may lie; empty = anywhere
	UserAgent string         // of fetch; "" = toolwarrant
	Fetcher   Fetcher        // nil = the network
	Commands  Commands       // what runs commands; nil = none can be run
	Logger    zerolog.Logger // for defects of toolwarrant itself
	// Egress overrides the network for tests: resolver, roots, addresses.
	Egress *egress.Options
}

// Ledger is what the call used of the world, refused attempts included.
type Ledger struct {
	Egress []egress.Entry
	FS     []filesystem.Entry
}

// Broker serves one call. It is safe for concurrent use.
type Broker struct {
	class  class.Gate
	egress *egress.Client
	files  *filesystem.FS
	opts   Options
	ops    atomic.Int64
	slots  chan struct{}
}

var _ worker.Broker = (*Broker)(nil)

// New makes the Broker of one call under its decision. It opens nothing yet;
// the error is reserved for decisions that cannot be served.
func New(policy decision.EffectivePolicy, opts Options) (*Broker, error) {
	var eg egress.Options
	if opts.Egress != nil {
		eg = *opts.Egress
	}
	if eg.Resolver == nil && opts.Resolver != "" {
		eg.Resolver = egress.NewResolver(opts.Resolver)
	}
	if eg.UserAgent == "" {
		eg.UserAgent = opts.UserAgent
	}
	create := opts.Workspace != "" && opts.Workspace == policy.FS.BasePath
	return &Broker{
		class:  class.New(policy.AllowClasses, policy.DenyClasses),
		egress: egress.New(policy.Network, eg),
		files:  filesystem.New(policy.FS, filesystem.Options{Create: create, Roots: opts.Roots}),
		opts:   opts,
		slots:  make(chan struct{}, maxAtOnce),
	}, nil
}

// Ledger gives what was used so far, in order.
func (b *Broker) Ledger() Ledger { return Ledger{Egress: b.egress.Ledger(), FS: b.files.Ledger()} }

// Close gives back what the call held open. Operations asked for later fail.
func (b *Broker) Close() error { return b.files.Close() }

// Do serves one operation. It never panics and returns soon after ctx ends.
func (b *Broker) Do(ctx context.Context, req worker.BrokerRequest) (reply worker.BrokerReply) {
	defer func() {
		if p := recover(); p != nil {
			b.opts.Logger.Error().Str("op", string(req.Op)).Str("panic", fmt.Sprintf("%T", p)).Bytes("stack", debug.Stack()).Msg("an operation of the broker panicked")
			reply = refuse(fault.HelperRuntime, "", "internal", "the operation failed inside toolwarrant")
		}
	}()
	serve, ok := operations[req.Op]
	if !ok {
		return refuse(fault.Security, "", "unknown-operation", "denied: there is no such operation")
	}
	if b.ops.Add(1) > MaxOps {
		return refuse(fault.ResourceLimit, "", "operations", "the call used more than 10000 helper operations")
	}
	if len(req.Args) > MaxRequest {
		return refuse(fault.InvalidInput, helperOf(req.Op), "request-too-large", "the arguments are larger than 16 MiB")
	}
	select {
	case b.slots <- struct{}{}:
		defer func() { <-b.slots }()
	case <-ctx.Done():
	}
	if ctx.Err() != nil {
		return refuse(fault.HelperRuntime, helperOf(req.Op), "interrupted", "the call has ended")
	}
	in, fail := decodeArgs(req)
	if fail == nil {
		var out json.RawMessage
		if out, fail = serve(ctx, b, in); fail == nil {
			if len(out) <= MaxReply {
				return worker.BrokerReply{Result: out}
			}
			return refuse(fault.HelperRuntime, helperOf(req.Op), "result-too-large", "the result is larger than 32 MiB")
		}
	}
	return worker.BrokerReply{Failure: fail}
}

func refuse(code fault.Code, helper, reason, message string) worker.BrokerReply {
	return worker.BrokerReply{Failure: fail(code, helper, reason, message)}
}

func fail(code fault.Code, helper, reason, message string) *worker.Failure {
	if helper != "" {
		message = "[" + helper + "] " + message
	}
	return &worker.Failure{Code: string(code), Reason: reason, Helper: helper, Message: message}
}
