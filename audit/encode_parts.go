package audit

import (
	"encoding/json"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/rs/zerolog"
)

// MarshalZerologObject encodes the principal.
func (p *Principal) MarshalZerologObject(e *zerolog.Event) {
	e.Str("subject", p.Subject).Str("method", p.Method).Str("clientId", p.ClientID).Strs("groups", p.Groups)
}

// MarshalZerologObject encodes the policy.
func (p *Policy) MarshalZerologObject(e *zerolog.Event) {
	e.Str("revision", p.Revision).Strs("profileChain", p.ProfileChain)
}

// MarshalZerologObject encodes the decision.
func (d *Decision) MarshalZerologObject(e *zerolog.Event) {
	e.Str("id", d.ID).Str("decidedAt", d.DecidedAt).Str("inputDigest", d.InputDigest)
	raw(e, "input", d.Input)
	e.Strs("maskedPointers", d.MaskedPointers)
}

// MarshalZerologObject encodes the human step.
func (h *HITL) MarshalZerologObject(e *zerolog.Event) {
	e.Str("mode", h.Mode)
	if h.Outcome == "" { // an ask has none yet
		null(e, "outcome")
	} else {
		e.Str("outcome", string(h.Outcome))
	}
	str(e, "approver", h.Approver)
	str(e, "channel", h.Channel)
	num(e, "elapsedMs", h.ElapsedMs)
	str(e, "promptDigest", h.PromptDigest)
	str(e, "expiresAt", h.ExpiresAt)
	str(e, "ruleId", h.RuleID)
	truth(e, "fourEyes", h.FourEyes)
	str(e, "originalParamsDigest", h.OriginalParamsDigest)
}

// MarshalZerologObject encodes the failure.
func (f *Error) MarshalZerologObject(e *zerolog.Event) {
	e.Str("code", string(f.Code))
	str(e, "reason", f.Reason)
	e.Str("message", f.Message)
}

// MarshalZerologObject encodes the durations.
func (d *Duration) MarshalZerologObject(e *zerolog.Event) {
	e.Float64("decide", millis(d.Decide)).Float64("approve", millis(d.Approve)).
		Float64("execute", millis(d.Execute)).Float64("total", millis(d.Total))
}

// MarshalZerologObject encodes the usage.
func (u *Usage) MarshalZerologObject(e *zerolog.Event) {
	num(e, "statements", u.Statements)
	if u.Egress == nil { // left out
		null(e, "egress")
	} else {
		e.Array("egress", (*egressList)(&u.Egress))
	}
	if u.FS == nil {
		null(e, "fs")
	} else {
		e.Array("fs", (*fsList)(&u.FS))
	}
	e.Int64("logLines", u.LogLines)
	num(e, "memoryBytes", u.MemoryBytes)
}

// MarshalZerologObject encodes one exchange.
func (g *Egress) MarshalZerologObject(e *zerolog.Event) {
	e.Str("host", g.Host).Str("ip", g.IP).Int("status", g.Status).Int64("bytes", g.Bytes)
}

// MarshalZerologObject encodes one file operation.
func (f *FSUse) MarshalZerologObject(e *zerolog.Event) {
	e.Str("op", f.Op).Str("path", f.Path).Int64("bytes", f.Bytes)
}

// MarshalZerologObject encodes the result.
func (r *Result) MarshalZerologObject(e *zerolog.Event) {
	e.Int64("bytes", r.Bytes).Str("digest", r.Digest)
	if len(r.Content) > 0 {
		e.RawJSON("content", r.Content)
	}
}

type egressList []Egress

// MarshalZerologArray encodes the exchanges.
func (l *egressList) MarshalZerologArray(a *zerolog.Array) {
	for i := range *l {
		a.Object(&(*l)[i])
	}
}

type fsList []FSUse

// MarshalZerologArray encodes the file operations.
func (l *fsList) MarshalZerologArray(a *zerolog.Array) {
	for i := range *l {
		a.Object(&(*l)[i])
	}
}

// encodeObject encodes the members of an object line.
func encodeObject(writer, kind, digest string, size int64) ([]byte, error) {
	return body(func(e *zerolog.Event) {
		e.Str("phase", string(PhaseObject)).Str("writer", writer).
			Str("kind", kind).Str("digest", digest).Int64("bytes", size)
	})
}

// encodeEvent masks and encodes the members of an event line. If masking
// fails, the line goes without detail and says so.
func encodeEvent(writer string, ev Event, m Masker) ([]byte, error) {
	principal, detail := prepareEvent(ev, m)
	return body(func(e *zerolog.Event) {
		e.Str("phase", string(PhaseEvent)).Str("writer", writer).Str("kind", ev.Kind)
		object(e, "principal", principal)
		raw(e, "detail", detail)
	})
}

func prepareEvent(ev Event, m Masker) (*Principal, json.RawMessage) {
	var detail json.RawMessage
	if ev.Detail != nil {
		var err error
		if detail, err = jsonv2.Marshal(ev.Detail, jsonv2.Deterministic(true)); err != nil {
			detail = marker("invalid", 0)
		}
	}
	// A call with the same fields goes through the one masking function.
	c := prepare(Call{Principal: ev.Principal, Params: detail}, m)
	return c.Principal, c.Params
}
