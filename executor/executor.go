// Package executor is the governed call: one pipeline below every transport
// that looks a tool up, validates its arguments, decides, asks a human where
// the decision says so, runs the code under exactly that decision and records
// what happened.
//
// It owns the order of these steps and the promise that every exit leaves
// exactly one close record, durable before the answer. What each step does
// lives in the package of its name: resolver decides, approval asks,
// the sub-packages of executor enforce, audit records. Transports hold no
// domain logic: they turn their wire into a Call and a Result into their
// wire.
//
// Threat model: the arguments come from a model, the code from a stranger,
// the approval state from a client. None of them is believed. A panic in any
// step becomes an INTERNAL error of that call and never leaves this package.
package executor

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/rs/zerolog"
	"go.opentelemetry.io/otel/trace"

	"github.com/toolwarrant/toolwarrant/approval"
	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/catalog"
	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/executor/broker"
	"github.com/toolwarrant/toolwarrant/executor/command"
	"github.com/toolwarrant/toolwarrant/executor/mask"
	"github.com/toolwarrant/toolwarrant/executor/secret"
	"github.com/toolwarrant/toolwarrant/executor/worker"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/keyring"
	"github.com/toolwarrant/toolwarrant/resolver"
)

// Catalog is what the pipeline needs of a tool catalog.
type Catalog interface {
	// Lookup finds a tool in any state; NOT_FOUND when there is none.
	Lookup(ctx context.Context, nameOrID string) (*catalog.Tool, error)
	// Exposed says whether the tool is served, and why not.
	Exposed(t *catalog.Tool) (bool, string)
}

// Policy decides. *resolver.Resolver is one.
type Policy interface {
	Resolve(ctx context.Context, req resolver.Request) (*decision.Decision, error)
	Visible(ctx context.Context, p decision.Principal, tools []resolver.Tool) ([]bool, error)
	// Artefact is the text of a policy that decided.
	Artefact(revision string) (resolver.Artefact, bool)
}

// Observer counts what happens. It is safe for concurrent use.
type Observer interface {
	// Decided counts an answer of the policy in force to a call: allowed,
	// denied, rejected by the layers, hidden, or failed.
	Decided(outcome string)
	// Shadowed counts what the record of a call says of the shadow: one of the
	// kinds of impact, or failed.
	Shadowed(result string)
}

// Components are the parts of an Engine. All are required but Shadow,
// Observer and Logger.
type Components struct {
	Catalog  Catalog
	Policy   Policy
	Shadow   Shadow   // asked too and not enforced; nil = none
	Observer Observer // nil = nobody counts
	// ShadowPatience is how long the record of a call that has ended waits for
	// the shadow, which is asked while the call goes on.
	ShadowPatience time.Duration
	Approvals      *approval.Gate
	Audit          audit.Log
	Runtime        Runtime
	Secrets        *secret.Resolver
	Keys           keyring.Keyring
	// Known are the secrets of the whole installation, for the record of a call
	// that is of no tool; nil = none. It is cheap.
	Known func() *mask.Set
	// Broker are the options of the gate to the network and the files.
	Broker broker.Options
	// Sandboxes are where commands of tools run; nil = there are none, and no
	// command starts.
	Sandboxes *command.Sandboxes
	Now       func() time.Time
	Logger    zerolog.Logger
	// Admission bounds what is worked on at one time; nil = any number of calls.
	Admission *Admission
	Meter     Meter        // nil = nobody counts
	Tracer    trace.Tracer // nil = there are no traces, which then cost nothing
}

// Engine runs governed calls. It is safe for concurrent use.
type Engine struct {
	Components
	limits   limiter
	refusals refusals      // of callers who are not known
	entered  sync.Map      // digests of specs, and revisions of policies, that are in the audit chain
	shadows  chan struct{} // a place for each call about which the shadow is asked
}

// New checks that the components are there.
func New(c Components) (*Engine, error) {
	if c.Catalog == nil || c.Policy == nil || c.Approvals == nil || c.Audit == nil ||
		c.Runtime == nil || c.Secrets == nil || c.Keys == nil || c.Now == nil {
		return nil, fault.New(fault.Internal, "components", "the executor was built without one of its parts")
	}
	return &Engine{Components: c, shadows: make(chan struct{}, maxShadowing)}, nil
}

// Call is one request to run a tool, as a transport understood it.
type Call struct {
	Principal decision.Principal
	Origin    decision.Origin
	Name      string          // the tool's name or toolId
	Args      json.RawMessage // as received, not validated; nil means {}
	TraceID   string
	// TraceParent is the W3C traceparent that TraceID was taken from, "" = none:
	// the parent of the spans of this call.
	TraceParent string

	// Asker reaches the human behind the caller, nil when the client cannot
	// be asked.
	Asker approval.Asker
	// State is the sealed state that the client brought back, Answer what it
	// says the human answered. Without State an Answer counts for nothing.
	State  string
	Answer approval.Action

	// Running is called just before the code runs; nil when nobody wants to
	// know. It must not wait.
	Running func()

	Own
}

// Own is what a call of somebody's own document has besides: of the author's
// run or test of it. No transport to the network sets any of it.
type Own struct {
	// Unpublished is a document that is run without being in the catalog.
	Unpublished *catalog.Tool

	// TestMode says where the fetches of a Local Pass go, live or fixture, for
	// the record; "" for any other call.
	TestMode string
	// Fixtures answer fetches in place of the network; for a Local Pass only.
	Fixtures broker.Fetcher
	// FixtureEnv, where it is not empty, has the values of placeholders in
	// place of the secrets; for a Local Pass against Fixtures only.
	FixtureEnv map[string]string
	// Sandbox is what whoever is at the terminal adds to that of the commands;
	// with Unpublished only.
	Sandbox *command.Own
	// Workspace, where it is not empty, is the folder that file tools see in
	// place of the decided one; for a Local Pass only.
	Workspace string
}

// Result is how a call ended, already masked: all of it may leave.
type Result struct {
	CallID   string
	Outcome  fault.Outcome
	Value    json.RawMessage // JSON, "null" when the code returned nothing
	Err      *fault.Error    // nil when Outcome is OK
	Logs     []worker.LogLine
	Decision *decision.Decision
	// ApprovalID names the question that the call waits for, with
	// APPROVAL_PENDING.
	ApprovalID string
	// InputRequired is set, and Outcome empty, when the transport has to ask
	// the client and the client will come back with State. The call is then
	// not settled.
	InputRequired *InputRequired
	// RetryAfterMs is when another attempt makes sense: with APPROVAL_PENDING,
	// and with RATE_LIMITED where it is known; else 0.
	RetryAfterMs int64
	// Note says what a caller has to know of the result: that it is the outcome
	// of an earlier call, or that the approver changed the arguments. "" = nothing.
	Note string
	// Usage is what the call used; nil when the code did not run.
	Usage *audit.Usage
}

// InputRequired is a question that travels with the answer.
type InputRequired struct {
	State         string
	Prompt        string
	ExpirySeconds int64
}
