package lint

import (
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/internal/plural"
	"github.com/toolwarrant/toolwarrant/spec"
)

// State says what a suppression does.
type State string

// The states. Only a used one hides anything.
const (
	Used    State = "used"
	Unused  State = "unused"  // no finding of its rule
	Expired State = "expired" // its last day is over
	Invalid State = "invalid" // no rule that could be suppressed, or no date
)

// Suppression is one entry of x-toolwarrant-lint with its place and what came
// of it.
type Suppression struct {
	ID       string  `json:"id"`
	Reason   string  `json:"reason"`
	Expires  *string `json:"expires"`
	State    State   `json:"state"`
	Findings int     `json:"findings"` // that it hides
	File     string  `json:"file"`
	Pointer  string  `json:"pointer"`
	Line     int     `json:"line"`
	Column   int     `json:"column"`
}

// suppressed is a finding that its author accepts.
type suppressed struct {
	Finding
	reason string
}

// suppress takes the findings of a document, all from index from on, through
// the list that the document itself holds. A list that says anything wrong is
// a finding, and those of this kind cannot be suppressed: otherwise a list
// could grow old without anybody seeing it.
func (l *linter) suppress(s *spec.Spec, from int) {
	list := s.Suppressions()
	if len(list) == 0 {
		return
	}
	l.withholdReasons(s, list, from)
	reasons, hidden := map[string]int{}, map[string]int{}
	states := make([]State, len(list))
	for i, e := range list {
		if states[i] = l.state(e); states[i] == Used {
			if _, twice := reasons[e.ID]; twice {
				states[i] = Unused
				continue
			}
			reasons[e.ID] = i
		}
	}
	kept := l.out[:from]
	for _, f := range l.out[from:] {
		if i, ok := reasons[f.RuleID]; ok && !ofList(s, f) {
			l.suppressed = append(l.suppressed, suppressed{f, list[i].Reason})
			hidden[f.RuleID]++
			continue
		}
		kept = append(kept, f)
	}
	l.out = kept
	for i, e := range list {
		if states[i] == Used && hidden[e.ID] == 0 && l.judges(e.ID) {
			states[i] = Unused
		}
		l.note(s, i, e, states[i], hidden[e.ID])
	}
}

// withheldReason stands for a reason that must not be repeated.
const withheldReason = "(not shown: the reason holds what looks like a secret)"

// unreadReason stands for one that no policy has looked at.
const unreadReason = "(not shown: the policy refused the document before the reason was checked for secrets)"

// withholdReasons replaces the reasons in which the policy found a secret,
// since every report would repeat them.
func (l *linter) withholdReasons(s *spec.Spec, list []spec.Suppression, from int) {
	for i := range list {
		pointer := s.Pointer() + spec.SuppressionsPointer + "/" + strconv.Itoa(i) + "/reason"
		switch {
		case l.refused:
			list[i].Reason = unreadReason
		case slices.ContainsFunc(l.out[from:], func(f Finding) bool {
			return strings.HasPrefix(f.RuleID, secretPrefix) && f.Pointer == pointer
		}):
			list[i].Reason = withheldReason
		}
	}
}

// ofList reports whether a finding is about the list itself.
func ofList(s *spec.Spec, f Finding) bool {
	return strings.HasPrefix(f.Pointer, s.Pointer()+spec.SuppressionsPointer+"/")
}

// state is what can be said before the findings are known.
func (l *linter) state(e spec.Suppression) State {
	if !l.known(e.ID) {
		return Invalid
	}
	if e.Expires == "" {
		return Used
	}
	last, err := time.Parse(time.DateOnly, e.Expires)
	switch {
	case err != nil:
		return Invalid
	case !l.options.Now.UTC().Before(last.AddDate(0, 0, 1)):
		return Expired
	}
	return Used
}

// known reports whether a rule exists whose findings may be accepted. Without
// a policy its rules are unknown to this run and get the benefit of the doubt.
func (l *linter) known(id string) bool {
	if _, code := codes[id]; code || ofSuppressions[id] {
		return false
	}
	if ownRule(id) {
		return true
	}
	_, ok := l.options.Titles[id]
	return ok || !l.judges(id)
}

// judges reports whether this run knows the rules of the kind of id: its own,
// TW and a number, or with a policy all others.
func (l *linter) judges(id string) bool { return ownID.MatchString(id) || l.options.Resolve != nil }

var ownID = regexp.MustCompile(`^TW[0-9]+$`)

func ownRule(id string) bool {
	for _, r := range rules {
		if r.id == id {
			return true
		}
	}
	return id == "TW106" || id == "TW107"
}

// ofSuppressions are the rules about the list itself.
var ofSuppressions = map[string]bool{"TW116": true, "TW117": true, "TW118": true}

// note records an entry, and what is wrong with it.
func (l *linter) note(s *spec.Spec, i int, e spec.Suppression, state State, hidden int) {
	pointer := spec.SuppressionsPointer + "/" + strconv.Itoa(i)
	switch _, err := time.Parse(time.DateOnly, e.Expires); {
	case state == Invalid && l.known(e.ID) && err != nil:
		l.add(s, "TW116", Error, pointer+"/expires", quote(e.Expires)+" is no day of the calendar, so that the suppression has no effect")
	case state == Invalid:
		l.add(s, "TW116", Error, pointer+"/id", quote(e.ID)+" is no rule whose findings can be suppressed")
	case state == Expired:
		l.add(s, "TW117", Error, pointer+"/expires", "the suppression of "+quote(e.ID)+" ended with "+e.Expires+"; settle the finding, or decide anew")
	case state == Unused:
		l.add(s, "TW118", Warning, pointer, "nothing is found that the suppression of "+quote(e.ID)+" would hide; remove it")
	}
	if state != Used {
		hidden = 0
	}
	at := s.At(fault.New(fault.SpecInvariant, "suppression", ""), pointer)
	entry := Suppression{ID: e.ID, Reason: e.Reason, State: state, Findings: hidden, File: at.File, Pointer: at.Pointer, Line: at.Line, Column: at.Column}
	if e.Expires != "" {
		entry.Expires = &e.Expires
	}
	l.suppressions = append(l.suppressions, entry)
}

// SuppressionsText lists what the documents accept, one entry on a line.
func SuppressionsText(w io.Writer, r Report) error {
	for _, s := range r.suppressions {
		until := ""
		if s.Expires != nil {
			until = " until " + *s.Expires
		}
		line := fmt.Sprintf("%s:%d:%d: %s %s%s (%d): %s", s.File, s.Line, s.Column, s.ID, s.State, until, s.Findings, s.Reason)
		if _, err := fmt.Fprintln(w, visible(line)); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "%s in %s\n", plural.Of(len(r.suppressions), "suppression"), plural.Of(r.Summary.Files, "file"))
	return err
}

// SuppressionsJSON is SuppressionsText as one document.
func SuppressionsJSON(w io.Writer, r Report) error {
	list := r.suppressions
	if list == nil {
		list = []Suppression{}
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(map[string]any{"suppressions": list})
}
