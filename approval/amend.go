package approval

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/toolwarrant/toolwarrant/decision"
)

// Amendment is a call with the arguments that an approver put in the place of
// the caller's, as it was decided about and shown to that approver.
type Amendment struct {
	Args           []byte   `json:"args"` // sealed
	ParamsDigest   string   `json:"paramsDigest"`
	DecisionDigest string   `json:"decisionDigest"`
	Question       Question `json:"question"`
}

// Amended is what an Amendment is made of: the validated arguments, and the
// decision about the call with them.
type Amended struct {
	Args           json.RawMessage
	ParamsDigest   string
	DecisionDigest string
	Question       Question
	Approvers      decision.Approvers // of that decision
}

// errInBand: the human of the caller saw other arguments.
var errInBand = errors.New("approval: the arguments of a question that the caller's own client asks cannot be changed: its human sees the ones that it was asked with")

// Amend accepts a question with other arguments. by has to be somebody who may
// accept the call as it was asked and as it is now. Only a question that is
// answered out of band can be amended: in band, the caller's human sees the
// arguments of the caller, and what a human saw is what runs. Otherwise it is
// Settle with ActionAccept.
func (g *Gate) Amend(ctx context.Context, id string, by Approver, a Amended) (Pending, error) {
	p, err := g.store.Get(ctx, id)
	if err != nil {
		return Pending{}, err
	}
	if p.Channel != ChannelOutOfBand {
		return p, fmt.Errorf("%w: %w", ErrNotApprover, errInBand)
	}
	if a.ParamsDigest == "" || a.DecisionDigest == "" || a.Question.PromptDigest == "" {
		return p, errors.New("approval: an amendment without digests binds nothing")
	}
	now := p
	now.Approvers = a.Approvers
	if err := mayAnswer(now, ActionAccept, by); err != nil {
		return p, err
	}
	sealed, err := g.sealContent(id, a.Args)
	if err != nil {
		return p, err
	}
	return g.settle(ctx, id, ActionAccept, by, func(n *Pending) {
		n.Amendment = &Amendment{Args: sealed, ParamsDigest: a.ParamsDigest, DecisionDigest: a.DecisionDigest, Question: a.Question}
	})
}

// AmendedArgs gives the arguments that the approver put in.
func (g *Gate) AmendedArgs(p Pending) (json.RawMessage, error) {
	if p.Amendment == nil {
		return nil, errors.New("approval: nobody amended the call")
	}
	return g.openContent(p.ID, p.Amendment.Args)
}

// CheckAmended compares the call that wants to run, now with the amended
// arguments, with the one that the approver accepted. It returns a
// *MismatchError, or nil.
func (p Pending) CheckAmended(got Binding) error {
	if p.Amendment == nil {
		return &MismatchError{Field: "paramsDigest"}
	}
	want := p.Binding
	want.ParamsDigest, want.DecisionDigest = p.Amendment.ParamsDigest, p.Amendment.DecisionDigest
	got.Nonce = ""
	return want.Check(got)
}
