package audit

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/toolwarrant/toolwarrant/decision"
)

// encoder turns members into JSON with zerolog. Only the bytes are zerolog's
// business: it writes into a buffer of ours, and the writer writes them out
// and checks every error. Not for concurrent use.
type encoder struct {
	buf bytes.Buffer
	log zerolog.Logger
}

func newEncoder() *encoder {
	e := &encoder{}
	e.log = zerolog.New(&e.buf)
	return e
}

var encoders = sync.Pool{New: func() any { return newEncoder() }}

// members encodes what fill adds to the event and appends it to dst, without
// the braces around it.
func (e *encoder) members(dst []byte, fill func(*zerolog.Event)) ([]byte, error) {
	e.buf.Reset()
	ev := e.log.Log()
	if ev == nil { // zerolog's global level can switch off every logger of a process
		return dst, errors.New("zerolog is disabled by its global level")
	}
	fill(ev)
	ev.Send()
	b := e.buf.Bytes()
	if len(b) < 4 || b[0] != '{' || b[len(b)-2] != '}' || bytes.IndexByte(b, '\n') != len(b)-1 {
		return dst, errors.New("zerolog gave no single line")
	}
	return append(dst, Escaped(b[1:len(b)-2])...), nil
}

// appendHead appends the opening brace and the members of a line that depend
// on its place in the chain. It is what the committer does for each line, one
// after another, so it makes no detour.
func appendHead(dst []byte, now time.Time, l link) []byte {
	dst = append(dst, `{"time":"`...)
	dst = now.UTC().AppendFormat(dst, timeLayout)
	dst = append(dst, `","schema":"`+Schema+`","seq":`...)
	dst = strconv.AppendUint(dst, l.seq+1, 10)
	if l.seq == 0 {
		return append(dst, `,"prev":null`...)
	}
	dst = append(dst, `,"prev":"`+hashPrefix...)
	dst = hex.AppendEncode(dst, l.head[:])
	return append(dst, '"')
}

// bodies are the buffers of records that are in the log.
var bodies sync.Pool

// recycle gives the body of an answered request back. Nothing may refer to it
// any more.
func recycle(body []byte) {
	if cap(body) > 0 && cap(body) <= 64<<10 {
		bodies.Put(&body)
	}
}

// body encodes the members from phase on, without sum.
func body(fill func(*zerolog.Event)) ([]byte, error) {
	e := encoders.Get().(*encoder)
	defer encoders.Put(e)
	var dst []byte
	if b, ok := bodies.Get().(*[]byte); ok {
		dst = (*b)[:0]
	}
	return e.members(dst, fill)
}

// encodeCall encodes an already prepared call.
func encodeCall(writer string, c *Call) ([]byte, error) {
	return body(func(e *zerolog.Event) {
		e.Str("phase", string(c.Phase)).Str("writer", writer).Str("callId", c.CallID)
		str(e, "relatedCallId", c.RelatedCallID)
		str(e, "traceId", c.TraceID)
		e.Str("origin", string(c.Origin))
		object(e, "principal", c.Principal)
		object(e, "tool", (*toolObject)(c.Tool))
		object(e, "policy", c.Policy)
		object(e, "decision", c.Decision)
		object(e, "toolSafety", (*safetyObject)(c.ToolSafety))
		object(e, "effectivePolicy", (*effectiveObject)(c.Effective))
		str(e, "riskLevel", c.RiskLevel)
		if c.RiskSignals == nil {
			null(e, "riskSignals")
		} else {
			e.Array("riskSignals", (*signalList)(&c.RiskSignals))
		}
		if c.Reasons == nil {
			null(e, "reasons")
		} else {
			e.Array("reasons", (*reasonList)(&c.Reasons))
		}
		object(e, "humanInTheLoop", c.HITL)
		raw(e, "params", c.Params)
		str(e, "paramsDigest", c.ParamsDigest)
		str(e, "outcome", (*string)(c.Outcome))
		object(e, "error", c.Error)
		object(e, "durationMs", c.Duration)
		object(e, "usage", c.Usage)
		object(e, "result", c.Result)
		object(e, "isolation", (*isolationObject)(c.Isolation))
		str(e, "testMode", c.TestMode)
		object(e, "shadow", c.Shadow)
		if c.Sandbox == nil {
			null(e, "sandbox")
		} else {
			e.Array("sandbox", (*commandList)(&c.Sandbox))
		}
	})
}

// nullableObject is a pointer to T that can encode itself.
type nullableObject[T any] interface {
	*T
	zerolog.LogObjectMarshaler
}

func object[T any, P nullableObject[T]](e *zerolog.Event, key string, v P) {
	if v == nil {
		null(e, key)
		return
	}
	e.Object(key, v)
}

func str(e *zerolog.Event, key string, v *string) {
	if v == nil {
		null(e, key)
		return
	}
	e.Str(key, *v)
}

func num(e *zerolog.Event, key string, v *int64) {
	if v == nil {
		null(e, key)
		return
	}
	e.Int64(key, *v)
}

func truth(e *zerolog.Event, key string, v *bool) {
	if v == nil {
		null(e, key)
		return
	}
	e.Bool(key, *v)
}

func raw(e *zerolog.Event, key string, v json.RawMessage) {
	if len(v) == 0 {
		null(e, key)
		return
	}
	e.RawJSON(key, v)
}

var nullJSON = []byte("null")

func null(e *zerolog.Event, key string) { e.RawJSON(key, nullJSON) }

type toolObject decision.Tool

// MarshalZerologObject encodes the tool.
func (t *toolObject) MarshalZerologObject(e *zerolog.Event) {
	e.Str("toolId", t.ToolID).Str("name", t.Name).Str("category", t.Category).Str("specDigest", t.SpecDigest)
}

type signalList []decision.Signal

// MarshalZerologArray encodes the signals.
func (l *signalList) MarshalZerologArray(a *zerolog.Array) {
	for i := range *l {
		a.Object((*signalObject)(&(*l)[i]))
	}
}

type signalObject decision.Signal

// MarshalZerologObject encodes one signal.
func (s *signalObject) MarshalZerologObject(e *zerolog.Event) {
	e.Str("id", s.ID).Str("level", s.Level).Str("message", s.Message)
}

type reasonList []decision.Reason

// MarshalZerologArray encodes the reasons.
func (l *reasonList) MarshalZerologArray(a *zerolog.Array) {
	for i := range *l {
		a.Object((*reasonObject)(&(*l)[i]))
	}
}

type reasonObject decision.Reason

// MarshalZerologObject encodes one reason.
func (r *reasonObject) MarshalZerologObject(e *zerolog.Event) {
	e.Str("id", r.ID).Str("message", r.Message).Str("path", r.Path)
}
