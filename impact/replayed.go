package impact

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/toolwarrant/toolwarrant/audit"
)

// Kind is what a replay makes of a call.
type Kind string

// The kinds. A call is of exactly one, the first that fits: what changed for
// the caller goes before what changed behind it.
const (
	NewlyDenied     Kind = "newly-denied"
	NewlyAllowed    Kind = "newly-allowed"
	ApprovalChanged Kind = "approval-changed"
	OtherChange     Kind = "changed" // level, grants or signals; the answer is the same
	Same            Kind = "same"
)

// Counts are calls by kind.
type Counts struct {
	Same            int `json:"same"`
	NewlyDenied     int `json:"newlyDenied"`
	NewlyAllowed    int `json:"newlyAllowed"`
	ApprovalChanged int `json:"approvalChanged"`
	Changed         int `json:"changed"`
}

func (c *Counts) add(k Kind) {
	switch k {
	case Same:
		c.Same++
	case NewlyDenied:
		c.NewlyDenied++
	case NewlyAllowed:
		c.NewlyAllowed++
	case ApprovalChanged:
		c.ApprovalChanged++
	default:
		c.Changed++
	}
}

// differ counts the calls that are not the same.
func (c Counts) differ() int { return c.NewlyDenied + c.NewlyAllowed + c.ApprovalChanged + c.Changed }

// ReplaySummary counts calls: Calls = Undecided + Unrepeatable + those of
// Counts.
type ReplaySummary struct {
	Calls        int `json:"calls"`
	Undecided    int `json:"undecided"`    // refused before the policy was asked
	Unrepeatable int `json:"unrepeatable"` // see Gaps
	Counts
	Widened int `json:"widened"` // calls that may do more, or are asked for less
	Partial int `json:"partial"` // of those of Counts: see Partial
}

// ToolCounts are the calls of a tool.
type ToolCounts struct {
	Name   string `json:"name"`
	ToolID string `json:"toolId"`
	Counts
	Unrepeatable int `json:"unrepeatable"`
}

// RuleCounts are the differences that a rule is behind. A call counts for
// each rule that it names.
type RuleCounts struct {
	ID string `json:"id"`
	Counts
}

// Difference is one call that would come out otherwise.
type Difference struct {
	CallID  string   `json:"callId"`
	Time    string   `json:"time"`
	Tool    string   `json:"tool"`
	Kind    Kind     `json:"kind"`
	Rules   []string `json:"rules"`
	Changes []Change `json:"changes"`
}

// Partial says why calls were compared by what their records hold alone, and
// what these do not hold.
type Partial struct {
	Gap
	NotCompared []string `json:"notCompared"` // paths, as in a decision
}

// ReplayReport is what a policy makes of the calls of a log.
type ReplayReport struct {
	Policy      Policy        `json:"policy"`
	Summary     ReplaySummary `json:"summary"`
	Tools       []ToolCounts  `json:"tools"`
	Rules       []RuleCounts  `json:"rules"`
	Differences []Difference  `json:"differences"` // the first 100
	Gaps        []Gap         `json:"unrepeatable"`
	// Partial are why calls were compared by what their records hold alone.
	Partial []Partial `json:"partial"`

	tools map[toolKey]*ToolCounts
	rules map[string]*RuleCounts
	gaps  map[string]*Gap
	parts map[string]*Partial
}

func newReplayReport() *ReplayReport {
	return &ReplayReport{
		Differences: []Difference{}, Tools: []ToolCounts{}, Rules: []RuleCounts{}, Gaps: []Gap{}, Partial: []Partial{},
		tools: map[toolKey]*ToolCounts{}, rules: map[string]*RuleCounts{}, gaps: map[string]*Gap{}, parts: map[string]*Partial{},
	}
}

// compare counts a call that was decided again; rule is what asks, or does
// not ask, for approval now.
func (r *ReplayReport) compare(rec audit.Record, before, after Answer, rule string) {
	r.count(rec, judge(before, after, rule))
}

// partial counts a call of which not everything can be compared.
func (r *ReplayReport) partial(rec audit.Record, g Gap) {
	r.Summary.Partial++
	p := &Partial{Gap: g, NotCompared: unrecorded(rec)}
	rest := &Partial{Gap: gapOf(g.Reason, more, g.Message), NotCompared: p.NotCompared}
	row(r.parts, g.Reason+g.Pointer+strings.Join(p.NotCompared, " "), p, rest).Calls++
}

// count counts a call of which it is known what becomes of it.
func (r *ReplayReport) count(rec audit.Record, v Verdict) {
	r.Summary.add(v.Kind)
	r.tool(rec).add(v.Kind)
	if v.Kind == Same {
		return
	}
	if slices.ContainsFunc(v.Changes, func(c Change) bool { return c.Direction == Widened }) {
		r.Summary.Widened++
	}
	for _, id := range v.Rules {
		row(r.rules, id, &RuleCounts{ID: id}, &RuleCounts{ID: more}).add(v.Kind)
	}
	if len(r.Differences) < maxListed {
		r.Differences = append(r.Differences, Difference{
			CallID: rec.CallID, Time: rec.Time, Tool: rec.Tool.Name, Kind: v.Kind, Rules: v.Rules, Changes: v.Changes,
		})
	}
}

// unrepeatable counts a call that cannot be decided again.
func (r *ReplayReport) unrepeatable(rec audit.Record, g Gap) {
	r.Summary.Unrepeatable++
	r.tool(rec).Unrepeatable++
	row(r.gaps, g.Reason+g.Pointer, &g, &Gap{Reason: g.Reason, Pointer: more, Message: g.Message}).Calls++
}

func (r *ReplayReport) tool(rec audit.Record) *ToolCounts {
	key := toolKey{id: rec.Tool.ToolID}
	if key.id == "" {
		key.digest = rec.Tool.Name
	}
	return row(r.tools, key, &ToolCounts{Name: rec.Tool.Name, ToolID: rec.Tool.ToolID}, &ToolCounts{Name: more})
}

// more is the row for what goes beyond maxRows.
const more = "(more)"

func row[K comparable, V any](rows map[K]*V, key K, fresh, rest *V) *V {
	var last K
	if v, ok := rows[key]; ok {
		return v
	}
	if len(rows) >= maxRows {
		key, fresh = last, rest // the zero key is nobody's
		if v, ok := rows[key]; ok {
			return v
		}
	}
	rows[key] = fresh
	return fresh
}

// Verdict is what one answer makes of another to the same call.
type Verdict struct {
	Kind    Kind
	Rules   []string // what is behind a difference, by id; nil for Same
	Changes []Change
}

// Judge says what becomes of a call for which after is the answer in place of
// before.
func Judge(before, after Answer) Verdict { return judge(before, after, after.rule()) }

func judge(before, after Answer, rule string) Verdict {
	v := Verdict{Changes: Compare(before, after)}
	if v.Kind = kindOf(before, after, v.Changes); v.Kind != Same {
		v.Rules = rulesOf(v.Kind, rule, before, after, v.Changes)
	}
	return v
}

func kindOf(before, after Answer, changes []Change) Kind {
	switch {
	case before.allow() && !after.allow():
		return NewlyDenied
	case !before.allow() && after.allow():
		return NewlyAllowed
	case after.allow() && slices.ContainsFunc(changes, Change.ofApproval):
		return ApprovalChanged
	case len(changes) > 0:
		return OtherChange
	}
	return Same
}

// ofApproval: whether somebody is asked, or who may answer.
func (c Change) ofApproval() bool {
	return c.Path == approvalMode && c.Direction != Changed || strings.HasPrefix(c.Path, approvers)
}

// rulesOf names what is behind a difference: the ids of the reasons or
// signals that came or went, the rules of the approval, else the paths that
// changed.
func rulesOf(kind Kind, rule string, before, after Answer, changes []Change) []string {
	named := map[string]bool{}
	switch kind {
	case NewlyDenied:
		for _, r := range after.reasons() {
			named[r.ID] = true
		}
	case NewlyAllowed:
		for _, r := range before.reasons() {
			named[r.ID] = true
		}
	default:
		for _, c := range changes {
			for _, prefix := range []string{"reasons.", "riskSignals."} {
				if id, ok := strings.CutPrefix(c.Path, prefix); ok {
					named[id] = true
				}
			}
		}
		if kind == ApprovalChanged {
			for _, c := range changes {
				if c.ofApproval() {
					named[behind(c, before.rule(), rule)] = true
				}
			}
		}
	}
	if len(named) == 0 {
		for _, c := range changes {
			named[c.Path] = true
		}
	}
	return slices.Sorted(maps.Keys(named))
}

// behind names what a change of approval comes from: the rule that asks for
// more, the one of then where that is lifted. A rule that asks on both sides
// is not what changed who may answer: then it is the path.
func behind(c Change, was, is string) string {
	switch {
	case c.Path != approvalMode && (was == is || c.Direction == Changed):
		return c.Path
	case c.Direction == Widened && was != "":
		return was
	}
	return cmp.Or(is, c.Path)
}

// rule is what is behind the approval, or its absence.
func (a Answer) rule() string {
	if a.Decision == nil {
		return ""
	}
	h := a.Decision.HumanInTheLoop
	return cmp.Or(h.RuleID, h.Source)
}

// finish puts the rows in order.
func (r *ReplayReport) finish() *ReplayReport {
	for _, t := range r.tools {
		r.Tools = append(r.Tools, *t)
	}
	for _, t := range r.rules {
		r.Rules = append(r.Rules, *t)
	}
	for _, g := range r.gaps {
		r.Gaps = append(r.Gaps, *g)
	}
	for _, g := range r.parts {
		r.Partial = append(r.Partial, *g)
	}
	slices.SortFunc(r.Tools, func(a, b ToolCounts) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ToolID, b.ToolID))
	})
	slices.SortFunc(r.Rules, func(a, b RuleCounts) int { return cmp.Compare(a.ID, b.ID) })
	slices.SortFunc(r.Gaps, compareGaps)
	slices.SortFunc(r.Partial, func(a, b Partial) int {
		return cmp.Or(compareGaps(a.Gap, b.Gap), slices.Compare(a.NotCompared, b.NotCompared))
	})
	return r
}

func compareGaps(a, b Gap) int {
	return cmp.Or(cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Pointer, b.Pointer))
}

// Refused reports whether a gate does not let the policy pass.
func (r *ReplayReport) Refused(g Gate) bool {
	return g.Refuses(r.Summary.Widened > 0, r.Summary.differ() > 0)
}
