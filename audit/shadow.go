package audit

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/rs/zerolog"

	"github.com/toolwarrant/toolwarrant/fault"
)

// Shadow is what a policy that is not in force says of a call: how it would
// have come out, or why it said nothing.
type Shadow struct {
	Revision    string       `json:"revision"`
	Kind        *string      `json:"kind"`        // same, newly-denied, newly-allowed, approval-changed, changed
	Rules       []string     `json:"rules"`       // behind the difference
	Differences []Difference `json:"differences"` // from what was enforced to what would have been
	Error       *Error       `json:"error"`       // set where Kind is not
}

// Difference is one thing in which two decisions differ.
type Difference struct {
	Path      string          `json:"path"`      // as in a decision, joined by dots
	Direction string          `json:"direction"` // widened, tightened, changed
	Old       json.RawMessage `json:"old"`       // as enforced; null where there was nothing
	New       json.RawMessage `json:"new"`
	Added     []string        `json:"added"` // entries of a list
	Removed   []string        `json:"removed"`
}

// A shadow is beside the point of a record and must not be what makes one too
// long.
const (
	maxDifferences   = 100
	maxShadowEntries = 100      // rules, and entries of a list that came or went
	maxShadowValue   = 4 << 10  // bytes of one value
	maxShadowBytes   = 64 << 10 // bytes of all differences together
)

// shadow masks, then bounds, what another policy says. All of it but the
// revision is text that a policy made, which may have read the arguments.
func (k *masking) shadow(s *Shadow) *Shadow {
	if s == nil {
		return nil
	}
	out := *s
	out.Rules = k.shadowEntries(s.Rules, "/shadow/rules")
	if s.Differences != nil {
		out.Differences = k.differences(s.Differences)
	}
	if s.Error != nil {
		e := k.failure(*s.Error, "/shadow/error")
		out.Error = &e
	}
	return &out
}

func (k *masking) differences(list []Difference) []Difference {
	out := make([]Difference, 0, min(len(list), maxDifferences))
	room := maxShadowBytes
	for i, d := range list {
		at := "/shadow/differences/" + strconv.Itoa(i)
		d.Path = k.text(d.Path, maxName, at+"/path")
		d.Old, d.New = k.shadowValue(d.Old, at+"/old"), k.shadowValue(d.New, at+"/new")
		d.Added, d.Removed = k.shadowEntries(d.Added, at+"/added"), k.shadowEntries(d.Removed, at+"/removed")
		room -= len(d.Path) + len(d.Old) + len(d.New)
		for _, e := range slices.Concat(d.Added, d.Removed) {
			room -= len(e)
		}
		if room < 0 || i == maxDifferences-1 && len(list) > maxDifferences {
			return append(out, Difference{Path: fmt.Sprintf("(%d more)", len(list)-i), Direction: "changed"})
		}
		out = append(out, d)
	}
	return out
}

func (k *masking) shadowValue(raw json.RawMessage, at string) json.RawMessage {
	if v := k.json(raw, at); len(v) <= maxShadowValue {
		return v
	}
	return marker("truncated", len(raw))
}

func (k *masking) shadowEntries(list []string, at string) []string {
	list = slices.Clone(capList(list, maxShadowEntries, func(rest []string) string { return fmt.Sprintf("(%d more)", len(rest)) }))
	for i := range list {
		list[i] = k.text(list[i], maxName, at+"/"+strconv.Itoa(i))
	}
	return list
}

// without gives the shadow of a record that has no room for it.
func (s *Shadow) without() *Shadow {
	reason := "too-long"
	return &Shadow{Revision: s.Revision, Error: &Error{Code: fault.PolicyUnavailable, Reason: &reason, Message: "the record has no room for what the shadow policy says"}}
}

// MarshalZerologObject encodes what another policy says.
func (s *Shadow) MarshalZerologObject(e *zerolog.Event) {
	e.Str("revision", s.Revision)
	str(e, "kind", s.Kind)
	if s.Rules == nil {
		null(e, "rules")
	} else {
		e.Strs("rules", s.Rules)
	}
	if s.Differences == nil {
		null(e, "differences")
	} else {
		e.Array("differences", (*differenceList)(&s.Differences))
	}
	object(e, "error", s.Error)
}

type differenceList []Difference

// MarshalZerologArray encodes the differences.
func (l *differenceList) MarshalZerologArray(a *zerolog.Array) {
	for i := range *l {
		a.Object(&(*l)[i])
	}
}

// MarshalZerologObject encodes one difference.
func (d *Difference) MarshalZerologObject(e *zerolog.Event) {
	e.Str("path", d.Path).Str("direction", d.Direction)
	raw(e, "old", d.Old)
	raw(e, "new", d.New)
	e.Strs("added", d.Added).Strs("removed", d.Removed)
}
