package approval

import (
	"errors"
	"fmt"

	"github.com/toolwarrant/toolwarrant/fault"
)

// The refusals of a Gate. They are compared with errors.Is; Fault turns any
// of them into the error that a caller sees.
var (
	// ErrConflict: the entry was not in the state that the change starts from,
	// or somebody else changed it first.
	ErrConflict = errors.New("approval: the entry is not in that state any more")
	// ErrForged: a requestState that this installation did not make, or that
	// was altered on the way.
	ErrForged = errors.New("approval: the request state is not genuine")
	// ErrNotApprover: this person may not give that answer.
	ErrNotApprover = errors.New("approval: not somebody who may approve this call")
	// ErrMismatch: the call is not the one that was shown. The error is a
	// *MismatchError, which names the field.
	ErrMismatch = errors.New("approval: not the call that was shown")
	// ErrExpired: the question or its acceptance is too old. The error may be
	// an *ExpiredError.
	ErrExpired = errors.New("approval: expired")
	// ErrUsed: the acceptance has let its one call through already.
	ErrUsed = errors.New("approval: used already")
	// ErrStopping: the process ends while somebody is being asked. It is what an
	// Asker gives; nobody has said anything.
	ErrStopping = errors.New("approval: the server is stopping")
	// ErrNotAccepted: there is no acceptance. The error is a
	// *NotAcceptedError, which says what there is instead.
	ErrNotAccepted = errors.New("approval: not accepted")
)

// MismatchError says which part of the binding differs. It is ErrMismatch.
type MismatchError struct {
	Field string // JSON name of the field of Binding, such as "paramsDigest"
}

func (e *MismatchError) Error() string { return ErrMismatch.Error() + ": " + e.Field + " differs" }

// Is makes the error equal to ErrMismatch.
func (e *MismatchError) Is(target error) bool { return target == ErrMismatch }

// NotAcceptedError says in which state the entry is. It is ErrNotAccepted.
type NotAcceptedError struct {
	State State // StatePending, StateDeclined, StateCancelled or StateTimeout
	// Here: the refusal came with this very request.
	Here bool
}

func (e *NotAcceptedError) Error() string {
	return fmt.Sprintf("%v: the question is %s", ErrNotAccepted, e.State)
}

// Is makes the error equal to ErrNotAccepted.
func (e *NotAcceptedError) Is(target error) bool { return target == ErrNotAccepted }

// ExpiredError is the ErrExpired of the one attempt that found the entry past
// its expiry first and moved it to StateExpired.
type ExpiredError struct{}

func (*ExpiredError) Error() string { return ErrExpired.Error() }

// Is makes the error equal to ErrExpired.
func (*ExpiredError) Is(target error) bool { return target == ErrExpired }

// Ended reports whether the attempt that gave err is the one that ended the
// question: it brought the human's refusal, or found that the time is over.
// Exactly one attempt ends a question, so whoever gets true closes the call
// that asked; a later attempt with the same state is a call of its own.
func Ended(err error) bool {
	var n *NotAcceptedError
	var x *ExpiredError
	return errors.As(err, &x) || (errors.As(err, &n) && n.Here)
}

// SettledError says that an answer came after the first one. It is
// ErrConflict.
type SettledError struct {
	State State // what the first answer made of the entry
}

func (e *SettledError) Error() string {
	return fmt.Sprintf("approval: answered already, the question is %s", e.State)
}

// Is makes the error equal to ErrConflict.
func (e *SettledError) Is(target error) bool { return target == ErrConflict }

// Reasons of APPROVAL_DENIED, a fixed contract.
const (
	ReasonDeclined    = "declined"
	ReasonCancelled   = "cancelled"
	ReasonTimeout     = "timeout"
	ReasonUnsupported = "unsupported"
	ReasonMismatch    = "mismatch"
	ReasonExpired     = "expired"
)

// Denied is the error of a call that was not approved. Its message tells a
// model that nothing ran and that asking again with the same call is useless.
func Denied(reason string) *fault.Error {
	const tail = " The tool was not run. Do not call it again for this request."
	text := map[string]string{
		ReasonDeclined:    "The human declined this call.",
		ReasonCancelled:   "The human dismissed the question about this call without accepting it.",
		ReasonTimeout:     "Nobody answered the question about this call in time.",
		ReasonUnsupported: "This call needs a human's approval and the client cannot ask one.",
		ReasonMismatch:    "The approval was given for another call than this one.",
		ReasonExpired:     "The approval of this call has expired or has been used.",
	}[reason]
	if text == "" {
		text = "This call was not approved."
	}
	return fault.New(fault.ApprovalDenied, reason, "%s", text+tail)
}

// ReasonOf is the APPROVAL_DENIED reason of a final state that is a refusal,
// and "" for the others.
func ReasonOf(s State) string {
	switch s {
	case StateDeclined:
		return ReasonDeclined
	case StateCancelled:
		return ReasonCancelled
	case StateTimeout:
		return ReasonTimeout
	case StateExpired, StateConsumed:
		return ReasonExpired
	}
	return ""
}

// Fault maps an error of a Gate to what the caller is told: APPROVAL_DENIED
// with its reason, APPROVAL_PENDING while nobody has answered. Anything else,
// such as a store that cannot be read, is an INTERNAL error: refused as well.
// The error itself is kept as the cause.
func Fault(err error) *fault.Error {
	var notAccepted *NotAcceptedError
	var settled *SettledError
	reason := ""
	switch {
	case err == nil:
		return nil
	case errors.As(err, &notAccepted):
		if notAccepted.State == StatePending {
			return fault.New(fault.ApprovalPending, "pending",
				"This call waits for a human's approval and has not run. Repeat the same call later.").Because(err)
		}
		reason = ReasonOf(notAccepted.State)
	case errors.As(err, &settled):
		reason = ReasonOf(settled.State)
	case errors.Is(err, ErrMismatch), errors.Is(err, ErrForged):
		reason = ReasonMismatch
	case errors.Is(err, ErrExpired), errors.Is(err, ErrUsed), errors.Is(err, fault.New(fault.NotFound, reasonNoEntry, "")):
		// An entry that is gone was finished and swept.
		reason = ReasonExpired
	case errors.Is(err, ErrNotApprover):
		reason = ReasonUnsupported
	}
	if reason == "" {
		return fault.From(err)
	}
	return Denied(reason).Because(err)
}

const reasonNoEntry = "no-such-approval"

// NotFound is the error that a Store gives for an id it does not have.
func NotFound(id string) *fault.Error {
	return fault.New(fault.NotFound, reasonNoEntry, "there is no approval %q; list the open ones with: toolwarrant approvals list", id)
}
