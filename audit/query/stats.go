package query

import (
	"cmp"
	"maps"
	"slices"

	"github.com/toolwarrant/toolwarrant/audit"
)

// Stats counts calls. The zero value has counted none; it is not safe for
// concurrent use.
type Stats struct {
	Calls     int64            `json:"calls"`
	First     string           `json:"first"` // time of the first close, "" without any
	Last      string           `json:"last"`
	Outcomes  map[string]int64 `json:"outcomes"`
	Levels    map[string]int64 `json:"levels"`
	Approvals map[string]int64 `json:"approvals"` // outcomes of the human step
	Codes     map[string]int64 `json:"codes"`
	Tools     []ToolStats      `json:"tools"` // the most called first

	tools map[string]*ToolStats
}

// ToolStats counts the calls of one tool.
type ToolStats struct {
	Name    string  `json:"name"`
	Calls   int64   `json:"calls"`
	Denied  int64   `json:"denied"`
	Failed  int64   `json:"failed"`
	MeanMs  float64 `json:"meanMs"` // without the time of a human
	LongMs  float64 `json:"longestMs"`
	totalMs float64
}

// Add counts one close.
func (s *Stats) Add(r audit.Record) {
	if s.tools == nil {
		s.tools = map[string]*ToolStats{}
		s.Outcomes, s.Levels, s.Approvals, s.Codes = map[string]int64{}, map[string]int64{}, map[string]int64{}, map[string]int64{}
	}
	if s.Calls++; s.First == "" || r.Time < s.First {
		s.First = r.Time
	}
	s.Last = max(s.Last, r.Time)
	s.Outcomes[outcome(&r)]++
	if r.RiskLevel != nil {
		s.Levels[*r.RiskLevel]++
	}
	if r.HITL != nil {
		s.Approvals[string(r.HITL.Outcome)]++
	}
	if r.Error != nil {
		s.Codes[string(r.Error.Code)]++
	}
	name := ""
	if r.Tool != nil {
		name = r.Tool.Name
	}
	t := s.tools[name]
	if t == nil {
		t = &ToolStats{Name: name}
		s.tools[name] = t
	}
	t.Calls++
	switch outcome(&r) {
	case "DENIED":
		t.Denied++
	case "ERROR":
		t.Failed++
	}
	if d := r.Duration; d != nil {
		ms := d.Total - d.Approve
		t.totalMs += ms
		t.LongMs = max(t.LongMs, ms)
	}
}

// Done gives what was counted.
func (s *Stats) Done() Stats {
	out := *s
	out.Tools = []ToolStats{}
	for _, t := range s.tools {
		u := *t
		u.MeanMs = u.totalMs / float64(u.Calls)
		out.Tools = append(out.Tools, u)
	}
	slices.SortFunc(out.Tools, func(a, b ToolStats) int {
		return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Name, b.Name))
	})
	for _, m := range []*map[string]int64{&out.Outcomes, &out.Levels, &out.Approvals, &out.Codes} {
		if *m = maps.Clone(*m); *m == nil {
			*m = map[string]int64{}
		}
	}
	return out
}
