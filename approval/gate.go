package approval

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/keyring"
)

const (
	// refusalMemory is how long a refusal answers the same call again without
	// asking the human again.
	refusalMemory = 5 * time.Minute
	// keepFinished is how long finished entries stay in the store.
	keepFinished = time.Hour
	// keepUsed is how long one stays whose call ran: long enough to give its
	// outcome again, and not longer than need be with what a tool returned.
	keepUsed = 2 * ReplayFor
)

// Gate is the one place that asks, settles and uses approvals. It holds no
// state of its own: any number of gates, in any number of processes, work on
// one Store. Safe for concurrent use.
type Gate struct {
	store   Store
	keys    keyring.Keyring
	now     func() time.Time
	changed chan struct{} // a change of this process that no Feed has seen yet
}

// NewGate makes a gate over a store. keys seals what clients carry; now is
// the clock, time.Now when nil.
func NewGate(store Store, keys keyring.Keyring, now func() time.Time) *Gate {
	if now == nil {
		now = time.Now
	}
	g := &Gate{keys: keys, now: now, changed: make(chan struct{}, 1)}
	g.store = telling{store, g.changed}
	return g
}

// Ask stores the question durably and gives the pending entry. Nonce and
// ExpiresAt of b are set here. ask is the body of the ask record. A binding
// with an empty field binds nothing and is an error.
func (g *Gate) Ask(ctx context.Context, b Binding, q Question, channel string, who decision.Approvers, expiry time.Duration, ask []byte) (Pending, error) {
	return g.Pose(ctx, Posed{Binding: b, Question: q, Channel: channel, Approvers: who, Expiry: expiry, Ask: ask})
}

// Posed is a question about to be asked.
type Posed struct {
	Binding   Binding // without Nonce and ExpiresAt
	Question  Question
	Channel   string
	Approvers decision.Approvers
	Origin    decision.Origin // of the call
	Expiry    time.Duration
	Ask       []byte // body of the ask record
}

// Pose is Ask for a question that knows how its call came.
func (g *Gate) Pose(ctx context.Context, q Posed) (Pending, error) {
	b, channel, expiry := q.Binding, q.Channel, q.Expiry
	for name, v := range map[string]string{
		"callId": b.CallID, "toolId": b.ToolID, "specDigest": b.SpecDigest, "paramsDigest": b.ParamsDigest,
		"decisionDigest": b.DecisionDigest, "principal.subject": b.Principal.Subject, "channel": channel,
	} {
		if v == "" {
			return Pending{}, fmt.Errorf("approval: cannot ask, %s is empty", name)
		}
	}
	if expiry <= 0 {
		return Pending{}, fmt.Errorf("approval: cannot ask, the expiry %s is not positive", expiry)
	}
	now := g.now().UTC().Truncate(time.Millisecond)
	b.Nonce, b.ExpiresAt, b.Rekeyed = NewID(), now.Add(expiry), nil
	p := Pending{
		Version: Version, ID: NewID(), Binding: b, Question: q.Question, Channel: channel, Approvers: q.Approvers,
		State: StatePending, CreatedAt: now, Ask: q.Ask, Origin: q.Origin,
	}
	if err := g.store.Create(ctx, p); err != nil {
		return Pending{}, err
	}
	return p, nil
}

// Get gives one entry, whatever its state.
func (g *Gate) Get(ctx context.Context, id string) (Pending, error) { return g.store.Get(ctx, id) }

// Exclusively runs f while nobody else who shares the store runs one: for
// looking whether a question is asked already, and asking it.
func (g *Gate) Exclusively(ctx context.Context, f func(context.Context) error) error {
	return g.store.Exclusively(ctx, f)
}

// List gives all entries, oldest first.
func (g *Gate) List(ctx context.Context) ([]Pending, error) { return g.store.List(ctx) }

// Settle records the answer of by. The first answer wins: a later one is a
// *SettledError. An answer to a question past its expiry is ErrExpired and
// the entry becomes expired. Somebody who may not answer gets ErrNotApprover
// and changes nothing. Everything but ActionAccept is a refusal.
func (g *Gate) Settle(ctx context.Context, id string, action Action, by Approver) (Pending, error) {
	return g.settle(ctx, id, action, by, nil)
}

// settle is Settle; change may add to what the answer makes of the entry.
func (g *Gate) settle(ctx context.Context, id string, action Action, by Approver, change func(*Pending)) (Pending, error) {
	if action == ActionDeferred || action == "" {
		return Pending{}, fmt.Errorf("approval: %q is no answer", action)
	}
	to := stateOf(action)
	p, err := g.store.Get(ctx, id)
	if err != nil {
		return Pending{}, err
	}
	if p.State != StatePending {
		return p, &SettledError{State: p.State}
	}
	// Nobody having answered in time is true after the expiry as well.
	if g.expired(p) && action != ActionTimeout {
		return g.expire(ctx, p)
	}
	if err := mayAnswer(p, action, by); err != nil {
		return p, err
	}
	settled, err := g.store.Transition(ctx, id, StatePending, to, func(n *Pending) {
		at := g.now().UTC().Truncate(time.Millisecond)
		n.DecidedAt = &at
		if by.Subject != "" {
			n.Approver = &by
		}
		if change != nil {
			change(n)
		}
	})
	if errors.Is(err, ErrConflict) {
		if p, err = g.store.Get(ctx, id); err != nil {
			return Pending{}, err
		}
		return p, &SettledError{State: p.State}
	}
	return settled, err
}

// stateOf is what an answer makes of a question. An unknown answer declines.
func stateOf(a Action) State {
	switch a {
	case ActionAccept:
		return StateAccepted
	case ActionCancel:
		return StateCancelled
	case ActionTimeout:
		return StateTimeout
	}
	return StateDeclined
}

// mayAnswer says whether by may give that answer. Refusing is also open to
// the caller itself, and a timeout or a cancelled call has no person at all.
func mayAnswer(p Pending, action Action, by Approver) error {
	caller := p.Binding.Principal
	if action != ActionAccept {
		if by.Subject == caller.Subject || (by.Subject == "" && (action == ActionTimeout || action == ActionCancel)) {
			return nil
		}
	}
	if by.Subject == "" {
		return fmt.Errorf("%w: nobody is named", ErrNotApprover)
	}
	if p.Approvers.FourEyes {
		switch {
		case unknown(p):
			return fmt.Errorf("%w: a second person is required, and an unauthenticated caller could be anybody", ErrNotApprover)
		case anonymous(by.Subject, by.Method):
			return fmt.Errorf("%w: a second, authenticated person is required", ErrNotApprover)
		case strings.EqualFold(by.Subject, caller.Subject):
			return fmt.Errorf("%w: a second person is required, not the caller", ErrNotApprover)
		}
	}
	if len(p.Approvers.Groups) > 0 && !slices.ContainsFunc(by.Groups, func(s string) bool {
		return slices.Contains(p.Approvers.Groups, s)
	}) {
		return fmt.Errorf("%w: one of the groups %s is required", ErrNotApprover, strings.Join(p.Approvers.Groups, ", "))
	}
	return nil
}

func anonymous(subject, method string) bool {
	return subject == "" || subject == "local" || method == "" || method == "none"
}

// Consume uses up the acceptance for the call that b describes: exactly one
// of all concurrent attempts gets the entry, now consumed. The others, and
// every call that is not the one that was shown, get *MismatchError,
// ErrExpired, ErrUsed or *NotAcceptedError. A mismatch burns nothing.
func (g *Gate) Consume(ctx context.Context, id string, b Binding) (Pending, error) {
	p, err := g.store.Get(ctx, id)
	if err != nil {
		return Pending{}, err
	}
	if err := p.Binding.Check(b); err != nil {
		return p, err
	}
	switch {
	case p.State == StateConsumed:
		return p, ErrUsed
	case p.State == StateExpired:
		return p, ErrExpired
	case (p.State == StateAccepted || p.State == StatePending) && g.expired(p):
		return g.expire(ctx, p)
	case p.State != StateAccepted:
		return p, &NotAcceptedError{State: p.State}
	}
	used, err := g.store.Transition(ctx, id, StateAccepted, StateConsumed, func(n *Pending) {
		at := g.now().UTC().Truncate(time.Millisecond)
		n.ConsumedAt = &at
	})
	if errors.Is(err, ErrConflict) {
		return p, ErrUsed
	}
	return used, err
}

// Redeem is what a retry with a requestState does, in the only safe order:
// the state must be genuine, the call must be the one that was shown, and
// only then does the client's answer settle the question and, if it was an
// acceptance, let this call through. So nobody can answer for another caller,
// and an altered call neither settles nor burns anything. An empty action
// (the client brought no answer) uses an acceptance that came another way.
func (g *Gate) Redeem(ctx context.Context, state string, b Binding, action Action, by Approver) (Pending, error) {
	id, nonce, err := g.Open(state)
	if err != nil && !errors.Is(err, ErrExpired) {
		return Pending{}, err
	}
	p, err := g.store.Get(ctx, id)
	if err != nil {
		return Pending{}, err
	}
	b.Nonce = nonce
	if err := p.Binding.Check(b); err != nil {
		return p, err
	}
	if action == ActionDeferred {
		action = ""
	}
	if action != "" {
		if p, err = g.conclude(ctx, p, action, by); err != nil {
			return p, err
		}
	}
	return g.Consume(ctx, id, b)
}

// Conclude is Settle for the human whom the caller's own client asked. An
// acceptance that came another way stands; a refusal here has the last word,
// so that an acceptance from elsewhere lets nothing through. nil means that
// the question is accepted.
func (g *Gate) Conclude(ctx context.Context, id string, action Action, by Approver) (Pending, error) {
	if action == ActionDeferred || action == "" {
		return Pending{}, fmt.Errorf("approval: %q is no answer", action)
	}
	p, err := g.store.Get(ctx, id)
	if err != nil {
		return Pending{}, err
	}
	return g.conclude(ctx, p, action, by)
}

func (g *Gate) conclude(ctx context.Context, p Pending, action Action, by Approver) (_ Pending, err error) {
	here := false
	if p.State == StatePending {
		if p, err = g.Settle(ctx, p.ID, action, by); err != nil && !errors.Is(err, ErrConflict) {
			return p, err
		}
		here = err == nil
	}
	if action == ActionAccept {
		return p, nil // what became of it, Consume says
	}
	if p.State == StateAccepted {
		if n, err := g.store.Transition(ctx, p.ID, StateAccepted, stateOf(action), nil); err == nil {
			p, here = n, true
		}
	}
	return p, &NotAcceptedError{State: stateOf(action), Here: here}
}

// Match finds what is already known about the same call of the same caller on
// the out-of-band channel: the newest entry with the same binding (CallID,
// nonce and expiry aside) that is pending, or accepted and not yet used, or
// was refused within the last five minutes, or was used and either has no
// outcome yet or had one within ReplayFor.
func (g *Gate) Match(ctx context.Context, b Binding) (Pending, bool, error) {
	all, err := g.store.List(ctx)
	if err != nil {
		return Pending{}, false, err
	}
	b.Nonce = ""
	for _, p := range slices.Backward(all) {
		if p.Channel != ChannelOutOfBand || p.Binding.Check(b) != nil {
			continue
		}
		switch p.State {
		case StatePending, StateAccepted:
			if !g.expired(p) {
				return p, true, nil
			}
		case StateDeclined, StateCancelled, StateTimeout:
			if p.DecidedAt != nil && g.now().Before(p.DecidedAt.Add(refusalMemory)) {
				return p, true, nil
			}
		case StateConsumed:
			if p.ConsumedAt != nil && (p.Outcome == nil || g.now().Before(p.Outcome.At.Add(ReplayFor))) {
				return p, true, nil
			}
		}
	}
	return Pending{}, false, nil
}

// Waiting counts the questions of one caller that nobody has answered.
func (g *Gate) Waiting(ctx context.Context, p decision.Principal) (int, error) {
	all, err := g.store.List(ctx)
	n := 0
	for _, e := range all {
		if e.State == StatePending && samePrincipal(e.Binding.Principal, p) && !g.expired(e) {
			n++
		}
	}
	return n, err
}

// Sweep moves entries that are past their expiry and still pending or
// accepted to expired, and gives exactly those that this call moved, so that
// each abandoned call is closed by one process. Finished entries older than
// an hour are deleted, used ones after twice ReplayFor. What can be swept is swept even when part of the store
// cannot be read; the error says so then.
func (g *Gate) Sweep(ctx context.Context) ([]Pending, error) {
	all, err := g.store.List(ctx)
	var moved []Pending
	for _, p := range all {
		switch p.State {
		case StatePending, StateAccepted:
			if !g.expired(p) {
				continue
			}
			switch e, xerr := g.expire(ctx, p); {
			case Ended(xerr):
				moved = append(moved, e)
			case !errors.Is(xerr, ErrExpired):
				err = errors.Join(err, xerr)
			}
		default:
			if g.now().After(p.keptUntil()) {
				err = errors.Join(err, g.store.Delete(ctx, p.ID))
			}
		}
	}
	return moved, err
}

// keptUntil is how long a finished entry is of use.
func (p Pending) keptUntil() time.Time {
	if p.State == StateConsumed {
		switch {
		case p.Outcome != nil:
			return p.Outcome.At.Add(keepUsed)
		case p.ConsumedAt != nil && p.ConsumedAt.After(p.Binding.ExpiresAt): // it may run for long
			return p.ConsumedAt.Add(keepFinished)
		}
	}
	end := p.Binding.ExpiresAt
	if p.DecidedAt != nil && p.DecidedAt.After(end) {
		end = *p.DecidedAt
	}
	return end.Add(keepFinished)
}

func (g *Gate) expired(p Pending) bool { return !g.now().Before(p.Binding.ExpiresAt) }

// expire moves p to expired. The error is ErrExpired, and an *ExpiredError
// for the one attempt that moved it.
func (g *Gate) expire(ctx context.Context, p Pending) (Pending, error) {
	e, err := g.store.Transition(ctx, p.ID, p.State, StateExpired, func(n *Pending) {
		if n.DecidedAt == nil {
			at := g.now().UTC().Truncate(time.Millisecond)
			n.DecidedAt = &at
		}
	})
	switch {
	case err == nil:
		return e, &ExpiredError{}
	case errors.Is(err, ErrConflict):
		return p, ErrExpired
	}
	return p, err
}
