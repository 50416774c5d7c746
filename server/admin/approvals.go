package admin

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/toolwarrant/toolwarrant/approval"
	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/service"
)

// approvalView is a question without what binds the client's retry to it.
type approvalView struct {
	ID        string               `json:"id"`
	State     approval.State       `json:"state"`
	Channel   string               `json:"channel"`
	CreatedAt time.Time            `json:"createdAt"`
	ExpiresAt time.Time            `json:"expiresAt"`
	DecidedAt *time.Time           `json:"decidedAt"`
	Approver  *approval.Approver   `json:"approver"`
	CallID    string               `json:"callId"`
	ToolID    string               `json:"toolId"`
	Principal decision.Principal   `json:"principal"` // who calls
	Question  approval.Question    `json:"question"`  // masked, control characters made visible
	Approvers decision.Approvers   `json:"approvers"`
	Needs     string               `json:"needs"` // in words, "" = anybody with the role
	Actions   []service.Permission `json:"actions"`
}

func (c *call) viewApproval(p approval.Pending) approvalView {
	return approvalView{
		ID: p.ID, State: p.State, Channel: p.Channel, CreatedAt: p.CreatedAt, ExpiresAt: p.Binding.ExpiresAt, DecidedAt: p.DecidedAt,
		Approver: p.Approver, CallID: p.Binding.CallID, ToolID: p.Binding.ToolID, Principal: p.Binding.Principal, Question: p.Question,
		Approvers: p.Approvers, Needs: p.Needs(), Actions: c.s.opt.Service.ApprovalPermissions(c.who, p),
	}
}

var approvalStates = []string{
	string(approval.StatePending), string(approval.StateAccepted), string(approval.StateDeclined), string(approval.StateCancelled),
	string(approval.StateTimeout), string(approval.StateExpired), string(approval.StateConsumed),
}

func listApprovals(c *call) (answer, error) {
	v, err := c.query("limit", "cursor", "state*")
	if err != nil {
		return answer{}, err
	}
	states := v["state"]
	if states == nil {
		states = []string{string(approval.StatePending)}
	}
	for _, s := range states {
		if !slices.Contains(approvalStates, s) {
			return answer{}, fault.New(fault.Usage, "state", "state is one of %s", strings.Join(approvalStates, ", "))
		}
	}
	all, err := c.s.opt.Service.Approvals.List(c.ctx())
	if err != nil {
		return answer{}, err
	}
	wanted := slices.DeleteFunc(slices.Clone(all), func(p approval.Pending) bool { return !slices.Contains(states, string(p.State)) })
	key := func(p approval.Pending) string {
		return p.CreatedAt.UTC().Format("2006-01-02T15:04:05.000000000") + " " + p.ID
	}
	slices.SortFunc(wanted, func(a, b approval.Pending) int { return strings.Compare(key(a), key(b)) })
	part, next, err := page(v, "approvals", wanted, key)
	if err != nil {
		return answer{}, err
	}
	items := make([]approvalView, len(part))
	for i, p := range part {
		items[i] = c.viewApproval(p)
	}
	return answer{body: map[string]any{"items": items, "next": next}}, nil
}

// question finds the question of the path.
func (c *call) question() (approval.Pending, error) {
	id, err := c.id("id")
	if err != nil {
		return approval.Pending{}, err
	}
	return c.s.opt.Service.Approvals.Get(c.ctx(), id)
}

func getApproval(c *call) (answer, error) {
	p, err := c.question()
	if err != nil {
		return answer{}, err
	}
	return answer{body: c.viewApproval(p)}, nil
}

// answers is the act of giving one answer.
func answers(a service.Act) func(*call) (act, error) {
	action := map[service.Act]approval.Action{service.ActApprove: approval.ActionAccept, service.ActDeny: approval.ActionDecline}[a]
	return func(c *call) (act, error) {
		p, err := c.question()
		if err != nil {
			return act{}, err
		}
		if err := c.readNothing(); err != nil {
			return act{}, err
		}
		s := c.s.opt.Service
		if err := s.MayAnswer(c.who, p, a); err != nil {
			return act{}, err
		}
		return act{do: func(ctx context.Context) (answer, error) { // Answer leaves the event approval.decide
			settled, err := s.Answer(ctx, c.who, p.ID, action)
			if err != nil {
				return answer{}, err
			}
			return answer{body: c.viewApproval(settled)}, nil
		}}, nil
	}
}

// modify accepts a question with other arguments.
func modify(c *call) (act, error) {
	p, err := c.question()
	if err != nil {
		return act{}, err
	}
	var in struct {
		Args json.RawMessage `json:"args"`
	}
	if err := c.read(&in); err != nil {
		return act{}, err
	}
	if c.s.opt.Modify == nil {
		return act{}, fault.New(fault.Usage, "not-offered", "arguments cannot be changed here; deny the call, so that its caller makes another")
	}
	if len(in.Args) == 0 {
		return act{}, fault.New(fault.Usage, "bad-value", "args are the arguments that the call is to run with, an object").At("", "/args", 0, 0)
	}
	if err := c.s.opt.Service.MayAnswer(c.who, p, service.ActModify); err != nil {
		return act{}, err
	}
	return act{do: func(ctx context.Context) (answer, error) { // Modify leaves the event approval.decide
		settled, err := c.s.opt.Modify(ctx, c.who, p.ID, in.Args)
		if err != nil {
			return answer{}, err
		}
		return answer{body: c.viewApproval(settled)}, nil
	}}, nil
}
