// Package webhook tells another system about the questions that wait for a
// human, and keeps what it needs for that on disk: notices until the other
// side has them (Outbox), and the ids of the messages that came back (Nonces).
//
// It opens no connection itself: an Outbox is given a Poster. A notice holds
// what a human sees of the question, masked as everywhere, and no secret.
package webhook

import (
	"encoding/json"
	"time"

	"github.com/toolwarrant/toolwarrant/approval"
	"github.com/toolwarrant/toolwarrant/decision"
)

// Types of notices.
const (
	TypeAsked   = "approval.asked"   // a human is asked
	TypeSettled = "approval.settled" // the question is answered, or its time is over
)

// Notice is the body of a message.
type Notice struct {
	Type      string    `json:"type"`
	Timestamp time.Time `json:"timestamp"` // of what happened
	Data      Data      `json:"data"`
}

// Data is the question and what became of it.
type Data struct {
	ApprovalID   string             `json:"approvalId"`
	CallID       string             `json:"callId"`
	Tool         string             `json:"tool"`
	ToolID       string             `json:"toolId"`
	SpecDigest   string             `json:"specDigest"`
	Channel      string             `json:"channel"`
	Principal    Principal          `json:"principal"`
	Approvers    decision.Approvers `json:"approvers"`
	RiskLevel    string             `json:"riskLevel"`
	RiskSignals  []decision.Signal  `json:"riskSignals"`
	Prompt       string             `json:"prompt"`
	Args         string             `json:"args"`
	ArgsDigest   string             `json:"argsDigest"`
	PromptDigest string             `json:"promptDigest"`
	CreatedAt    time.Time          `json:"createdAt"`
	ExpiresAt    time.Time          `json:"expiresAt"`
	State        approval.State     `json:"state"`
	DecidedAt    *time.Time         `json:"decidedAt"`
	Approver     *approval.Approver `json:"approver"`
	// Modified: the approver put other arguments in the place of the caller's,
	// and the question is about those.
	Modified bool `json:"modified"`
}

// Principal is the caller.
type Principal struct {
	Subject   string   `json:"subject"`
	Method    string   `json:"method"`
	ClientID  string   `json:"clientId"`
	Groups    []string `json:"groups"`
	Untrusted bool     `json:"untrusted"`
}

// body gives the notice of what p is now.
func body(p approval.Pending) ([]byte, error) {
	q, who := p.Shown(), p.Binding.Principal
	n := Notice{Type: TypeAsked, Timestamp: p.CreatedAt, Data: Data{
		ApprovalID: p.ID, CallID: p.Binding.CallID, Tool: q.Tool, ToolID: p.Binding.ToolID, SpecDigest: p.Binding.SpecDigest,
		Channel: p.Channel, Approvers: p.Approvers, RiskLevel: q.RiskLevel, RiskSignals: q.RiskSignals,
		Principal: Principal{who.Subject, who.Method, who.ClientID, who.Groups, who.Untrusted},
		Prompt:    q.Prompt, Args: q.Args, ArgsDigest: q.ArgsDigest, PromptDigest: q.PromptDigest,
		CreatedAt: p.CreatedAt, ExpiresAt: p.Binding.ExpiresAt, State: p.State, DecidedAt: p.DecidedAt, Approver: p.Approver,
		Modified: p.Amended(),
	}}
	if p.State != approval.StatePending {
		n.Type = TypeSettled
		if p.DecidedAt != nil {
			n.Timestamp = *p.DecidedAt
		}
		if p.State == approval.StateConsumed { // how it was answered, not what it is used for
			n.Data.State = approval.StateAccepted
		}
	}
	return json.Marshal(n)
}
