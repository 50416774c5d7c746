package sink

import (
	"encoding/json"
	"time"
)

// Head is what sinks read of a line to route it. Lines are ours; what a line
// does not have is zero.
type Head struct {
	Time    time.Time `json:"time"`
	Seq     int64     `json:"seq"`
	Phase   string    `json:"phase"`
	Writer  string    `json:"writer"`
	CallID  string    `json:"callId"`
	TraceID string    `json:"traceId"`
	Outcome string    `json:"outcome"`
	Kind    string    `json:"kind"`
}

// HeadOf reads a line; ok is false for what is no record.
func HeadOf(line []byte) (h Head, ok bool) {
	if json.Unmarshal(line, &h) != nil {
		return Head{}, false
	}
	return h, true
}

// Refusal reports whether the record is of a call that did not end well.
func (h Head) Refusal() bool { return h.Outcome == "DENIED" || h.Outcome == "ERROR" }
