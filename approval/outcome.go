package approval

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/toolwarrant/toolwarrant/fault"
)

const (
	// ReplayFor is how long the outcome of an accepted call answers the same
	// call of the same caller again, without asking and without running.
	ReplayFor = 5 * time.Minute
	// maxOutcome bounds the result that is kept for it, in bytes.
	maxOutcome = 256 << 10
	// maxReleased bounds how often an acceptance may come back unused.
	maxReleased = 8
)

// Outcome is how an accepted call ended.
type Outcome struct {
	At     time.Time `json:"at"`
	CallID string    `json:"callId"` // the call that ran
	// Content is the result or the error, sealed with a key of the
	// installation: a tool's result is not to be read beside the log that
	// leaves it out.
	Content []byte `json:"content"`
}

// Ending is what a caller was told: Value, or Code, Reason and Message. All of
// it is masked.
type Ending struct {
	CallID  string          `json:"-"`
	Value   json.RawMessage `json:"value"`
	Code    fault.Code      `json:"code"` // "" = the call was fine
	Reason  string          `json:"reason"`
	Message string          `json:"message"`
	Note    string          `json:"note"`
}

// Finish keeps how the call ended that used the acceptance. A result that is
// too large is not kept: the same call is asked about anew then.
func (g *Gate) Finish(ctx context.Context, id string, e Ending) error {
	plain, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("approval: the outcome has no JSON form: %w", err)
	}
	out := &Outcome{At: g.now().UTC().Truncate(time.Millisecond), CallID: e.CallID}
	if len(plain) <= maxOutcome {
		if out.Content, err = g.sealContent(id, plain); err != nil {
			return err
		}
	}
	_, err = g.store.Transition(ctx, id, StateConsumed, StateConsumed, func(n *Pending) {
		if n.Outcome == nil {
			n.Outcome = out
		}
	})
	return err
}

// Recall gives how the call of p ended; ok is false when that was not kept.
func (g *Gate) Recall(p Pending) (e Ending, ok bool, err error) {
	if p.Outcome == nil || len(p.Outcome.Content) == 0 {
		return Ending{}, false, nil
	}
	plain, err := g.openContent(p.ID, p.Outcome.Content)
	switch {
	case errors.Is(err, ErrForged): // by a key that is gone, or not by us
		return Ending{}, false, nil
	case err != nil:
		return Ending{}, false, err
	}
	if err := json.Unmarshal(plain, &e); err != nil {
		return Ending{}, false, fmt.Errorf("approval: a kept outcome cannot be read: %w", err)
	}
	e.CallID = p.Outcome.CallID
	return e, true, nil
}

// Release gives an acceptance back that was used for a call which then did
// not run, such as one for which no place was free. Only whoever used it may
// do so, knowing that nothing ran. After a few times the acceptance is spent.
func (g *Gate) Release(ctx context.Context, id string) error {
	p, err := g.store.Get(ctx, id)
	if err != nil {
		return err
	}
	if p.Released >= maxReleased || p.Outcome != nil {
		return ErrUsed
	}
	_, err = g.store.Transition(ctx, id, StateConsumed, StateAccepted, func(n *Pending) {
		n.ConsumedAt = nil
		n.Released++
	})
	return err
}
