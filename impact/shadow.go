package impact

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/decision"
)

// ShadowOptions say which records of a log count.
type ShadowOptions struct {
	// Revision is the beginning of the revision of the shadow policy that is
	// asked about; "" = all.
	Revision string
	// Unverified takes a log that does not verify.
	Unverified bool
}

// ShadowSummary counts calls: Calls = Unasked + Failed + those of Counts.
type ShadowSummary struct {
	Calls   int `json:"calls"`
	Unasked int `json:"unasked"` // without a shadow policy, or ended before a decision
	Failed  int `json:"failed"`  // see Failures
	Counts
	Widened int `json:"widened"` // calls that could do more, or would be asked for less
}

// ShadowRevision is a shadow policy that said something.
type ShadowRevision struct {
	Revision string `json:"revision"`
	Calls    int    `json:"calls"`
}

// ShadowTool are the calls of a tool.
type ShadowTool struct {
	Name   string `json:"name"`
	ToolID string `json:"toolId"`
	Counts
	Failed int `json:"failed"`
}

// ShadowFailure is why a shadow policy gave no answer.
type ShadowFailure struct {
	Code    string `json:"code"`
	Reason  string `json:"reason"`
	Message string `json:"message"` // of the first
	Calls   int    `json:"calls"`
}

// ShadowReport is what shadow policies said of the calls of a log while they
// were made.
type ShadowReport struct {
	Revisions   []ShadowRevision `json:"revisions"`
	Summary     ShadowSummary    `json:"summary"`
	Tools       []ShadowTool     `json:"tools"`
	Rules       []RuleCounts     `json:"rules"`
	Differences []Difference     `json:"differences"` // the first 100
	Failures    []ShadowFailure  `json:"failures"`
}

// Shadow counts what the records of a log say of their shadow policies. The
// files together are one log, read in bounded memory. Nothing is decided: the
// answers are those of then. A log that does not verify is refused as Replay
// does.
func Shadow(ctx context.Context, files []string, o ShadowOptions) (*ShadowReport, error) {
	if !o.Unverified {
		if err := whole(ctx, files); err != nil {
			return nil, err
		}
	}
	t := shadowTally{ReplayReport: newReplayReport(), revisions: map[string]*ShadowRevision{}, failures: map[string]*ShadowFailure{}}
	err := audit.Scan(ctx, files, func(l audit.Line) error {
		if l.Head.Phase != audit.PhaseClose {
			return nil
		}
		rec, err := l.Decode()
		if err != nil {
			return err
		}
		return t.add(rec, o.Revision)
	})
	if err != nil {
		return nil, err
	}
	return t.report(), nil
}

// shadowTally counts in the rows of a replay; its unrepeatable calls are those
// without an answer.
type shadowTally struct {
	*ReplayReport
	revisions map[string]*ShadowRevision
	failures  map[string]*ShadowFailure
}

func (t *shadowTally) add(rec audit.Record, revision string) error {
	s := rec.Shadow
	if s != nil && !strings.HasPrefix(s.Revision, revision) {
		return nil
	}
	t.Summary.Calls++
	if s == nil {
		t.Summary.Undecided++
		return nil
	}
	if rec.Tool == nil {
		rec.Tool = &decision.Tool{}
	}
	row(t.revisions, s.Revision, &ShadowRevision{Revision: s.Revision}, &ShadowRevision{Revision: more}).Calls++
	if s.Error != nil || s.Kind == nil {
		t.failed(rec, s.Error)
		return nil
	}
	v := Verdict{Kind: Kind(*s.Kind), Rules: s.Rules, Changes: make([]Change, len(s.Differences))}
	for i, d := range s.Differences {
		c := Change{Path: d.Path, Direction: Direction(d.Direction), Added: d.Added, Removed: d.Removed}
		for _, value := range []struct {
			raw json.RawMessage
			to  *any
		}{{d.Old, &c.Old}, {d.New, &c.New}} {
			if len(value.raw) == 0 {
				continue
			}
			if err := json.Unmarshal(value.raw, value.to); err != nil {
				return err
			}
		}
		v.Changes[i] = c
	}
	t.count(rec, v)
	return nil
}

func (t *shadowTally) failed(rec audit.Record, e *audit.Error) {
	t.Summary.Unrepeatable++
	t.tool(rec).Unrepeatable++
	f := ShadowFailure{Reason: "unknown"}
	if e != nil {
		f = ShadowFailure{Code: string(e.Code), Message: e.Message}
		if e.Reason != nil {
			f.Reason = *e.Reason
		}
	}
	row(t.failures, f.Code+" "+f.Reason, &f, &ShadowFailure{Reason: more}).Calls++
}

func (t *shadowTally) report() *ShadowReport {
	in := t.finish()
	out := &ShadowReport{
		Revisions: []ShadowRevision{}, Tools: []ShadowTool{}, Rules: in.Rules, Differences: in.Differences, Failures: []ShadowFailure{},
		Summary: ShadowSummary{in.Summary.Calls, in.Summary.Undecided, in.Summary.Unrepeatable, in.Summary.Counts, in.Summary.Widened},
	}
	for _, tool := range in.Tools {
		out.Tools = append(out.Tools, ShadowTool{tool.Name, tool.ToolID, tool.Counts, tool.Unrepeatable})
	}
	for _, r := range t.revisions {
		out.Revisions = append(out.Revisions, *r)
	}
	for _, f := range t.failures {
		out.Failures = append(out.Failures, *f)
	}
	slices.SortFunc(out.Revisions, func(a, b ShadowRevision) int { return cmp.Compare(a.Revision, b.Revision) })
	slices.SortFunc(out.Failures, func(a, b ShadowFailure) int {
		return cmp.Or(cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Code, b.Code))
	})
	return out
}

// Refused reports whether a gate does not let the shadow policy pass. What it
// did not answer is a difference.
func (r *ShadowReport) Refused(g Gate) bool {
	return g.Refuses(r.Summary.Widened > 0, r.Summary.differ()+r.Summary.Failed > 0)
}

// Text is the report for a person at a terminal.
func (r *ShadowReport) Text() string {
	var b strings.Builder
	s := r.Summary
	w := tabwriter.NewWriter(&b, 0, 8, 2, ' ', 0)
	writeSummary(w, []counted{
		{"calls", s.Calls}, {"same", s.Same}, {"would be denied", s.NewlyDenied}, {"would be allowed", s.NewlyAllowed},
		{"approval would change", s.ApprovalChanged}, {"otherwise changed", s.Changed},
		{"no answer", s.Failed}, {"shadow not asked", s.Unasked},
	})
	if len(r.Revisions) > 0 {
		fmt.Fprintln(w, "\nSHADOW POLICY\tCALLS")
	}
	for _, v := range r.Revisions {
		fmt.Fprintf(w, "%s\t%d\n", visible(v.Revision), v.Calls)
	}
	tools := make([]ToolCounts, len(r.Tools))
	for i, t := range r.Tools {
		tools[i] = ToolCounts{t.Name, t.ToolID, t.Counts, t.Failed}
	}
	writeTools(w, "NO ANSWER", tools)
	writeRules(w, r.Rules)
	if len(r.Failures) > 0 {
		fmt.Fprintln(w, "\nNO ANSWER\tCALLS\tBECAUSE")
	}
	for _, f := range r.Failures {
		fmt.Fprintf(w, "%s\t%d\t%s\n", visible(f.Reason), f.Calls, visible(f.Message))
	}
	writeDifferences(w, r.Differences, s.differ())
	w.Flush() // into memory: it cannot fail
	return b.String()
}
