package audit

import (
	"bytes"
	"context"
	"time"

	"github.com/toolwarrant/toolwarrant/fault"
)

// Ask records, synced, that a human is going to be asked. c.HITL.ExpiresAt
// should say until when.
func (w *Writer) Ask(ctx context.Context, c Call, m Masker) error {
	c.Phase, c.Outcome = PhaseAsk, nil
	var expires time.Time
	if c.HITL != nil && c.HITL.ExpiresAt != nil {
		t, err := time.Parse(time.RFC3339Nano, *c.HITL.ExpiresAt)
		if err != nil {
			return w.invalid("humanInTheLoop.expiresAt of an ask is no RFC 3339 time")
		}
		expires = t
	}
	r, err := w.callRequest(c, true, m)
	if err != nil {
		return err
	}
	r.written = func(e *entry) { w.calls.asked(c.CallID, e.place, expires) }
	return w.submit(ctx, r)
}

// Open records that the code of a call is about to run. It is written when it
// returns, which survives the death of this process, and synced if sync is
// set, which survives the machine's.
func (w *Writer) Open(ctx context.Context, c Call, sync bool, m Masker) error {
	c.Phase, c.Outcome = PhaseOpen, nil
	r, err := w.callRequest(c, sync || w.syncing.every, m)
	if err != nil {
		return err
	}
	r.written = func(e *entry) { w.calls.opened(c.CallID, e.place) }
	return w.submit(ctx, r)
}

// Close records, synced, how a call ended. It has ten seconds for it whatever
// becomes of ctx, so that a caller who goes away cannot keep its record out
// of the log. A second close of one call is refused with reason
// "double-close", as far back as this process remembers (32,768 calls and
// more). A close that fails, of a call with an ask or open record, is kept in
// memory for CloseAbandoned.
func (w *Writer) Close(ctx context.Context, c Call, m Masker) error {
	c.Phase = PhaseClose
	if c.Outcome == nil {
		return w.invalid("a close without outcome")
	}
	switch *c.Outcome {
	case fault.OK, fault.Denied, fault.Failed:
	default:
		return w.invalid("a close with an unknown outcome")
	}
	r, err := w.callRequest(c, true, m)
	if err != nil {
		return err
	}
	if !w.calls.closing(c.CallID) {
		return refuse(w.path, ReasonTwice, "call %s has a close record already; this is a defect of toolwarrant", c.CallID)
	}
	body := r.body
	r.finished = func(inFile bool) {
		if inFile {
			w.calls.ended(c.CallID)
		} else {
			w.calls.keep(c.CallID, bytes.Clone(body)) // its buffer is used again
			w.calls.notClosed(c.CallID)
		}
	}
	return w.submit(context.WithoutCancel(ctx), r)
}

// Event records an administrative act, synced, whatever becomes of ctx.
func (w *Writer) Event(ctx context.Context, e Event, m Masker) error {
	if !isKind(e.Kind) {
		return w.invalid("an event without a usable kind")
	}
	b, err := encodeEvent(w.id, e, m)
	if err != nil {
		return w.invalid("an event that cannot be encoded").Because(err)
	}
	return w.submit(context.WithoutCancel(ctx), &request{entry: entry{body: b, sync: true}})
}

// callRequest masks and encodes in the goroutine of the caller, so that the
// committer only chains.
func (w *Writer) callRequest(c Call, sync bool, m Masker) (*request, error) {
	if !isToken(c.CallID) {
		return nil, w.invalid("a record without a usable callId")
	}
	if c.Phase != PhaseAsk && c.HITL != nil && c.HITL.ExpiresAt != nil {
		h := *c.HITL
		h.ExpiresAt = nil
		c.HITL = &h
	}
	c = prepare(c, m)
	b, err := encodeCall(w.id, &c)
	if c.Shadow != nil && (err != nil || len(b) > maxLine-4096) { // it is no reason to refuse a call
		c.Shadow = c.Shadow.without()
		b, err = encodeCall(w.id, &c)
	}
	if err != nil {
		return nil, w.invalid("a record that cannot be encoded").Because(err)
	}
	if len(b) > maxLine-4096 {
		return nil, w.invalid("a record of more than 4 MiB")
	}
	return &request{entry: entry{body: b, sync: sync}}, nil
}

func (w *Writer) invalid(what string) *fault.Error {
	return refuse(w.path, ReasonInvalid, "%s cannot enter the audit log; this is a defect of toolwarrant", what)
}
