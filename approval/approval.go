// Package approval keeps the questions that humans are asked before a call
// runs, and makes sure that one acceptance lets exactly one call through:
// the call that was shown.
//
// A pending approval is bound to the call, the tool, the spec, the validated
// arguments, the caller and the decision (Binding). It is kept in a Store;
// the embedded one is a directory that any number of processes share. What a
// client carries between two requests (requestState) is sealed and says only
// which pending approval is meant: nothing that a client sends decides.
package approval

import (
	"context"
	"time"

	"github.com/toolwarrant/toolwarrant/decision"
)

// Channels, in the words of decision.HumanInTheLoop.Channels.
const (
	ChannelInputRequired = "input_required" // MCP 2026-07-28: answer, client retries
	ChannelElicitation   = "elicitation"    // MCP up to 2025-11-25: server asks
	ChannelTerminal      = "terminal"       // run of a served tool
	ChannelOutOfBand     = "out_of_band"    // CLI, admin API; the client retries
)

// Binding is everything that the accepted call must still be when it runs.
type Binding struct {
	CallID         string             `json:"callId"`
	ToolID         string             `json:"toolId"`
	SpecDigest     string             `json:"specDigest"`
	ParamsDigest   string             `json:"paramsDigest"`
	Principal      decision.Principal `json:"principal"`
	DecisionDigest string             `json:"decisionDigest"`
	ExpiresAt      time.Time          `json:"expiresAt"`
	Nonce          string             `json:"nonce"`

	// Rekeyed is of a call that wants to run: the digest of its arguments
	// under the key that a stored digest names, "" where that key is gone. A
	// question that was asked before the keyring was rotated is found with it.
	// It is not stored; nil = ParamsDigest alone counts.
	Rekeyed func(stored string) string `json:"-"`
}

// Question is what the human sees: all arguments, masked, with control and
// bidirectional characters made visible.
type Question struct {
	Tool         string            `json:"tool"`
	Prompt       string            `json:"prompt"`
	Args         string            `json:"args"`
	ArgsDigest   string            `json:"argsDigest"`
	RiskLevel    string            `json:"riskLevel"`
	RiskSignals  []decision.Signal `json:"riskSignals"`
	PromptDigest string            `json:"promptDigest"`
}

// State of a pending approval. The zero value is not a state.
type State string

// The states. Every state but StatePending is final, except that an accepted
// one is consumed once.
const (
	StatePending   State = "pending"
	StateAccepted  State = "accepted"
	StateDeclined  State = "declined"
	StateCancelled State = "cancelled"
	StateTimeout   State = "timeout"
	StateExpired   State = "expired"
	StateConsumed  State = "consumed"
)

// Approver is who answered.
type Approver struct {
	Subject string   `json:"subject"`
	Method  string   `json:"method"` // channel or authentication method
	Groups  []string `json:"groups"`
}

// Pending is one question with its state, as stored.
type Pending struct {
	Version   int                `json:"version"` // of this format: Version
	ID        string             `json:"id"`
	Binding   Binding            `json:"binding"`
	Question  Question           `json:"question"`
	Channel   string             `json:"channel"`
	Approvers decision.Approvers `json:"approvers"`
	State     State              `json:"state"`
	CreatedAt time.Time          `json:"createdAt"`
	DecidedAt *time.Time         `json:"decidedAt"`
	Approver  *Approver          `json:"approver"`
	// Ask is the body of the ask record, so that any process can close the
	// call when the asking one is gone or nobody comes back.
	Ask []byte `json:"ask"`

	// What follows came with version 2; entries of version 1 lack it.

	// Origin is the way that the call came, "" = not known.
	Origin decision.Origin `json:"origin"`
	// Amendment is what the approver made of the call; nil = it runs as asked.
	Amendment *Amendment `json:"amendment"`
	// ConsumedAt is when the acceptance let its call through.
	ConsumedAt *time.Time `json:"consumedAt"`
	// Released counts how often an acceptance came back unused.
	Released int `json:"released"`
	// Outcome is how that call ended; nil while it runs.
	Outcome *Outcome `json:"outcome"`
}

// Version is the newest version of the format of Pending. Version 1 is read
// too: it lacks the members that came with 2.
const Version = 2

// Amended reports whether an approver changed the arguments.
func (p Pending) Amended() bool { return p.Amendment != nil }

// Shown is the question that the acceptance was given to.
func (p Pending) Shown() Question {
	if p.Amendment != nil {
		return p.Amendment.Question
	}
	return p.Question
}

// Store keeps pending approvals. Implementations are safe for concurrent use
// by any number of processes, and an unreadable entry is an error, never an
// absent one.
type Store interface {
	// Create stores p; an existing id is an error.
	Create(ctx context.Context, p Pending) error
	// Get gives the entry, or a NOT_FOUND fault.
	Get(ctx context.Context, id string) (Pending, error)
	// List gives all entries, oldest first.
	List(ctx context.Context) ([]Pending, error)
	// Transition moves id from one state to another, atomically: of many
	// concurrent calls exactly one wins, the others get an error that is
	// ErrConflict. change may set the other members of the new entry, and must not
	// write to what the old one points to.
	Transition(ctx context.Context, id string, from, to State, change func(*Pending)) (Pending, error)
	// Exclusively runs f while no other f runs, in this process or another one
	// that shares the store. The error is that of f, or why it could not run.
	Exclusively(ctx context.Context, f func(context.Context) error) error
	// Delete removes an entry; an absent one is no error.
	Delete(ctx context.Context, id string) error
}

// Action is a human's answer. Everything but ActionAccept is a refusal.
type Action string

// The answers, and the two that stand for none.
const (
	ActionAccept  Action = "accept"
	ActionDecline Action = "decline"
	ActionCancel  Action = "cancel"
	ActionTimeout Action = "timeout"
	// ActionDeferred: the transport cannot wait; the caller comes back with
	// the sealed state (input_required).
	ActionDeferred Action = "deferred"
)

// Answer is what an Asker brings back.
type Answer struct {
	Action   Action
	Approver Approver
}

// Asker puts one question to the human behind a caller, over one channel. It
// must return when ctx ends; an error counts as a refusal.
type Asker interface {
	Channel() string
	Ask(ctx context.Context, q Question) (Answer, error)
}
