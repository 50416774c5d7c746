package query

import (
	"bytes"
	"context"

	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/fault"
)

// Story is what a log says of one call, each part in the order of the log.
type Story struct {
	CallID  string         `json:"callId"`
	Records []audit.Record `json:"records"` // ask, open, close of the call
	Related []audit.Record `json:"related"` // closes of calls that it goes on with, or that go on with it
	Events  []audit.Record `json:"events"`  // what people did about it, such as approval.decide
}

// Find gathers the story of a call from the files. A call of which there is no
// record is a USAGE error, reason "no-record".
func Find(ctx context.Context, files []string, callID string) (Story, error) {
	s := Story{CallID: callID, Records: []audit.Record{}, Related: []audit.Record{}, Events: []audit.Record{}}
	before := ""
	mark := []byte(`"` + callID + `"`)
	err := audit.Scan(ctx, files, func(l audit.Line) error {
		if !bytes.Contains(l.Raw, mark) {
			return nil
		}
		r, err := l.Decode()
		if err != nil {
			return err
		}
		switch {
		case l.Head.CallID == callID:
			s.Records = append(s.Records, r)
			before = text(r.RelatedCallID)
		case l.Head.Phase == audit.PhaseClose && text(r.RelatedCallID) == callID:
			s.Related = append(s.Related, r)
		case l.Head.Phase == audit.PhaseEvent && bytes.Contains(r.Detail, mark):
			s.Events = append(s.Events, r)
		}
		return nil
	})
	if err != nil {
		return s, err
	}
	if len(s.Records) == 0 {
		return s, fault.New(fault.Usage, audit.ReasonNoRecord, "there is no record of the call %q in these files", callID)
	}
	if before == "" {
		return s, nil
	}
	err = Select(ctx, files, Filter{CallIDs: []string{before}}, func(r audit.Record, _ audit.Line) error {
		if r.CallID == before {
			s.Related = append([]audit.Record{r}, s.Related...)
		}
		return nil
	})
	return s, err
}

// Last is the record that says most: the close, or what there is before it.
func (s Story) Last() audit.Record { return s.Records[len(s.Records)-1] }
