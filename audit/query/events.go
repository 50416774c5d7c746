package query

import (
	"context"
	"path"
	"slices"
	"time"

	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/fault"
)

// EventFilter says which events are wanted: those that fit every field which
// is set. Within a field one value is enough.
type EventFilter struct {
	Since, Until time.Time // the event lies in [Since, Until)
	Kinds        []string  // as publish, or a pattern of path.Match, as policy.*
	Principals   []string  // subject or clientId; toolwarrant itself is nobody
}

// Check refuses values that fit nothing. The error is USAGE.
func (f EventFilter) Check() error {
	for _, p := range f.Kinds {
		if _, err := path.Match(p, ""); err != nil {
			return fault.New(fault.Usage, "kind", "%q is no pattern; * stands for any part, [ and ] around a choice", p)
		}
	}
	return Filter{Since: f.Since, Until: f.Until}.Check()
}

// Events gives the events of the files that fit to each, in the order of the
// files, which are read: no index has them. The record and the line are valid
// during the call alone. An error of each ends the search and is returned.
func Events(ctx context.Context, files []string, f EventFilter, each func(audit.Record, audit.Line) error) error {
	if err := f.Check(); err != nil {
		return err
	}
	since, until := stamp(f.Since), stamp(f.Until)
	return audit.Scan(ctx, files, func(l audit.Line) error {
		if l.Head.Phase != audit.PhaseEvent || l.Head.Time < since || until != "" && l.Head.Time >= until {
			return nil
		}
		r, err := l.Decode()
		if err != nil || !f.fits(&r) {
			return err
		}
		return each(r, l)
	})
}

func (f EventFilter) fits(r *audit.Record) bool {
	kind := func(pattern string) bool {
		ok, _ := path.Match(pattern, text(r.Kind))
		return ok
	}
	if len(f.Kinds) > 0 && !slices.ContainsFunc(f.Kinds, kind) {
		return false
	}
	if len(f.Principals) == 0 {
		return true
	}
	p := r.Principal
	return p != nil && (slices.Contains(f.Principals, p.Subject) || p.ClientID != "" && slices.Contains(f.Principals, p.ClientID))
}
