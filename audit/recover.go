package audit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"time"

	"github.com/toolwarrant/toolwarrant/fault"
)

const (
	// ExpiryGrace is how long after its expiry an unanswered question is
	// closed by CloseAbandoned: an answer that came in the last moment has
	// reached its open record by then.
	ExpiryGrace = 10 * time.Second
	// noExpiry bounds a question whose ask record states none.
	noExpiry = 24 * time.Hour
)

// PendingAsk is a question of a writer that is gone: whether it is still open
// is for the approval store to say, until it expires.
type PendingAsk struct {
	Call      Call // as the ask recorded it, masked
	Writer    string
	ExpiresAt time.Time
}

// Recovery says what CloseAbandoned found.
type Recovery struct {
	Interrupted []string     // calls that were closed as INTERRUPTED
	Expired     []string     // calls that were closed as APPROVAL_DENIED, reason expired
	Late        []string     // calls of this process whose close had failed, closed as they ended
	Pending     []PendingAsk // questions that are still open
}

// CloseAbandoned closes the calls that nobody will close any more. A call
// whose open record is of a writer that is gone ends as INTERRUPTED. A call
// with an ask record and neither open nor close, of a writer that is gone or
// of this one, ends as APPROVAL_DENIED, reason expired, once its expiry is
// past by ExpiryGrace. A call of this writer whose close failed gets that very
// close. Calls of other living writers are left alone. Open
// does it, and a long-running process should from time to time. Safe for
// concurrent use, also by several processes.
func (w *Writer) CloseAbandoned(ctx context.Context, now time.Time) (r Recovery, err error) {
	err = withRecoveryLock(ctx, w.stateDir, func() error {
		list, err := goneWriters(w.stateDir, w.id)
		if err != nil {
			return err
		}
		own, low := w.calls.expired(now)
		late, lateLow := w.calls.late()
		s := &search{w: w, now: now, gone: map[string]bool{}, own: own, late: late, calls: map[string]*found{}}
		from := int64(math.MaxInt64)
		if len(own) > 0 {
			from = low
		}
		if len(late) > 0 {
			from = min(from, lateLow)
		}
		for _, g := range list {
			s.gone[g.id] = true
			from = min(from, g.mark)
		}
		if from == math.MaxInt64 {
			return nil
		}
		if err := s.run(ctx, from); err != nil {
			giveBack(list)
			return err
		}
		for _, g := range list {
			at, pending := s.firstPending(g.id)
			g.settle(at, pending)
		}
		r = s.result
		return nil
	})
	if err != nil {
		return Recovery{}, unavailable(w.path, err)
	}
	return r, nil
}

// Recovered is what Open found and closed.
func (w *Writer) Recovered() Recovery { return w.recovered }

// found is a call without close.
type found struct {
	asked, opened string // writer of the record, "" = none
	offset        int64  // in the log, of the record to copy: the open, or else the ask
	line          []byte // that record
	call          Call
	expires       time.Time
	pending       bool
}

// search looks for abandoned calls from an offset on.
type search struct {
	w      *Writer
	now    time.Time
	gone   map[string]bool
	own    map[string]bool   // expired asks of this process
	late   map[string][]byte // closes of this process that failed
	calls  map[string]*found
	next   int64 // how far it has read
	result Recovery
}

// run reads the log up to its end without hindering anybody, and the rest,
// with the closing, under the lock.
func (s *search) run(ctx context.Context, from int64) (err error) {
	s.next = from
	err = s.read(ctx)
	if errors.Is(err, errNoPlace) { // a mark may be stale
		s.next = 0
		err = s.read(ctx)
	}
	if err != nil {
		return err
	}
	var reserved []string
	req := &request{entry: entry{sync: true}}
	req.prepare = func() ([]*entry, error) {
		if err := s.read(ctx); err != nil {
			return nil, err
		}
		return s.close(&reserved)
	}
	req.finished = func(inFile bool) {
		for _, id := range reserved {
			if inFile {
				s.w.calls.ended(id)
			} else {
				s.w.calls.notClosed(id)
			}
		}
	}
	return s.w.submit(ctx, req)
}

// read takes in the complete lines from next on, closed segments included.
func (s *search) read(ctx context.Context) error {
	return eachFrom(ctx, s.w.path, s.next, false, func(_ *source, _ int, at int64, l rawLine) error {
		if l.torn {
			return nil
		}
		if h, ok := parseHead(l.bytes); ok && !l.tooLong {
			s.take(h, at, l.bytes)
		}
		s.next = at + l.size
		return nil
	})
}

func (s *search) take(h Head, offset int64, line []byte) {
	f := s.calls[h.CallID]
	switch h.Phase {
	case PhaseClose:
		delete(s.calls, h.CallID)
		if _, late := s.late[h.CallID]; late || s.own[h.CallID] {
			delete(s.own, h.CallID)
			delete(s.late, h.CallID)
			s.w.calls.ended(h.CallID)
		}
	case PhaseAsk:
		if f == nil && (s.gone[h.Writer] || s.own[h.CallID]) {
			s.calls[h.CallID] = &found{asked: h.Writer, offset: offset, line: bytes.Clone(line)}
		}
	case PhaseOpen:
		switch {
		case f != nil:
			f.opened, f.offset, f.line = h.Writer, offset, bytes.Clone(line)
		case s.gone[h.Writer]:
			s.calls[h.CallID] = &found{opened: h.Writer, offset: offset, line: bytes.Clone(line)}
		}
	}
}

// close makes the close records. The caller holds the lock.
func (s *search) close(reserved *[]string) ([]*entry, error) {
	var out []*entry
	s.result = Recovery{}
	for id, body := range s.late {
		delete(s.calls, id)
		if !s.w.calls.closing(id) {
			continue
		}
		*reserved = append(*reserved, id)
		s.result.Late = append(s.result.Late, id)
		out = append(out, &entry{body: body, sync: true})
	}
	for id, f := range s.calls {
		if f.opened != "" && !s.gone[f.opened] {
			continue // a living writer runs it
		}
		f.call = s.copyOf(id, f)
		if f.opened == "" {
			f.expires = askExpiry(f.call, s.now)
			if !s.now.After(f.expires.Add(ExpiryGrace)) {
				if f.pending = s.gone[f.asked]; f.pending {
					s.result.Pending = append(s.result.Pending, PendingAsk{Call: f.call, Writer: f.asked, ExpiresAt: f.expires})
				}
				continue
			}
		}
		if !s.w.calls.closing(id) {
			continue // its own process is just closing it
		}
		*reserved = append(*reserved, id)
		c := f.call
		if f.opened != "" {
			interrupted(&c)
			s.result.Interrupted = append(s.result.Interrupted, id)
		} else {
			expired(&c)
			s.result.Expired = append(s.result.Expired, id)
		}
		b, err := encodeCall(s.w.id, &c)
		if err != nil {
			return nil, err
		}
		out = append(out, &entry{body: b, sync: true})
	}
	return out, nil
}

// copyOf reads the record of a call back. One that cannot be read is closed
// with what is known of it.
func (s *search) copyOf(id string, f *found) Call {
	var r Record
	if json.Unmarshal(f.line, &r) != nil || r.CallID != id {
		return Call{Phase: PhaseAsk, CallID: id}
	}
	return r.Call
}

func askExpiry(c Call, now time.Time) time.Time {
	if c.HITL != nil && c.HITL.ExpiresAt != nil {
		if t, err := time.Parse(time.RFC3339Nano, *c.HITL.ExpiresAt); err == nil {
			return t
		}
	}
	if c.Decision != nil {
		if t, err := time.Parse(time.RFC3339Nano, c.Decision.DecidedAt); err == nil {
			return t.Add(noExpiry)
		}
	}
	return now.Add(-noExpiry)
}

// interrupted makes the close of a call that ran when its process died.
func interrupted(c *Call) {
	end(c, fault.Interrupted, "writer-gone", "the process that ran this call ended before the call did; what the code did until then is not known")
}

// expired makes the close of a call whose question nobody answered.
func expired(c *Call) {
	end(c, fault.ApprovalDenied, "expired", "nobody answered the question before it expired")
	h := HITL{Mode: "REQUIRED"}
	if c.HITL != nil {
		h = *c.HITL
	}
	h.Outcome, h.ExpiresAt = HITLExpired, nil
	c.HITL = &h
}

func end(c *Call, code fault.Code, reason, message string) {
	outcome := code.Outcome()
	c.Phase, c.Outcome = PhaseClose, &outcome
	c.Error = &Error{Code: code, Reason: &reason, Message: message}
	c.Duration, c.Usage, c.Result = nil, nil, nil
}

// firstPending is the offset of the first open question of a gone writer.
func (s *search) firstPending(writer string) (offset int64, pending bool) {
	for _, f := range s.calls {
		if f.pending && f.asked == writer && (!pending || f.offset < offset) {
			offset, pending = f.offset, true
		}
	}
	return offset, pending
}
