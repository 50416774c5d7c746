package executor

import (
	"encoding/json"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/executor/worker"
	"github.com/toolwarrant/toolwarrant/fault"
)

// A View is how a call ended, in JSON for programs: the command line and the
// interface of an administrator show it.
type View struct {
	CallID   string             `json:"callId"`
	Outcome  fault.Outcome      `json:"outcome"`
	Result   json.RawMessage    `json:"result"`
	Error    *fault.Error       `json:"error"`
	Pending  *Pending           `json:"pending"` // null unless it waits for an approval
	Logs     []worker.LogLine   `json:"logs"`
	Decision *decision.Decision `json:"decision"`
}

// Pending tells a caller that has to come back.
type Pending struct {
	ApprovalID   string `json:"approvalId"`
	RetryAfterMs int64  `json:"retryAfterMs"`
}

// View gives the shape for programs.
func (r Result) View() View {
	v := View{CallID: r.CallID, Outcome: r.Outcome, Result: r.Value, Error: r.Err, Logs: r.Logs, Decision: r.Decision}
	if v.Result == nil {
		v.Result = json.RawMessage("null")
	}
	if v.Logs == nil {
		v.Logs = []worker.LogLine{}
	}
	if r.ApprovalID != "" {
		v.Pending = &Pending{r.ApprovalID, r.RetryAfterMs}
	}
	return v
}
