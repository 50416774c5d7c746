// Package query finds records of an audit log and says what they tell. It
// reads the files and needs nothing else: no server, no key. Where the log has
// an index it reads less, and says the same.
package query

import (
	"bytes"
	"context"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/fault"
)

// Filter says which closes are wanted: those that fit every field which is
// set. Within a field one value is enough.
type Filter struct {
	Since, Until time.Time // the close lies in [Since, Until)
	CallIDs      []string  // of the call, or of the one that it goes on with
	Tools        []string  // name or toolId
	Principals   []string  // subject or clientId
	Outcomes     []string  // OK, DENIED, ERROR
	Codes        []string  // of the error, or CODE/reason
	Levels       []string  // L0 to L5
	Rules        []string  // ids of risk signals, of reasons, and of what asked a human or did not
	Hosts        []string  // that the code talked to, or tried to; a pattern of path.Match
	Paths        []string  // that the code touched; a pattern of path.Match, or a folder that ends in /
	Changed      []string  // that the code wrote, copied, moved or deleted, or tried to, by itself or with a folder above it
	Params       []Param   // values of arguments; of several names all have to fit

	// Key gives the key of keyring.ParamValue that an id names, for arguments
	// that are recorded as keyed digests. Nil knows none.
	Key func(id string) (key []byte, known bool)
}

var levels = []string{"L0", "L1", "L2", "L3", "L4", "L5"}

// Check refuses values that fit nothing. The error is USAGE.
func (f Filter) Check() error {
	known := func(flag string, got, want []string) error {
		for _, v := range got {
			if !slices.Contains(want, v) {
				return fault.New(fault.Usage, flag, "%q is no %s; it is one of %s", v, flag, strings.Join(want, ", "))
			}
		}
		return nil
	}
	if err := known("outcome", f.Outcomes, []string{string(fault.OK), string(fault.Denied), string(fault.Failed)}); err != nil {
		return err
	}
	if err := known("level", f.Levels, levels); err != nil {
		return err
	}
	for flag, patterns := range map[string][]string{"host": f.Hosts, "path": f.Paths, "changed": f.Changed} {
		for _, p := range patterns {
			if _, err := path.Match(p, ""); err != nil {
				return fault.New(fault.Usage, flag, "%q is no pattern; * stands for any part, [ and ] around a choice", p)
			}
		}
	}
	if !f.Until.IsZero() && !f.Since.Before(f.Until) {
		return fault.New(fault.Usage, "until", "--until lies before --since: no record fits")
	}
	return nil
}

// Tail gives the last n closes that fit, then, until ctx ends, each that is
// added to the file; follow false ends it after the last of now. It looks
// every so often.
func Tail(ctx context.Context, file string, f Filter, n int, follow bool, every time.Duration, each func(audit.Record, []byte)) error {
	if err := f.Check(); err != nil {
		return err
	}
	type found struct {
		record audit.Record
		raw    []byte
	}
	var last []found
	m := newMatcher(f)
	at, err := audit.ScanFrom(ctx, file, 0, func(l audit.Line) error {
		r, ok, err := m.match(l)
		if err != nil || !ok {
			return err
		}
		if last = append(last, found{r, bytes.Clone(l.Raw)}); len(last) > n {
			last = last[1:]
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, x := range last {
		each(x.record, x.raw)
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for follow {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		at, err = audit.ScanFrom(ctx, file, at, func(l audit.Line) error {
			r, ok, err := m.match(l)
			if err == nil && ok {
				each(r, l.Raw)
			}
			return err
		})
		if err != nil && ctx.Err() == nil {
			return err
		}
	}
	return nil
}

// matcher is a filter made ready.
type matcher struct {
	Filter
	marks        [][][]byte
	since, until string
	wanted       []*wantedParam
	foreign      map[string]bool // ids of keys that are not known
}

func newMatcher(f Filter) *matcher {
	return &matcher{Filter: f, marks: f.marks(), since: stamp(f.Since), until: stamp(f.Until), wanted: wantedParams(f.Params), foreign: map[string]bool{}}
}

func (m *matcher) match(l audit.Line) (audit.Record, bool, error) {
	if l.Head.Phase != audit.PhaseClose || l.Head.Time < m.since || m.until != "" && l.Head.Time >= m.until {
		return audit.Record{}, false, nil
	}
	for _, choice := range m.marks { // to decode a line costs a hundred times as much
		if !slices.ContainsFunc(choice, func(mark []byte) bool { return bytes.Contains(l.Raw, mark) }) {
			return audit.Record{}, false, nil
		}
	}
	r, err := l.Decode()
	return r, err == nil && m.fits(&r) && m.params(&r), err
}

// stamp is a time as lines write it, which orders like the time itself.
func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04:05.000000Z")
}

// marks are texts of which a line that fits holds one of each list. The name of
// the member belongs to them: a value such as "none" stands in every line for
// something else.
func (f Filter) marks() (out [][][]byte) {
	codes := make([]string, len(f.Codes))
	for i, c := range f.Codes {
		codes[i], _, _ = strings.Cut(c, "/") // a reason stands apart from its code
	}
	for _, of := range []struct{ list, members []string }{
		{f.CallIDs, []string{"callId", "relatedCallId"}}, {f.Tools, []string{"name", "toolId"}}, {f.Principals, []string{"subject", "clientId"}},
		{f.Outcomes, []string{"outcome"}}, {codes, []string{"code"}}, {f.Levels, []string{"riskLevel"}}, {f.Rules, []string{"id", "ruleId"}},
	} {
		var choice [][]byte
		for _, v := range of.list {
			if strings.ContainsFunc(v, escaped) {
				choice = nil
				break
			}
			for _, member := range of.members {
				choice = append(choice, []byte(`"`+member+`":"`+v+`"`))
			}
		}
		if choice != nil {
			out = append(out, choice)
		}
	}
	var tops []string // what the folders above a file have in common with it
	for _, p := range f.Changed {
		top, _, _ := strings.Cut(p, "/")
		tops = append(tops, top)
	}
	for _, list := range [][]string{f.Hosts, f.Paths, tops} {
		if len(list) == 0 {
			continue
		}
		choice := [][]byte{[]byte(moreEnd + `"`)}
		for _, p := range list {
			part := literal(p)
			if part == "" {
				choice = nil
				break
			}
			choice = append(choice, []byte(part))
		}
		if choice != nil {
			out = append(out, choice)
		}
	}
	return out
}

// literal is the longest part of a pattern that stands for itself alone, as
// lines write it; "" if there is none.
func literal(pattern string) (longest string) {
	if strings.ContainsAny(pattern, `[]\`) {
		return ""
	}
	for part := range strings.FieldsFuncSeq(pattern, func(c rune) bool { return c == '*' || c == '?' || escaped(c) }) {
		if len(part) > len(longest) {
			longest = part
		}
	}
	return longest
}

// escaped reports whether JSON may spell a character in several ways.
func escaped(c rune) bool {
	return c < ' ' || c > '~' || strings.ContainsRune(`"\<>&`, c)
}

func (f Filter) fits(r *audit.Record) bool {
	has := func(list []string, values ...string) bool {
		return len(list) == 0 || slices.ContainsFunc(values, func(v string) bool { return v != "" && slices.Contains(list, v) })
	}
	var tool, principal, codes, rules []string
	if r.Tool != nil {
		tool = []string{r.Tool.Name, r.Tool.ToolID}
	}
	if r.Principal != nil {
		principal = []string{r.Principal.Subject, r.Principal.ClientID}
	}
	if r.Error != nil {
		codes = []string{string(r.Error.Code), string(r.Error.Code) + "/" + text(r.Error.Reason)}
	}
	for _, s := range r.RiskSignals {
		rules = append(rules, s.ID)
	}
	for _, x := range r.Reasons {
		rules = append(rules, x.ID)
	}
	if h := r.HITL; h != nil {
		rules = append(rules, text(h.RuleID))
	}
	return has(f.CallIDs, r.CallID, text(r.RelatedCallID)) && has(f.Tools, tool...) && has(f.Principals, principal...) &&
		has(f.Outcomes, outcome(r)) && has(f.Codes, codes...) && has(f.Levels, text(r.RiskLevel)) && has(f.Rules, rules...) &&
		f.touches(r)
}

// touches holds hosts and paths against what the call used.
func (f Filter) touches(r *audit.Record) bool {
	if len(f.Hosts)+len(f.Paths)+len(f.Changed) == 0 {
		return true
	}
	if r.Usage == nil {
		return false
	}
	host := func(e audit.Egress) bool {
		return slices.ContainsFunc(f.Hosts, func(p string) bool { return hostFits(p)(e.Host) })
	}
	file := func(u audit.FSUse) bool {
		return slices.ContainsFunc(f.Paths, func(p string) bool { return pathFits(p)(u.Path) })
	}
	change := func(u audit.FSUse) bool {
		return u.Changes() && slices.ContainsFunc(f.Changed, func(p string) bool { return changeFits(p)(u.Path) })
	}
	return (len(f.Hosts) == 0 || slices.ContainsFunc(r.Usage.Egress, host)) &&
		(len(f.Paths) == 0 || slices.ContainsFunc(r.Usage.FS, file)) &&
		(len(f.Changed) == 0 || slices.ContainsFunc(r.Usage.FS, change))
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func outcome(r *audit.Record) string {
	if r.Outcome == nil {
		return ""
	}
	return string(*r.Outcome)
}
